/* exec.h: shared by the handlers of executions. */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "core/feed.h"

/* Handlers; exec-control.c has the routes. native_exec_stdin_data() gets the pieces of a streamed body and
 * returns how many bytes it takes; 0: pass them again after http_request_continue(); negative: it has
 * answered. At the end of the body it is called once with size 0. */
void native_exec(ApiRequest *q);
void native_exec_output(ApiRequest *q);
void native_exec_stdin(ApiRequest *q);
ssize_t native_exec_stdin_data(ApiRequest *q, const void *data, size_t size);
void native_exec_stdin_close(ApiRequest *q);
void native_exec_wait(ApiRequest *q);
void native_exec_attach(ApiRequest *q);
void native_terminal(ApiRequest *q);
void native_sandbox_logs(ApiRequest *q);
extern const Shape native_exec_shape, native_stdin_written_answer, native_stdin_closed_answer;

/* exec-result.c: keeps the request until the execution has ended, and answers with its result. */
typedef struct ResultOptions {
        bool output;         /* with stdout and stderr */
        bool bind;           /* end the command if the client leaves */
        usec_t timeout_usec; /* then answer with the current state; USEC_INFINITY: no timeout */
} ResultOptions;
int result_answer(ApiRequest *q, Execution *x, const ResultOptions *options);

/* exec-stream.c: answers with a stream of events, up to and including the end. */
typedef enum EventFormat {
        EVENTS_NDJSON,
        EVENTS_SSE,
        _EVENTS_MAX,
} EventFormat;
typedef struct EventOptions {
        EventFormat format;
        uint64_t from[_STREAM_MAX]; /* offsets; FEED_SKIP: omit the stream */
        bool start;                 /* begin with the start event */
        bool bind;
        bool no_follow; /* end after the existing output */
} EventOptions;
int events_answer(ApiRequest *q, Execution *x, const EventOptions *options);
extern const char *const event_types[_EVENTS_MAX]; /* media types */

/* The end of an execution as JSON text, without a newline. It can be sent after the execution is gone. */
typedef struct ExecEnd {
        char *text;
        size_t size;
        int error; /* out of memory */
} ExecEnd;
void exec_end_take(ExecEnd *e, const Execution *x);

/* attach.c: turns the request into a WebSocket for output and input. The handshake must have been checked. */
typedef struct AttachOptions {
        uint64_t from;
        bool start; /* begin with the start message */
        bool bind;
} AttachOptions;
int attach_check(ApiRequest *q); /* answers and returns < 0 if it is not a valid handshake */
int attach_answer(ApiRequest *q, Execution *x, const AttachOptions *options);

#define EXEC_OUTPUT_LOST \
        "This sandbox was given secrets that cannot be read, so they cannot be hidden in what it prints: it is not shown (see `cove health`)"

/* Answers with an error of feed_open(). */
int exec_answer_feed_error(ApiRequest *q, const Execution *x, int r);
