/* contexts.c: interpreters that stay, and code for them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/accept.h"
#include "api/coderun.h"
#include "api/native/native.h"
#include "api/native/values.h"

#define TIMEOUT_MAX    (366 * 86400.0)
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

typedef struct ContextBody {
        char *language, *cwd;
        NativeUser user;
} ContextBody;

static const ShapeField native_context_fields[] = {
        { "language", SHAPE_TEXT,   offsetof(ContextBody, language), SHAPE_NULLABLE, .min = 1, .max = 40                    },
        { "cwd",      SHAPE_TEXT,   offsetof(ContextBody, cwd),      SHAPE_NULLABLE, .min = 1, .max = NATIVE_PATH_MAX       },
        { "user",     SHAPE_CUSTOM, offsetof(ContextBody, user),     SHAPE_NULLABLE, .json = SHAPE_PARSE(native_field_user) },
};
const Shape native_context_shape = SHAPE_BODY(native_context_fields);

typedef struct CodeBody {
        char *code;
        Strv env;
        TimeAsked time;
} CodeBody;

static const ShapeField native_code_fields[] = {
        { "code",           SHAPE_TEXT,   offsetof(CodeBody, code),         SHAPE_MANDATORY, .max = (double) CONTEXT_CODE_MAX          },
        { "env",            SHAPE_ENV,    offsetof(CodeBody, env),          SHAPE_NULLABLE,  .max = SANDBOX_ENV_MAX                    },
        { "timeoutSeconds", SHAPE_UINT64, offsetof(CodeBody, time.usec),    SHAPE_NULLABLE,  .max = TIMEOUT_MAX, .unit = SHAPE_SECONDS, .json = SHAPE_PARSE(native_field_time) },
};
const Shape native_code_shape = SHAPE_BODY(native_code_fields);

static void context_body_done(ContextBody *b) {
        free(b->language);
        free(b->cwd);
}

static void code_body_done(CodeBody *b) {
        free(b->code);
        strv_done(&b->env);
}

static bool contexts_has(ApiRequest *q) {
        if (q->api->rooms.contexts)
                return true;
        (void) api_error(q, 501, "unsupported", NULL, "this daemon has no contexts");
        return false;
}

static json_t *context_json(const Context *x) {
        return json_pack("{s:s,s:s,s:s,s:o,s:I,s:b,s:b}", "id", x->id, "language", x->language, "cwd", x->cwd, "createdAt", json_time(x->created_at), "executions",
                        (json_int_t) x->n_runs, "busy", x->busy, "warm", x->warm);
}

/* -EPIPE: it died while it was begun. */
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

void native_context_list(ApiRequest *q) {
        Context *all[CONTEXTS_MAX];
        json_t *list;
        size_t n;

        if (!contexts_has(q))
                return;
        list = json_array();
        n = context_list(q->api->rooms.contexts, q->sandbox, all);
        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(list, context_json(all[i]));
        (void) api_answer(q, 200, json_pack("{s:o}", "contexts", list));
}

/* Waiting for one to begin. */

static void contexts_on_begun(Context *x, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (error)
                contexts_answer_failure(q, error->code, error->text);
        else
                (void) api_answer(q, strcmp(q->route->method, "POST") == 0 && q->parameters[1] == NULL ? 201 : 200, context_json(x));
}

static const char *take_language(ApiRequest *q, const char *name) {
        const char *language = context_language(name);

        if (!language)
                (void) api_error(q, 400, "unknown_language", "python, javascript, typescript, bash, r or java", "There is no language '%.40s'", name);
        return language;
}

void native_context_create(ApiRequest *q) {
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
        if (!x)
                (void) api_error(q, 404, "not_found", NULL, "sandbox '%s' has no context '%.60s'", q->parameters[0], q->parameters[1]);
        return x;
}

void native_context_get(ApiRequest *q) {
        const Context *x = contexts_find(q);

        if (x)
                (void) api_answer(q, 200, context_json(x));
}

void native_context_delete(ApiRequest *q) {
        Context *x = contexts_find(q);

        if (!x)
                return;
        context_end(x);
        (void) api_answer(q, 200, json_pack("{s:s}", "id", q->parameters[1]));
}

void native_context_restart(ApiRequest *q) {
        Context *x = contexts_find(q);

        if (!x)
                return;
        coderun_await_context(q);
        context_restart(x, contexts_on_begun, q);
}

void native_context_interrupt(ApiRequest *q) {
        Context *x = contexts_find(q);

        if (x)
                (void) api_answer(q, 200, json_pack("{s:b}", "interrupted", context_interrupt(x) > 0));
}

/* {cid} may be a language: its default context then, begun if need be. */
void native_context_run(ApiRequest *q) {
        static const char *const types[] = { "application/json", "application/x-ndjson", "text/event-stream" };
        int type = accept_choose(http_header(q->http, "Accept"), types, ELEMENTSOF(types));
        _cleanup_(code_body_done) CodeBody b = { 0 };
        CodeRunOptions options = { .fail = contexts_answer_failure };

        if (type < 0) {
                (void) api_error(q, 406, "not_acceptable", "Accept application/json, application/x-ndjson or text/event-stream",
                                "None of the types in Accept can be given");
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
