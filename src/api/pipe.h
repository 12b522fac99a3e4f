/* pipe.h: answers a request with what another process writes into a pipe.
 *
 * The answer begins with the first bytes, so that an early failure gets an error status. A later failure
 * breaks the answer off. The answer ends when the pipe has ended and its writer has succeeded.
 * Must not know: the writer. */
#pragma once

#include "api/surface.h"

typedef struct ApiPipe {
        ApiRequest *q;
        const char *type; /* of the content */
        int fd;           /* our end; -EBADF: none, or closed */
        sd_event_source *ready;
        bool ended;  /* the writer has ended */
        int result;  /* the writer's result, once ended: 0 or an error */
        char *first; /* bytes that came before the answer began */
        size_t first_size, first_sent;
} ApiPipe;

#define API_PIPE_EMPTY (ApiPipe) { .fd = -EBADF }

/* Makes a pipe with a large buffer; our end is non-blocking. */
int api_pipe_make(bool we_write, int *ret_ours, int *ret_theirs);

int api_pipe_open(ApiPipe *p, ApiRequest *q, const char *type, int *ret_theirs);
void api_pipe_done(ApiPipe *p);
/* Call it when the writer has ended. A successful empty pipe is an answer too. False: the writer failed, and
 * the caller answers. */
bool api_pipe_ended(ApiPipe *p, int result);
