/* contexts.c: interpreters that keep their state, and running code in them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/accept.h"
#include "api/coderun.h"
#include "api/native/routes/routes.h"
#include "api/native/values.h"
#include "context/context.h"

#define TIMEOUT_MAX    (366 * 86400.0)
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

typedef struct ContextBody {
        char *language, *cwd;
        NativeUser user;
} ContextBody;

static const Shape native_context_shape = SHAPE_FIELDS(
        { "language", SHAPE_TEXT,   offsetof(ContextBody, language), SHAPE_NULLABLE, .min = 1, .max = 40 },
        { "cwd",      SHAPE_TEXT,   offsetof(ContextBody, cwd),      SHAPE_NULLABLE, .min = 1, .max = NATIVE_PATH_MAX },
        { "user",     SHAPE_CUSTOM, offsetof(ContextBody, user),     SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_user) });

typedef struct CodeBody {
        char *code;
        Strv env;
        TimeAsked time;
} CodeBody;

static const Shape native_code_shape = SHAPE_FIELDS(
        { "code",           SHAPE_TEXT,   offsetof(CodeBody, code),         SHAPE_MANDATORY, .max = (double) CONTEXT_CODE_MAX },
        { "env",            SHAPE_ENV,    offsetof(CodeBody, env),          SHAPE_NULLABLE,  .max = SANDBOX_ENV_MAX },
        { "timeoutSeconds", SHAPE_UINT64, offsetof(CodeBody, time.usec),    SHAPE_NULLABLE,  .max = TIMEOUT_MAX, .unit = SHAPE_SECONDS, .json = SHAPE_PARSE(native_field_time) });

static void context_body_done(ContextBody *b) {
        free(b->language);
        free(b->cwd);
}

static void code_body_done(CodeBody *b) {
        free(b->code);
        strv_done(&b->env);
}

static bool contexts_has(ApiRequest *q) {
        return native_room(q, q->api->rooms.contexts, "this daemon has no contexts");
}

static const Shape native_context_answer = SHAPE_FIELDS(
        { "id",         SHAPE_CHARS,    SHAPE_AT(Context, id),         .flags = SHAPE_ALWAYS },
        { "language",   SHAPE_BORROWED, SHAPE_AT(Context, language),   .flags = SHAPE_ALWAYS },
        { "cwd",        SHAPE_TEXT,     SHAPE_AT(Context, cwd),        .flags = SHAPE_ALWAYS },
        { "createdAt",  SHAPE_UINT64,   SHAPE_AT(Context, created_at), .flags = SHAPE_ALWAYS, .unit = SHAPE_TIME },
        { "executions", SHAPE_UINT64,   SHAPE_AT(Context, n_runs) },
        { "busy",       SHAPE_BOOL,     SHAPE_AT(Context, busy) },
        { "warm",       SHAPE_BOOL,     SHAPE_AT(Context, warm) });

static const Shape native_contexts_answer = SHAPE_FIELDS(
        { "contexts", SHAPE_LIST, SHAPE_AT(NativePage, list), .shape = &native_context_answer, .json = SHAPE_MADE });

static const Shape native_context_ended_answer = SHAPE_FIELDS(
        { "id", SHAPE_CHARS, SHAPE_AT(Context, id), .flags = SHAPE_ALWAYS });

static const Shape native_interrupted_answer = SHAPE_FIELDS({ "interrupted", SHAPE_BOOL, 0 });

/* -EPIPE: the interpreter died during its start. */
static void contexts_answer_failure(ApiRequest *q, int r, const char *text) {
        static const struct {
                int error;
                unsigned status;
                const char *code;
        } rows[] = {
                { EOPNOTSUPP, 409, "no_interpreter"  },
                { E2BIG,      409, "too_many"        },
                { EPIPE,      502, "context_died"    },
                { EFBIG,      413, "too_large"       },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++)
                if (rows[i].error == -r) {
                        (void) api_error(q, rows[i].status, rows[i].code, NULL, "%s", text ? text : strerror(-r));
                        return;
                }
        (void) native_core_error(q, r, text);
}

static void native_context_list(ApiRequest *q) {
        _cleanup_page_ NativePage p = NATIVE_ALL(q, .shape = &native_context_answer);
        Context *all[CONTEXTS_MAX];
        size_t n;
        int r = 0;

        if (!contexts_has(q))
                return;
        n = context_list(q->api->rooms.contexts, q->sandbox, all);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = native_page_add(&p, all[i], i);
        native_page_show(&p, r);
}

/* Waits for a context to start. */

static void contexts_on_begun(Context *x, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                contexts_answer_failure(q, error->code, error->text);
        else
                (void) api_show(q, strcmp(q->route->method, "POST") == 0 && q->parameters[1] == NULL ? 201 : 200, x);
}

static const char *take_language(ApiRequest *q, const char *name) {
        const char *language = context_language(name);
        char cure[CONTEXT_LANGUAGES_MAX + 8], all[CONTEXT_LANGUAGES_MAX];

        if (!language) {
                (void) snprintf(cure, sizeof(cure), "Use %s", context_languages(all));
                (void) api_error(q, 400, "unknown_language", cure, "There is no language '%.40s'", name);
        }
        return language;
}

static void native_context_create(ApiRequest *q) {
        _cleanup_(context_body_done) ContextBody b = { 0 };
        _cleanup_free_ char *cwd = NULL;
        ContextSpec spec = { 0 };
        Error error = { 0 };
        int r;

        if (!contexts_has(q) || api_read(q, &b) < 0)
                return;
        spec.language = take_language(q, b.language ? b.language : "python");
        if (!spec.language)
                return;
        if (b.cwd)
                spec.cwd = cwd = native_path(q->sandbox, b.cwd);
        spec.has_user = b.user.given;
        spec.uid = b.user.uid;
        spec.gid = b.user.gid;
        coderun_await_context(q);
        r = context_begin(q->api->rooms.contexts, q->sandbox, &spec, contexts_on_begun, q, &error);
        if (r < 0)
                contexts_answer_failure(q, r, error.text);
}

static Context *contexts_find(ApiRequest *q) {
        Context *x;

        if (!contexts_has(q))
                return NULL;
        x = context_find(q->api->rooms.contexts, q->sandbox, q->parameters[1]);
        if (!x) {
                char cure[CONTEXT_LANGUAGES_MAX + 40], all[CONTEXT_LANGUAGES_MAX];

                (void) snprintf(cure, sizeof(cure), "Use a context's id, or a language: %s", context_languages(all));
                (void) api_error(q, 404, "not_found", cure, "sandbox '%s' has no context and no language '%.60s'", q->parameters[0], q->parameters[1]);
        }
        return x;
}

static void native_context_get(ApiRequest *q) {
        const Context *x = contexts_find(q);

        if (x)
                (void) api_show(q, 200, x);
}

static void native_context_delete(ApiRequest *q) {
        Context *x = contexts_find(q);

        if (!x)
                return;
        (void) api_show(q, 200, x);
        context_end(x);
}

static void native_context_restart(ApiRequest *q) {
        Context *x = contexts_find(q);
        Error error = { 0 };
        int r;

        if (!x)
                return;
        coderun_await_context(q);
        r = context_restart(x, contexts_on_begun, q, &error);
        if (r < 0)
                contexts_answer_failure(q, r, error.text);
}

static void native_context_interrupt(ApiRequest *q) {
        Context *x = contexts_find(q);

        if (x)
                (void) api_show(q, 200, &(const bool) { context_interrupt(x) > 0 });
}

/* {cid} may be a language: then its default context is used, and started if necessary. */
static void native_context_run(ApiRequest *q) {
        static const char *const types[] = { "application/json", "application/x-ndjson", "text/event-stream" };
        int type = accept_choose(http_header(q->http, "Accept"), types, ELEMENTSOF(types));
        _cleanup_(code_body_done) CodeBody b = { 0 };
        CodeRunOptions options = { .fail = contexts_answer_failure };

        if (type < 0) {
                (void) api_error(q, 406, "not_acceptable", "Accept application/json, application/x-ndjson or text/event-stream",
                                "None of the types in Accept is supported");
                return;
        }
        if (!contexts_has(q) || api_read(q, &b) < 0)
                return;
        options.context = context_find(q->api->rooms.contexts, q->sandbox, q->parameters[1]);
        options.language = context_default_language(q->parameters[1]);
        if (!options.language)
                options.language = context_language(q->parameters[1]);
        if (!options.context && !options.language) {
                (void) contexts_find(q);
                return;
        }
        if (native_time(q, &b.time) < 0)
                return;
        options.code = b.code;
        options.env = &b.env;
        options.timeout_usec = b.time.usec;
        options.format = type == 0 ? CODE_JSON : type == 1 ? CODE_NDJSON : CODE_SSE;
        if (options.format == CODE_SSE) {
                options.keepalive = ": keep-alive\n\n";
                options.keepalive_usec = KEEPALIVE_USEC;
        }
        coderun_answer(q, &options);
}

#define CONTEXTS "/api/sandbox/{id}/contexts"
#define CONTEXT  CONTEXTS "/{cid}"

const ApiRoute context_routes[] = {
        { "GET",    CONTEXTS,             MAY_SEE,  .handle = native_context_list, ANSWER(contexts) },
        { "POST",   CONTEXTS,             MAY_EXEC, .handle = native_context_create, JSON_BODY(context), ANSWER(context) },
        { "GET",    CONTEXT,              MAY_SEE,  .handle = native_context_get, ANSWER(context) },
        { "DELETE", CONTEXT,              MAY_EXEC, .handle = native_context_delete, ANSWER(context_ended) },
        { "POST",   CONTEXT "/run",       MAY_EXEC, .handle = native_context_run, .body = HTTP_BODY_COLLECT, .body_max = 2 * CONTEXT_CODE_MAX,
          .shape = &native_code_shape },
        { "POST",   CONTEXT "/restart",   MAY_EXEC, .handle = native_context_restart, JSON_BODY(empty), ANSWER(context) },
        { "POST",   CONTEXT "/interrupt", MAY_EXEC, .handle = native_context_interrupt, JSON_BODY(empty), ANSWER(interrupted) },
        { 0 },
};
