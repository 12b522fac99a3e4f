/* exec-control.c: shows executions; signals and terminal sizes. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/native/execution/exec.h"
#include "api/native/routes/routes.h"

static void native_exec_get(ApiRequest *q) {
        (void) api_show(q, 200, q->execution);
}

/* The table is in order of creation, the oldest first. */
static void native_exec_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q);
        unsigned statuses;
        int r = 0;

        if (native_query_bits(q, "status", &execution_status_names, /* or_nothing= */ false, &statuses) < 0)
                return;
        for (const Execution *x = q->sandbox->executions; x && r >= 0; x = x->hh.next)
                if (statuses == 0 || statuses & 1U << x->status)
                        r = native_page_add(&p, x, x->number);
        native_page_answer(&p, r);
}

typedef struct ExecOutcome {
        bool done, exited;
} ExecOutcome;

static const Shape native_signaled_answer = SHAPE_FIELDS(
        { "signaled", SHAPE_BOOL, offsetof(ExecOutcome, done)   },
        { "exited",   SHAPE_BOOL, offsetof(ExecOutcome, exited) });

static const Shape native_resized_answer = SHAPE_FIELDS(
        { "resized", SHAPE_BOOL, offsetof(ExecOutcome, done)   },
        { "exited",  SHAPE_BOOL, offsetof(ExecOutcome, exited) });

typedef struct SignalBody {
        int signal;
} SignalBody;

static const Shape native_signal_shape = SHAPE_FIELDS(
        { "signal", SHAPE_CUSTOM, offsetof(SignalBody, signal), SHAPE_MANDATORY, .json = SHAPE_PARSE(native_field_signal) });

static void native_exec_signal(ApiRequest *q) {
        SignalBody b = { 0 };
        int r;

        if (api_read(q, &b) < 0)
                return;
        r = execution_ended(q->execution) ? 0 : execution_signal(q->execution, b.signal);
        if (r < 0)
                (void) native_core_error(q, r, "cannot send the signal");
        else
                (void) api_show(q, 200, &(ExecOutcome) { .done = r > 0, .exited = r == 0 });
}

typedef struct ResizeBody {
        uint16_t columns, rows;
} ResizeBody;

static const Shape native_resize_shape = SHAPE_FIELDS(
        { "cols", SHAPE_UINT16, offsetof(ResizeBody, columns), SHAPE_MANDATORY, .min = 1, .max = UINT16_MAX },
        { "rows", SHAPE_UINT16, offsetof(ResizeBody, rows),    SHAPE_MANDATORY, .min = 1, .max = UINT16_MAX });

static void native_exec_resize(ApiRequest *q) {
        bool exited = execution_ended(q->execution);
        ResizeBody b = { 0 };
        int r;

        if (api_read(q, &b) < 0)
                return;
        r = execution_resize(q->execution, b.columns, b.rows);
        if (r == -ENOTTY)
                (void) api_error(q, 409, "not_a_terminal", "Start it with pty: {cols, rows}", "Execution %s has no terminal",
                                q->execution->id);
        else if (r < 0 && !exited)
                (void) native_core_error(q, r, "cannot resize the terminal");
        else
                (void) api_show(q, 200, &(ExecOutcome) { .done = !exited, .exited = exited });
}

#define SANDBOX "/api/sandbox/{id}"
#define EXEC    SANDBOX "/exec/{eid}"

const ApiRoute execution_routes[] = {
        { "POST", SANDBOX "/exec",     MAY_EXEC, .handle = native_exec, JSON_BODY(exec), ANSWER(execution_result) },
        { "GET",  SANDBOX "/exec",     MAY_SEE,  .handle = native_exec_list, ANSWER_LIST(execution), .queries = QUERIES("status") },
        { "GET",  EXEC,                MAY_SEE,  .handle = native_exec_get, ANSWER(execution) },
        { "GET",  EXEC "/output",      MAY_READ, .handle = native_exec_output, .queries = QUERIES("stream", "from", "follow") },
        { "POST", EXEC "/stdin",       MAY_EXEC, .handle = native_exec_stdin, BYTES_BODY(native_exec_stdin_data), ANSWER(stdin_written) },
        { "POST", EXEC "/stdin/close", MAY_EXEC, .handle = native_exec_stdin_close, JSON_BODY(empty), ANSWER(stdin_closed) },
        { "POST", EXEC "/signal",      MAY_EXEC, .handle = native_exec_signal, JSON_BODY(signal), ANSWER(signaled) },
        { "POST", EXEC "/resize",      MAY_EXEC, .handle = native_exec_resize, JSON_BODY(resize), ANSWER(resized) },
        { "GET",  EXEC "/wait",        MAY_READ, .handle = native_exec_wait, ANSWER(execution_result), .queries = QUERIES("timeoutSeconds", "output") },
        { "GET",  EXEC "/attach",      MAY_EXEC, .handle = native_exec_attach, .queries = QUERIES("from") },
        { "GET",  SANDBOX "/terminal", MAY_EXEC, .handle = native_terminal, .queries = QUERIES("cols", "rows", "command", "user", "cwd", "bind") },
        { "GET",  SANDBOX "/logs",     MAY_READ, .handle = native_sandbox_logs, .queries = QUERIES("execution", "since", "tail", "follow", "format") },
        { 0 },
};
