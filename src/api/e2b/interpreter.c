/* interpreter.c: "port 49999" of a sandbox: E2B's code interpreter, on top of the contexts that all surfaces
 * share.
 *
 * To clients, a sandbox has a Python and a JavaScript context from the beginning: both are listed, but start
 * with the first code for them. Errors are plain text here, as the interpreter's own are. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/coderun.h"
#include "api/e2b/e2b.h"
#include "core/allowance.h"
#include "core/provider.h"

#define KEEPALIVE_USEC (5 * USEC_PER_SEC)
#define KEEPALIVE_LINE "{\"type\":\"keepalive\"}\n"
#define HOME           "/home/user"
#define PATH_MOST      4095

static const char *const from_the_start[] = { "python", "javascript" };

typedef struct InterpreterExecuteBody {
        char *code, *context_id, *language;
        Strv env;
} InterpreterExecuteBody;

static const ShapeField execute_fields[] = {
        { "code",       SHAPE_TEXT, offsetof(InterpreterExecuteBody, code),       SHAPE_MANDATORY, .max = (double) CONTEXT_CODE_MAX },
        { "context_id", SHAPE_TEXT, offsetof(InterpreterExecuteBody, context_id), SHAPE_NULLABLE,  .max = 200                       },
        { "language",   SHAPE_TEXT, offsetof(InterpreterExecuteBody, language),   SHAPE_NULLABLE,  .max = 200                       },
        { "env_vars",   SHAPE_ENV,  offsetof(InterpreterExecuteBody, env),        SHAPE_NULLABLE,  .max = SANDBOX_ENV_MAX           },
};
static const Shape execute_shape = SHAPE_BODY(execute_fields);

typedef struct InterpreterContextBody {
        char *language, *cwd;
} InterpreterContextBody;

static const ShapeField context_fields[] = {
        { "language", SHAPE_TEXT, offsetof(InterpreterContextBody, language), SHAPE_NULLABLE, .max = 200       },
        { "cwd",      SHAPE_TEXT, offsetof(InterpreterContextBody, cwd),      SHAPE_NULLABLE, .max = PATH_MOST },
};
static const Shape context_shape = SHAPE_BODY(context_fields);

static void execute_body_done(InterpreterExecuteBody *b) {
        free(b->code);
        free(b->context_id);
        free(b->language);
        strv_done(&b->env);
}

static void interpreter_context_body_done(InterpreterContextBody *b) {
        free(b->language);
        free(b->cwd);
}

static int answer_text(ApiRequest *q, unsigned status, const char *format, ...) _printf_(3, 4);
static int answer_text(ApiRequest *q, unsigned status, const char *format, ...) {
        char text[ERROR_TEXT_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        q->answered = true;
        return http_answer(q->http, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* 404 is the one refusal whose text E2B's JavaScript SDK shows; of others it shows the number alone. */
static void answer_no_language(ApiRequest *q, const char *name) {
        char all[CONTEXT_LANGUAGES_MAX];

        (void) answer_text(q, 404, "There is no language '%.100s': use %s", name, context_languages(all));
}

static void interpreter_answer_failure(ApiRequest *q, int r, const char *text) {
        (void) answer_text(q, r == -EOPNOTSUPP ? 404 /* as above */ : 500, "%s", text && *text ? text : strerror(-r));
}

static bool interpreter_has_contexts(ApiRequest *q) {
        if (q->api->rooms.contexts)
                return true;
        (void) answer_text(q, 501, "this daemon has no contexts");
        return false;
}

static json_t *interpreter_context_json(const char *id, const char *language, const char *cwd) {
        return json_pack("{s:s,s:s,s:s}", "id", id, "language", language, "cwd", cwd);
}

/* Returns 1 for a default context that has not been started yet. */
static int interpreter_find(ApiRequest *q, const char *id, Context **ret) {
        *ret = context_find(q->api->rooms.contexts, q->sandbox, id);
        if (*ret)
                return 0;
        if (context_default_language(id))
                return 1;
        (void) answer_text(q, 404, "Context %.100s not found", id);
        return -ENOENT;
}

static const char *home(const Sandbox *sb) {
        return sb->spec.workdir ? sb->spec.workdir : HOME;
}

static void handle_list(ApiRequest *q) {
        Context *all[CONTEXTS_MAX];
        char ids[ELEMENTSOF(from_the_start)][CONTEXT_ID_MAX + 1];
        json_t *list;
        size_t n;

        if (!interpreter_has_contexts(q))
                return;
        list = json_array();
        for (size_t i = 0; i < ELEMENTSOF(from_the_start); i++) {
                const Context *x;

                context_default_id(from_the_start[i], ids[i]);
                x = context_find(q->api->rooms.contexts, q->sandbox, ids[i]);
                (void) json_array_append_new(list, interpreter_context_json(ids[i], from_the_start[i], x ? x->cwd : home(q->sandbox)));
        }
        n = context_list(q->api->rooms.contexts, q->sandbox, all);
        for (size_t i = 0; i < n; i++)
                if (strcmp(all[i]->id, ids[0]) != 0 && strcmp(all[i]->id, ids[1]) != 0)
                        (void) json_array_append_new(list, interpreter_context_json(all[i]->id, all[i]->language, all[i]->cwd));
        (void) api_answer(q, 200, list);
}

static void interpreter_on_begun(Context *x, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                interpreter_answer_failure(q, error->code, error->text);
        else
                (void) api_answer(q, 200, interpreter_context_json(x->id, x->language, x->cwd));
}

static void on_restarted(Context *x, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                interpreter_answer_failure(q, error->code, error->text);
        else
                (void) api_answer(q, 200, json_null());
}

/* Whether the code must run as root: only root can enter /root. (With E2B, all code runs as root.) */
static bool interpreter_is_roots(const ApiRequest *q, const char *cwd) {
        return !q->manager->provider->one_user && strncmp(cwd, "/root", strlen("/root")) == 0 && (cwd[strlen("/root")] == '\0' || cwd[strlen("/root")] == '/');
}

static void handle_create(ApiRequest *q) {
        _cleanup_(interpreter_context_body_done) InterpreterContextBody b = { 0 };
        ContextSpec spec = { 0 };
        Error error = { 0 };
        int r;

        if (!interpreter_has_contexts(q) || e2b_read(q, &context_shape, &b) < 0)
                return;
        spec.language = context_language(b.language && *b.language ? b.language : "python");
        spec.cwd = b.cwd && *b.cwd ? b.cwd : home(q->sandbox);
        spec.has_user = interpreter_is_roots(q, spec.cwd); /* uid and gid 0 */
        if (!spec.language) {
                answer_no_language(q, b.language);
                return;
        }
        coderun_await_context(q);
        r = context_begin(q->api->rooms.contexts, q->sandbox, &spec, interpreter_on_begun, q, &error);
        if (r < 0)
                interpreter_answer_failure(q, r, error.text);
}

static void handle_restart(ApiRequest *q) {
        Context *x;
        Error error = { 0 };
        int r = interpreter_has_contexts(q) ? interpreter_find(q, q->parameters[0], &x) : -EOPNOTSUPP;

        if (r < 0)
                return;
        if (r == 1) {
                (void) api_answer(q, 200, json_null());
                return;
        }
        coderun_await_context(q);
        r = context_restart(x, on_restarted, q, &error);
        if (r < 0)
                interpreter_answer_failure(q, r, error.text);
}

static void handle_remove(ApiRequest *q) {
        Context *x;
        int r = interpreter_has_contexts(q) ? interpreter_find(q, q->parameters[0], &x) : -EOPNOTSUPP;

        if (r < 0)
                return;
        if (x)
                context_end(x);
        (void) api_answer(q, 200, json_null());
}

static void handle_execute(ApiRequest *q) {
        _cleanup_(execute_body_done) InterpreterExecuteBody b = { 0 };
        Error error = { 0 };
        CodeRunOptions options = { .format = CODE_NDJSON, .fail = interpreter_answer_failure, .keepalive = KEEPALIVE_LINE, .keepalive_usec = KEEPALIVE_USEC };

        if (!interpreter_has_contexts(q) || e2b_read(q, &execute_shape, &b) < 0)
                return;
        if (b.context_id && b.language) {
                (void) answer_text(q, 400, "Only one of context_id or language can be provided");
                return;
        }
        if (b.context_id && interpreter_find(q, b.context_id, &options.context) < 0)
                return;
        options.language = b.context_id ? context_default_language(b.context_id) : context_language(b.language && *b.language ? b.language : "python");
        if (!options.context && !options.language) {
                answer_no_language(q, b.language);
                return;
        }
        options.code = b.code;
        options.env = &b.env;
        if (sandbox_execution_time(q->sandbox, &q->who, &(TimeAsked) { .lower = true }, &options.timeout_usec, &error) < 0) {
                interpreter_answer_failure(q, error.code, error.text);
                return;
        }
        coderun_answer(q, &options);
}

static void handle_health(ApiRequest *q) {
        (void) api_answer(q, 200, json_string("OK"));
}

const ApiRoute e2b_interpreter_routes[] = {
        { "GET",    "/health",                MAY_PING,  .handle = handle_health, E2B_ROUTE },
        { "POST",   "/execute",               MAY_EXEC,  .handle = handle_execute, .body = HTTP_BODY_COLLECT, .body_max = 2 * CONTEXT_CODE_MAX, E2B_ROUTE },
        { "GET",    "/contexts",              MAY_PORTS, .handle = handle_list, E2B_ROUTE },
        { "POST",   "/contexts",              MAY_SEND,  .handle = handle_create, E2B_JSON, E2B_ROUTE },
        { "POST",   "/contexts/{id}/restart", MAY_SEND,  .handle = handle_restart, E2B_JSON, E2B_ROUTE },
        { "DELETE", "/contexts/{id}",         MAY_SEND,  .handle = handle_remove, E2B_ROUTE },
        { 0 },
};
