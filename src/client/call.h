/* call.h: one request to the daemon, and its answer.
 *
 * A connection of its own, non-blocking. It can be driven together with others from one poll loop, or be run to its end. The
 * answer is read while the request is still being sent, so that a refusal in the middle of an upload is heard.
 *
 *      1. call_start()                           connects; -ENOENT when nobody is there
 *      2. call_poll(), poll(2), call_step()      until it says that it is over; or call_run()
 *      3. call_done()                            at any time
 *
 * Must not know: JSON, which requests there are. */
#pragma once

#include <errno.h>
#include <poll.h>

#include "base/error.h"
#include "client/http/http.h"
#include "client/place.h"

/* Gives the next bytes of a body; 0: that was all. Reads that would block are the caller's fault: see source_fd. */
typedef ssize_t (*CallSource)(void *userdata, void *buffer, size_t size);

#define CALL_SIZE_UNKNOWN UINT64_MAX

typedef struct Request {
        const char *method; /* NULL: GET */
        const char *path;   /* with its query, encoded; NULL: there was no memory for it */
        const char *accept, *type;
        const char *headers; /* further lines, each with its CRLF; NULL: none */
        bool upgrade;        /* to another protocol: the headers say which */
        const void *body; /* small enough to be copied */
        size_t body_size;
        CallSource source; /* instead of the body */
        void *source_data;
        uint64_t source_size;
        int source_fd; /* to wait for before the source is asked; -EBADF: it never blocks */
        HttpBody sink;
        void *sink_data;
} Request;

#define REQUEST_INIT  { .source_fd = -EBADF }
#define REQUEST(...)  ((Request) { .source_fd = -EBADF, __VA_ARGS__ }) /* of one whose body is given whole, or that has none */

typedef struct Call {
        int fd, report; /* report: of TLS, see tunnel_end() */
        const Place *place; /* borrowed */
        Request request; /* what of it is still needed: source and sink */
        char *out;       /* to be sent */
        size_t out_room, out_start, out_end;
        uint64_t source_left;
        bool source_over, deaf; /* deaf: they do not listen any more, but may have answered */
        bool paused;            /* the answer is not read for now */
        HttpReader answer;
        char *extra; /* what came behind a 101 */
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

/* Two things to wait for. */
#define CALL_POLLS 2
void call_poll(const Call *c, struct pollfd ret[static CALL_POLLS]);

/* 1: over, 0: goes on. Errors are of the transport, or what source or sink said; any status is an answer. */
int call_step(Call *c, const struct pollfd polls[static CALL_POLLS], Error *reterr);

int call_run(Call *c, Error *reterr);
