/* pipe.h: what another process writes into a pipe, as the answer to a request.
 *
 * The answer begins with the first bytes, so that what is wrong from the start has a status of its own; what goes wrong later breaks it off.
 * The answer has ended when the pipe has and its writer was successful.
 * Must not know: who writes. */
#pragma once

#include "api/surface.h"

typedef struct ApiPipe {
        ApiRequest *q;
        const char *type; /* of the content */
        int fd;           /* our end; -EBADF: none, or closed */
        sd_event_source *ready;
        bool ended;  /* its writer has */
        int result;  /* then: 0, or how it failed */
        char *first; /* what came before there was an answer to put it into */
        size_t first_size, first_sent;
} ApiPipe;

#define API_PIPE_EMPTY (ApiPipe) { .fd = -EBADF }

/* A large one, of which our end never blocks. */
int api_pipe_make(bool we_write, int *ret_ours, int *ret_theirs);

int api_pipe_open(ApiPipe *p, ApiRequest *q, const char *type, int *ret_theirs);
void api_pipe_done(ApiPipe *p);
/* The writer has ended. Without a failure an empty pipe is an answer too. False: it has failed, and the caller answers. */
bool api_pipe_ended(ApiPipe *p, int result);
