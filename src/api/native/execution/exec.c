/* exec.c: starting an execution. */

#include "api/native/execution/exec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/accept.h"
#include "core/profile.h"

#define ARGS_MAX     4096
#define STRING_MAX   131071 /* of one argument: the kernel's MAX_ARG_STRLEN, less the NUL */
#define TIMEOUT_MAX  (366 * 86400.0)
#define SHELL        "/bin/sh"

typedef struct ExecBody {
        char *command, *script, *cwd, *tag;
        Strv args, env;
        bool has_args;
        NativeUser user;
        TimeAsked time;
        bool stdin_open;
        char *stdin_data; /* written, then stdin is closed; NULL: none */
        size_t stdin_size;
        bool pty;
        uint16_t columns, rows;
        bool background, bind;
} ExecBody;

static void exec_body_done(ExecBody *b) {
        free(b->command);
        free(b->script);
        free(b->cwd);
        free(b->tag);
        free(b->stdin_data);
        strv_done(&b->args);
        strv_done(&b->env);
}

static int field_args(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        ((ExecBody *) target)->has_args = true;
        return shape_parse(f, v, name, target, c);
}

/* true: stdin stays open; a string: the whole input. */
static int field_stdin(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        ExecBody *b = target;

        if (json_is_boolean(v)) {
                b->stdin_open = json_is_true(v);
                return 0;
        }
        if (!json_is_string(v))
                return json_complain(c, name, "must be a string, or true to keep it open");
        b->stdin_size = json_string_length(v);
        b->stdin_data = malloc(b->stdin_size + 1);
        if (!b->stdin_data)
                return -ENOMEM;
        memcpy(b->stdin_data, json_string_value(v), b->stdin_size);
        b->stdin_open = true;
        return 0;
}

static const Shape pty_shape = SHAPE_FIELDS(
        { "cols", SHAPE_UINT16, offsetof(ExecBody, columns), .min = 1, .max = UINT16_MAX },
        { "rows", SHAPE_UINT16, offsetof(ExecBody, rows),    .min = 1, .max = UINT16_MAX });

static int field_pty(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        ExecBody *b = target;

        b->pty = true;
        b->columns = 80;
        b->rows = 24;
        return shape_parse(f, v, name, target, c);
}

#define AT(member) offsetof(ExecBody, member)

const Shape native_exec_shape = SHAPE_FIELDS(
        { "command",        SHAPE_TEXT,   AT(command),      SHAPE_NULLABLE, .min = 1, .max = STRING_MAX },
        { "args",           SHAPE_STRV,   AT(args),         SHAPE_NULLABLE, .max = ARGS_MAX, .json = SHAPE_PARSE(field_args) },
        { "script",         SHAPE_TEXT,   AT(script),       SHAPE_NULLABLE, .min = 1, .max = STRING_MAX },
        { "env",            SHAPE_ENV,    AT(env),          SHAPE_NULLABLE, .max = SANDBOX_ENV_MAX },
        { "cwd",            SHAPE_TEXT,   AT(cwd),          SHAPE_NULLABLE, .min = 1, .max = NATIVE_PATH_MAX },
        { "user",           SHAPE_CUSTOM, AT(user),         SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_user) },
        { "stdin",          SHAPE_CUSTOM, 0,                SHAPE_NULLABLE, .json = SHAPE_PARSE(field_stdin) },
        { "timeoutSeconds", SHAPE_UINT64, AT(time.usec),    SHAPE_NULLABLE, .min = 0, .max = TIMEOUT_MAX, .unit = SHAPE_SECONDS, .json = SHAPE_PARSE(native_field_time) },
        { "background",     SHAPE_BOOL,   AT(background),   SHAPE_NULLABLE },
        { "pty",            SHAPE_OBJECT, 0,                SHAPE_NULLABLE, .shape = &pty_shape, .json = SHAPE_PARSE(field_pty) },
        { "tag",            SHAPE_TEXT,   AT(tag),          SHAPE_NULLABLE, .max = SANDBOX_TEXT_MAX },
        { "bind",           SHAPE_BOOL,   AT(bind),         SHAPE_NULLABLE });

static bool has_complaint(const JsonComplaints *c, const char *field) {
        for (size_t i = 0; c->list && i < json_array_size(c->list); i++) {
                const char *name = json_string_value(json_object_get(json_array_get(c->list, i), "field"));

                if (name && strcmp(name, field) == 0)
                        return true;
        }
        return false;
}

/* Checks that concern several fields. */
static int check_together(const ExecBody *b, JsonComplaints *c) {
        bool told = has_complaint(c, "command") || has_complaint(c, "script");
        int r = 0;

        if (b->command && b->script)
                r = json_complain(c, "script", "cannot be given together with command");
        else if (!b->command && !b->script && !told)
                r = json_complain(c, "command", "must be given, or script");
        if (r >= 0 && b->script && b->has_args)
                r = json_complain(c, "args", "cannot be given with script, only with command");
        if (r >= 0 && b->bind && b->background)
                r = json_complain(c, "bind", "cannot be combined with background, which does not wait for the command");
        return r;
}

static int exec_read_body(ApiRequest *q, ExecBody *b) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        Error error = { 0 };
        size_t size;
        const char *text = http_body(q->http, &size);
        int r;

        *b = (ExecBody) { 0 };
        r = json_read(text, size, &native_exec_shape, b, &c, &error);
        if (r >= 0)
                r = check_together(b, &c);
        b->time.open = b->background || b->pty;
        if (r == -EBADMSG)
                (void) api_error(q, 400, "bad_json", NULL, "%s", error.text);
        else if (r < 0)
                (void) api_errno(q, r, error.text);
        else if (json_has_complaints(&c)) {
                (void) api_complaints(q, &c);
                r = -EINVAL;
        }
        return r;
}

static int push_command(ExecutionSpec *spec, ExecBody *b) {
        int r;

        spec->args = (Strv) STRV_INIT(ARGS_MAX + 2);
        if (b->script) {
                r = strv_push(&spec->args, SHELL);
                if (r >= 0)
                        r = strv_push(&spec->args, "-c");
                return r < 0 ? r : strv_push(&spec->args, b->script);
        }
        r = strv_push(&spec->args, b->command);
        return r < 0 ? r : strv_extend(&spec->args, &b->args);
}

static int exec_make_spec(const Sandbox *sb, ExecBody *b, ExecutionSpec *spec) {
        *spec = (ExecutionSpec) {
                .env = b->env,
                .has_user = b->user.given,
                .uid = b->user.uid,
                .gid = b->user.gid,
                .has_timeout = b->time.said || b->time.open,
                .timeout_usec = b->time.usec,
                .stdin_open = b->stdin_open,
                .pty = b->pty,
                .columns = b->columns,
                .rows = b->rows,
                .background = b->background,
                .tag = TAKE_PTR(b->tag),
        };
        b->env = (Strv) { 0 };
        if (b->cwd) {
                spec->cwd = native_path(sb, b->cwd);
                if (!spec->cwd)
                        return -ENOMEM;
        }
        return push_command(spec, b);
}

static int exec_start(ApiRequest *q, ExecBody *b, Execution **ret) {
        _cleanup_(execution_spec_done) ExecutionSpec spec = { 0 };
        Error error = { 0 };
        Execution *x;
        int r;

        r = exec_make_spec(q->sandbox, b, &spec);
        if (r >= 0)
                r = execution_start(q->sandbox, &q->who, &spec, &x, &error);
        if (r == -ENOKEY)
                (void) native_secrets_missing(q, q->sandbox->spec.tenant, &q->sandbox->spec.env, &spec.env, error.text);
        else if (r < 0)
                (void) native_core_error(q, r, error.text);
        if (r < 0)
                return r;
        api_about(q, q->sandbox, x);
        if (b->stdin_data) {
                if (b->stdin_size > 0)
                        (void) execution_write(x, b->stdin_data, b->stdin_size, /* done= */ NULL, /* userdata= */ NULL);
                (void) execution_close_stdin(x);
        }
        *ret = x;
        return 0;
}

static void answer_background(ApiRequest *q, const Execution *x) {
        char place[sizeof("/api/sandbox//exec/") + SANDBOX_ID_LENGTH + EXECUTION_ID_MAX];

        (void) snprintf(place, sizeof(place), "/api/sandbox/%s/exec/%s", x->sandbox->id, x->id);
        (void) http_add_header(q->http, "Location", place);
        (void) api_answer(q, 202, api_execution_json(x));
}

void native_exec(ApiRequest *q) {
        static const char *const types[] = { "application/json", "application/x-ndjson", "text/event-stream" };
        int type = accept_choose(http_header(q->http, "Accept"), types, ELEMENTSOF(types));
        _cleanup_(exec_body_done) ExecBody b = { 0 };
        Execution *x;

        if (type < 0) {
                (void) api_error(q, 406, "not_acceptable",
                                "Accept application/json, application/x-ndjson or text/event-stream",
                                "None of the types in Accept is supported");
                return;
        }
        if (exec_read_body(q, &b) < 0 || native_time(q, &b.time) < 0 || exec_start(q, &b, &x) < 0)
                return;
        if (type > 0)
                (void) events_answer(q, x, &(EventOptions) {
                        .format = type == 1 ? EVENTS_NDJSON : EVENTS_SSE,
                        .from = { 0, x->spec.pty ? FEED_SKIP : 0 },
                        .start = true,
                        .bind = b.bind,
                });
        else if (b.background)
                answer_background(q, x);
        else
                (void) result_answer(q, x, &(ResultOptions) {
                        .output = true,
                        .bind = b.bind,
                        .timeout_usec = USEC_INFINITY,
                });
}
