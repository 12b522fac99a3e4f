#include "api/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/policy.h"
#include "config/config.h"
#include "core/allowance.h"
#include "core/secrets.h"
#include "core/startup.h"
#include "core/template.h"
#include "observe/otlp.h"

int api_make_profile(ApiRequest *q, SandboxSpec *spec, JsonComplaints *c) {
        const Profile *p = NULL;
        Error error = { 0 };
        int r = allowance_profile(q->manager, &q->who, spec->profile, &p, &error);

        if (r == -EINVAL)
                return json_complain(c, "profile", "%s", error.text);
        if (r < 0)
                return 0; /* allowance_check() reports it once the rest can be read */
        if (p)
                return profile_apply(p, spec);
        profile_lend_limits(q->manager->settings, spec);
        allowance_lower(q->manager, &q->who, spec);
        return 0;
}

int api_make_policy(ApiRequest *q, json_t *policy, json_t *network, const SandboxLimits *said, SandboxSpec *spec, JsonComplaints *c) {
        const NetworkConfig *settings = &q->manager->settings->network;
        const Profile *profile = spec->profile ? profile_find(q->manager->settings, spec->profile) : NULL;
        const ApiPolicyRequest request = {
                .policy = policy,
                .network = network,
                .of_profile = spec->policy ? spec->policy : profile ? profile->policy : NULL,
                .who = &q->who,
                .requests_max = profile ? profile->network_requests : 0,
                .said = said,
                .site = NETWORK_SITE(settings),
        };

        return api_policy_apply(&request, spec, c);
}

typedef struct MakeCreation {
        ApiMaking told; /* to whoever asked */
        ApiMade made;
        Acquisition *acquisition;       /* under way */
        Sandbox *sandbox;               /* NULL: none yet */
        bool ours;                      /* created for this request, and without a name */
        char *start, *ready;            /* commands of the template; NULL: none */
        Startup *startup;               /* under way */
} MakeCreation;

static void creation_destroy(ApiRequest *q, bool answered) {
        MakeCreation *k = q->state;

        if (k->startup)
                startup_cancel(k->startup);
        if (k->acquisition)
                acquisition_cancel(k->acquisition);
        else if (k->sandbox && k->ours && !answered && !q->manager->stopping)
                sandbox_delete(k->sandbox, /* force= */ true, NULL, NULL);
        (void) sandbox_unref(k->sandbox);
        strv_done(&k->told.references);
        free(k->told.tenant);
        free(k->start);
        free(k->ready);
}

/* A sandbox whose program fails to start is useless. The answer has the program's output. */
static void start_failed(ApiRequest *q, Sandbox *sb, int code, const char *text) {
        MakeCreation *k = q->state;
        Error error = { 0 };

        (void) error_set(&error, code, "%s", text);
        k->told.failed = MAKE_PROGRAM;
        if (sb)
                sandbox_delete(sb, /* force= */ true, NULL, NULL);
        k->made(q, NULL, &k->told, &error);
}

static void make_on_started(int r, const char *text, void *userdata) {
        ApiRequest *q = userdata;
        MakeCreation *k = q->state;
        Sandbox *sb = sandbox_unless_gone(k->sandbox);

        k->startup = NULL;
        if (r >= 0 && sb)
                k->made(q, sb, &k->told, NULL);
        else
                start_failed(q, sb, r < 0 ? r : -ESTALE, r < 0 ? text : "the sandbox was removed while its template's program was started");
}

static void make_on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        MakeCreation *k = q->state;
        Error failure = { 0 };

        k->acquisition = NULL;
        if (error) {
                k->made(q, NULL, &k->told, error);
                return;
        }
        sandbox_ref_set(&k->sandbox, sb);
        api_about(q, sb, /* x= */ NULL);
        k->told.existing = result->existing;
        if (!result->existing)
                otlp_set_parent(q->api->rooms.otlp, sb->id, http_header(q->http, "traceparent"));
        if (result->existing || !k->start)
                k->made(q, sb, &k->told, NULL);
        else if (startup_begin(sb, k->start, k->ready, make_on_started, q, &k->startup, &failure) < 0)
                start_failed(q, sb, failure.code, failure.text);
}

/* Copies the references to secrets now, because the core takes over the spec. */
static void keep_references(ApiMaking *m, const SandboxSpec *spec) {
        m->references = (Strv) STRV_INIT(SANDBOX_ENV_MAX);
        for (size_t i = 0; i < spec->env.n; i++)
                if (secret_reference(spec->env.items[i]))
                        (void) strv_push(&m->references, spec->env.items[i]);
        if (m->references.n > 0 && spec->tenant)
                m->tenant = strdup(spec->tenant);
}

void api_make_sandbox(ApiRequest *q, SandboxSpec *spec, bool with_program, usec_t wait_usec, ApiMade made) {
        MakeCreation *k = api_keep_state(q, sizeof(*k), creation_destroy);
        Acquisition *a = NULL;
        Error error = { 0 };
        int r;

        if (!k)
                return;
        k->made = made;
        k->ours = !spec->name;
        keep_references(&k->told, spec);
        r = with_program ? template_program(q->manager, spec->tenant, spec->template_name, &k->start, &k->ready) : 0;
        if (r < 0)
                (void) error_set(&error, r, "out of memory");
        else
                r = manager_acquire(q->manager, &q->who, spec, wait_usec, make_on_acquired, q, &a, &error);
        if (r < 0)
                made(q, NULL, &k->told, &error);
        k->acquisition = a;
}

/* Forks. */

static void make_forks_destroy(ApiRequest *q, bool answered) {
        ApiForking *k = q->state;

        if (k->fork)
                fork_cancel(k->fork);
        for (size_t i = 0; i < k->n_made; i++) {
                if (!answered && !q->manager->stopping)
                        sandbox_delete(k->made[i], /* force= */ true, NULL, NULL);
                (void) sandbox_unref(k->made[i]);
        }
        for (size_t i = 0; k->specs && i < k->count; i++)
                sandbox_spec_done(k->specs + i);
        free(k->specs);
        free(k->made);
}

ApiForking *api_make_forks(ApiRequest *q, size_t count) {
        ApiForking *k = api_keep_state(q, sizeof(*k), make_forks_destroy);

        if (!k)
                return NULL;
        k->count = count;
        k->specs = calloc(count, sizeof(*k->specs));
        k->made = calloc(count, sizeof(Sandbox *));
        if (k->specs && k->made)
                return k;
        (void) api_errno(q, -ENOMEM, NULL);
        return NULL;
}

void api_forks_made(ApiForking *k, Sandbox *sb) {
        k->made[k->n_made++] = sandbox_ref(sb);
}
