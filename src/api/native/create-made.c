/* create-made.c: POST /api/sandbox, from the request to the answer.
 *
 * A client that goes away before it has the answer will never know the id. Its sandbox goes with it, unless it has a name,
 * under which it can be asked for again. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/create.h"
#include "api/native/sandbox.h"
#include "core/acquire.h"
#include "core/admission.h"
#include "core/secrets.h"
#include "core/startup.h"
#include "core/template.h"
#include "observe/otlp.h"

typedef struct Creation {
        Acquisition *acquisition;       /* under way */
        char id[SANDBOX_ID_LENGTH + 1]; /* "": there is none, or not any more */
        bool ours;                      /* made for this request, and without a name */
        Strv env;                       /* where it has references: to say which are missing */
        char *tenant;
        char *start, *ready;            /* what the template brings along; NULL: nothing */
        Startup *startup;               /* under way */
} Creation;

static void creation_destroy(ApiRequest *q, bool answered) {
        Creation *k = q->state;
        Sandbox *sb = sandbox_by_id(q->manager, k->id);

        if (k->startup)
                startup_cancel(k->startup);
        if (k->acquisition)
                acquisition_cancel(k->acquisition);
        else if (sb && k->ours && !answered && !q->manager->stopping)
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        strv_done(&k->env);
        free(k->tenant);
        free(k->start);
        free(k->ready);
        free(k);
        q->state = NULL;
}

/* 404 would say that something is gone for good, and nothing was asked for that could be. */
void native_create_failed(ApiRequest *q, int r, const char *text) {
        static const int told[] = { EINVAL, EOVERFLOW, ENOSPC, EOPNOTSUPP, EAGAIN, ECANCELED,
                                    ENAMETOOLONG, EMFILE, ENFILE, ETIMEDOUT, ENOKEY, EKEYREJECTED,
                                    EKEYREVOKED, EPERM };

        for (size_t i = 0; i < ELEMENTSOF(told); i++)
                if (told[i] == -r) {
                        (void) api_errno(q, r, text);
                        return;
                }
        (void) api_error(q, 500, "internal", NULL, "the sandbox could not be made: %s", text && *text ? text : strerror(-r));
}

static void answer_sandbox(ApiRequest *q, unsigned status, const Sandbox *sb) {
        char place[64];

        (void) snprintf(place, sizeof(place), "/api/sandbox/%s", sb->id);
        (void) http_add_header(q->http, "Location", place);
        (void) api_answer(q, status, api_sandbox_json(sb));
}

/* Told when there was no room in time, and when to come again. */
void native_create_full(ApiRequest *q, const Error *error) {
        char seconds[16];

        (void) snprintf(seconds, sizeof(seconds), "%u", admission_retry_after(q->manager->admission));
        (void) http_add_header(q->http, "Retry-After", seconds);
        (void) api_error(q, 429, "limit_reached", "end a sandbox, try again later, or wait longer with waitSeconds", "%s", error->text);
}

/* What does not start is of no use to anybody; the answer says what it said. */
static void start_failed(ApiRequest *q, Sandbox *sb, const char *text) {
        if (sb)
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        (void) api_error(q, 500, "start_failed", "build the template again, or try the command in a sandbox of its base", "%s", text);
}

static void on_started(int r, const char *text, void *userdata) {
        ApiRequest *q = userdata;
        Creation *k = q->state;
        Sandbox *sb = sandbox_by_id(q->manager, k->id);

        k->startup = NULL;
        if (r >= 0 && sb)
                answer_sandbox(q, 201, sb);
        else
                start_failed(q, sb, r < 0 ? text : "the sandbox was removed while its template's program was started");
}

static void answer_made(ApiRequest *q, Sandbox *sb) {
        Creation *k = q->state;
        Error error = { 0 };

        otlp_set_parent(q->api->rooms.otlp, sb->id, http_header(q->http, "traceparent"));
        if (!k->start)
                answer_sandbox(q, 201, sb);
        else if (startup_begin(sb, k->start, k->ready, on_started, q, &k->startup, &error) < 0)
                start_failed(q, sb, error.text);
}

static void on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        Creation *k = q->state;

        k->acquisition = NULL;
        if (!error) {
                memcpy(k->id, sb->id, sizeof(k->id));
                api_about(q, sb, /* x= */ NULL);
                if (result->existing)
                        answer_sandbox(q, 200, sb);
                else
                        answer_made(q, sb);
        } else if (error->code == -EDQUOT)
                native_create_full(q, error);
        else if (error->code == -ENOKEY && k->env.n > 0)
                (void) native_secrets_missing(q, k->tenant, /* below= */ NULL, &k->env, error->text);
        else
                native_create_failed(q, error->code, error->text);
}

/* The spec is the core's as soon as it is asked. */
static void keep_references(Creation *k, const SandboxSpec *spec) {
        k->env = (Strv) STRV_INIT(SANDBOX_ENV_MAX);
        for (size_t i = 0; i < spec->env.n; i++)
                if (secret_reference(spec->env.items[i]))
                        (void) strv_push(&k->env, spec->env.items[i]);
        if (k->env.n > 0 && spec->tenant)
                k->tenant = strdup(spec->tenant);
}

static void create(ApiRequest *q, CreateBody *b) {
        Creation *k = calloc(1, sizeof(*k));
        Acquisition *a = NULL;
        Error error = { 0 };
        int r;

        if (!k) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        k->ours = !b->spec.name;
        keep_references(k, &b->spec);
        q->state = k;
        q->destroy = creation_destroy;
        r = b->inherits ? 0 : template_program(q->manager, b->spec.tenant, b->spec.template_name, &k->start, &k->ready);
        if (r >= 0)
                r = manager_acquire(q->manager, &q->who, &b->spec, b->wait_usec, on_acquired, q, &a, &error);
        if (r < 0)
                (void) api_errno(q, r, error.text);
        k->acquisition = a;
}

void native_sandbox_create(ApiRequest *q) {
        _cleanup_(native_create_done) CreateBody b;

        native_create_init(&b);
        if (api_read_checked(q, &b, native_create_check) >= 0 && native_create_ceiling(q, &b) >= 0)
                create(q, &b);
}
