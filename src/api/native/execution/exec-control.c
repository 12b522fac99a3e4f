/* exec-control.c: looking at executions, signals, terminal sizes. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/native/execution/exec.h"

void native_exec_get(ApiRequest *q) {
        (void) api_answer(q, 200, api_execution_json(q->execution));
}

static int append_executions(const Sandbox *sb, unsigned statuses, json_t *list) {
        /* The table keeps the order in which they were added: the oldest first. */
        for (const Execution *x = sb->executions; x; x = x->hh.next)
                if (statuses == 0 || statuses & 1U << x->status)
                        if (json_array_append_new(list, api_execution_json(x)) < 0)
                                return -ENOMEM;
        return 0;
}

/* One, or several with commas between them. */
static int exec_control_read_statuses(ApiRequest *q, unsigned *ret) {
        const char *text = http_query(q->http, "status");

        for (const char *p = text; p;) {
                size_t n = strcspn(p, ",");
                char name[16];
                ExecutionStatus status;

                (void) snprintf(name, sizeof(name), "%.*s", (int) MIN_OF(n, sizeof(name) - 1), p);
                status = execution_status_from_name(name);
                if (status < 0)
                        return native_complain(q, "status", "must be starting, running or exited, not '%.64s'", text);
                *ret |= 1U << status;
                p = p[n] == ',' ? p + n + 1 : NULL;
        }
        return 0;
}

void native_exec_list(ApiRequest *q) {
        _cleanup_json_ json_t *list = json_array();
        unsigned statuses = 0;

        if (exec_control_read_statuses(q, &statuses) < 0)
                return;
        if (!list || append_executions(q->sandbox, statuses, list) < 0)
                (void) api_errno(q, -ENOMEM, NULL);
        else
                (void) api_answer(q, 200, TAKE_PTR(list));
}

typedef struct SignalBody {
        int signal;
} SignalBody;

static const ShapeField native_signal_fields[] = {
        { "signal", SHAPE_CUSTOM, offsetof(SignalBody, signal), SHAPE_MANDATORY, .json = SHAPE_PARSE(native_field_signal) },
};
const Shape native_signal_shape = SHAPE_BODY(native_signal_fields);

void native_exec_signal(ApiRequest *q) {
        SignalBody b = { 0 };
        int r;

        if (api_read(q, &b) < 0)
                return;
        r = execution_ended(q->execution) ? 0 : execution_signal(q->execution, b.signal);
        if (r < 0)
                (void) native_core_error(q, r, "cannot send the signal");
        else
                (void) api_answer(q, 200, json_pack("{s:b,s:b}", "signaled", r > 0, "exited", r == 0));
}

typedef struct ResizeBody {
        uint16_t columns, rows;
} ResizeBody;

static const ShapeField native_resize_fields[] = {
        { "cols", SHAPE_UINT16, offsetof(ResizeBody, columns), SHAPE_MANDATORY, .min = 1, .max = UINT16_MAX },
        { "rows", SHAPE_UINT16, offsetof(ResizeBody, rows),    SHAPE_MANDATORY, .min = 1, .max = UINT16_MAX },
};
const Shape native_resize_shape = SHAPE_BODY(native_resize_fields);

void native_exec_resize(ApiRequest *q) {
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
                (void) api_answer(q, 200, json_pack("{s:b,s:b}", "resized", !exited, "exited", exited));
}
