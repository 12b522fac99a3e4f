/* stdin.c: writes to a command's stdin.
 *
 * The body is passed on piece by piece: the next one is read from the socket after the kernel has taken the
 * one before, so that a slow reader slows its writer down. The end of the command is an answer, not an error. */

#include <errno.h>
#include <stdlib.h>

#include "api/native/execution/exec.h"

#define PIECE_MAX ((size_t) 256 << 10)

/* When a command ends, the closed pipe is noticed before the end is reported. */
#define END_USEC (250 * USEC_PER_MSEC)

typedef struct StdinWriter {
        ApiRequest *q;
        Execution *execution; /* NULL: the command has ended */
        ExecutionWatch watch;
        size_t received, written;
        bool in_flight; /* a piece is being written */
        bool in_call;   /* within execution_write() */
        bool body_over;
        int error;
        sd_event_source *patience;
} StdinWriter;

typedef struct StdinOutcome {
        uint64_t written;
        bool closed, exited;
} StdinOutcome;

const Shape native_stdin_written_answer = SHAPE_FIELDS(
        { "written", SHAPE_UINT64, offsetof(StdinOutcome, written) },
        { "exited",  SHAPE_BOOL,   offsetof(StdinOutcome, exited)  });

const Shape native_stdin_closed_answer = SHAPE_FIELDS(
        { "closed", SHAPE_BOOL, offsetof(StdinOutcome, closed) },
        { "exited", SHAPE_BOOL, offsetof(StdinOutcome, exited) });

static void answer_written(ApiRequest *q, size_t written, bool exited) {
        (void) api_show(q, 200, &(StdinOutcome) { .written = written, .exited = exited });
}

static void answer_closed(ApiRequest *q, const char *id) {
        (void) api_error(q, 409, "stdin_closed", "Start it with stdin: true to write to it later",
                        "The stdin of execution %s is closed", id);
}

static void stdin_answer_error(const StdinWriter *w) {
        ApiRequest *q = w->q;

        switch (w->error) {
        case -ESRCH: answer_written(q, w->written, /* exited= */ true); break;
        case -EBADF: answer_closed(q, w->execution->id); break;
        case -EPIPE:
        case -EIO:
                (void) api_error(q, 409, "stdin_closed", NULL,
                                "The command has closed its stdin after %zu bytes of this request", w->written);
                break;
        case -ENOBUFS:
                (void) api_error(q, 503, "unavailable", "Try again when the command has read some of it",
                                "Too much input is waiting for the command; %zu bytes of this request are written",
                                w->written);
                break;
        default: (void) native_core_error(q, w->error, "cannot write to stdin");
        }
}

static int stdin_on_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        StdinWriter *w = userdata;

        if (!w->q->answered)
                stdin_answer_error(w);
        return 0;
}

/* The pipe has no reader: the command has closed its stdin, or has ended, which will be reported in a
 * moment. */
static void stdin_await_end(StdinWriter *w) {
        if (w->patience)
                return;
        if (sd_event_add_time_relative(w->q->manager->event, &w->patience, CLOCK_MONOTONIC, END_USEC, USEC_PER_MSEC,
                            stdin_on_patience, w) < 0)
                stdin_answer_error(w);
}

/* Continues after any event: answers, or takes more of the body. */
static void proceed(StdinWriter *w) {
        if (w->q->answered || w->in_call)
                return;
        if (!w->execution)
                answer_written(w->q, w->written, /* exited= */ true);
        else if (w->error == -EPIPE)
                stdin_await_end(w);
        else if (w->error < 0)
                stdin_answer_error(w);
        else if (w->in_flight)
                return;
        else if (w->body_over)
                answer_written(w->q, w->written, /* exited= */ false);
        else
                http_request_continue(w->q->http);
}

static void leave_execution(StdinWriter *w) {
        execution_unwatch(&w->watch);
        w->execution = NULL;
}

static void stdin_on_written(Execution *x, int r, size_t written, void *userdata) {
        StdinWriter *w = userdata;

        w->in_flight = false;
        w->written += written;
        if (r < 0 && w->error == 0)
                w->error = r;
        if (execution_ended(x))
                leave_execution(w);
        proceed(w);
}

static void stdin_on_changed(Execution *x, void *userdata) {
        StdinWriter *w = userdata;

        if (!execution_ended(x))
                return;
        leave_execution(w);
        proceed(w);
}

static void stdin_writer_destroy(ApiRequest *q, bool answered) {
        StdinWriter *w = q->state;

        if (w->execution)
                execution_forget_writer(w->execution, w);
        execution_unwatch(&w->watch);
        sd_event_source_disable_unref(w->patience);
        free(w);
        q->state = NULL;
}

static bool takes_input(const Execution *x) {
        return (x->spec.stdin_open || x->spec.pty) && !x->stdin_closed;
}

void native_exec_stdin(ApiRequest *q) {
        Execution *x = q->execution;
        StdinWriter *w;
        int r;

        if (execution_ended(x)) {
                answer_written(q, 0, /* exited= */ true);
                return;
        }
        if (!takes_input(x)) {
                answer_closed(q, x->id);
                return;
        }
        w = calloc(1, sizeof(*w));
        if (!w) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        *w = (StdinWriter) { .q = q, .execution = x, .watch = { .changed = stdin_on_changed, .userdata = w } };
        q->state = w;
        q->destroy = stdin_writer_destroy;
        r = execution_watch(x, &w->watch);
        if (r < 0)
                (void) api_errno(q, r, NULL);
}

static ssize_t take_piece(StdinWriter *w, const void *data, size_t size) {
        size_t n = MIN_OF(size, PIECE_MAX);
        int r;

        if (n > NATIVE_STDIN_MAX - w->received) {
                (void) api_error(w->q, 413, "too_large", "Send it in several requests",
                                "One request may bring 16 MiB of stdin; %zu bytes are written", w->written);
                return -EFBIG;
        }
        w->received += n;
        w->in_flight = w->in_call = true;
        r = execution_write(w->execution, data, n, stdin_on_written, w);
        w->in_call = false;
        if (r < 0) {
                w->in_flight = false;
                w->error = r;
        }
        if (w->error < 0 || !w->execution)
                proceed(w);
        return w->q->answered ? -ECANCELED : (ssize_t) n;
}

ssize_t native_exec_stdin_data(ApiRequest *q, const void *data, size_t size) {
        StdinWriter *w = q->state;

        if (q->answered || !w)
                return -ECANCELED;
        if (size == 0) {
                w->body_over = true;
                proceed(w);
                return 0;
        }
        if (w->in_flight || w->error < 0)
                return 0;
        return take_piece(w, data, size);
}

void native_exec_stdin_close(ApiRequest *q) {
        Execution *x = q->execution;
        int r = execution_close_stdin(x);

        if (r < 0 && !execution_ended(x))
                (void) native_core_error(q, r, "cannot close stdin");
        else
                (void) api_show(q, 200, &(StdinOutcome) { .closed = true, .exited = execution_ended(x) });
}
