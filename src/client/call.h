/* call.h: one request to the daemon and its answer.
 *
 * Each call has its own non-blocking connection. Several calls can be driven from one poll loop, or a single
 * one can be run to its end. The answer is read while the request is still being sent, so that a refusal in
 * the middle of an upload is noticed.
 *
 *      1. call_start()                           connects; -ENOENT: no daemon
 *      2. call_poll(), poll(2), call_step()      until it reports the end; or call_run()
 *      3. call_done()                            at any time
 *
 * Must not know: JSON, which requests exist. */
#pragma once

#include <errno.h>
#include <poll.h>

#include "base/error.h"
#include "client/http/http.h"
#include "client/place.h"

/* Returns the next bytes of a body; 0: the end. It must not block: see source_fd. */
typedef ssize_t (*CallSource)(void *userdata, void *buffer, size_t size);

#define CALL_SIZE_UNKNOWN UINT64_MAX

typedef struct Request {
        const char *method; /* NULL: GET */
        const char *path;   /* with its query, encoded; NULL: out of memory */
        const char *accept, *type;
        const char *headers; /* additional lines, each with its CRLF; NULL: none */
        bool upgrade;        /* to another protocol, which the headers name */
        const void *body; /* small; it is copied */
        size_t body_size;
        CallSource source; /* used instead of the body */
        void *source_data;
        uint64_t source_size;
        int source_fd; /* readable when the source has bytes; -EBADF: the source never blocks */
        HttpBody sink;
        void *sink_data;
} Request;

#define REQUEST_INIT  { .source_fd = -EBADF }
#define REQUEST(...)  ((Request) { .source_fd = -EBADF, __VA_ARGS__ }) /* for a request without a source */

typedef struct Call {
        int fd, report; /* report: from TLS, see tunnel_end() */
        const Place *place; /* borrowed */
        Request request; /* only source and sink are still used */
        char *out;       /* bytes to send */
        size_t out_room, out_start, out_end;
        uint64_t source_left;
        bool source_over, deaf; /* deaf: the daemon reads no more, but may have answered */
        bool paused;            /* the answer is not read at present */
        HttpReader answer;
        char *extra; /* bytes after a 101 response */
        size_t extra_size;
} Call;

#define CALL_INIT { .fd = -EBADF, .report = -EBADF }

int call_start(Call *c, const Place *place, const Request *request, Error *reterr);
void call_done(Call *c);

static inline bool call_is_open(const Call *c) {
        return c->fd >= 0;
}

static inline bool call_is_over(const Call *c) {
        return http_reader_is_over(&c->answer);
}

/* Fills in the two descriptors to wait for. */
#define CALL_POLLS 2
void call_poll(const Call *c, struct pollfd ret[static CALL_POLLS]);

/* 1: over. 0: not yet. Errors are transport errors, or errors of source or sink; any HTTP status is an
 * answer. */
int call_step(Call *c, const struct pollfd polls[static CALL_POLLS], Error *reterr);

int call_run(Call *c, Error *reterr);
