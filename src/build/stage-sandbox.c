/* stage-sandbox.c: creates the sandbox of a stage when it is needed, by the settings and the request, and
 * deletes it after its last use. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "build/internal.h"
#include "config/config.h"
#include "core/provider.h"
#include "core/template.h"
#include "json/json.h"
#include "policy/policy.h"

#define SANDBOX_TIMEOUT (24 * 3600 * USEC_PER_SEC) /* limit, in case a sandbox is forgotten */
#define WAIT            (600 * USEC_PER_SEC)       /* for a place */

/* Sets the network mode of the settings, as a policy. */
static int stage_sandbox_set_network(Build *b, const char *network, SandboxSpec *spec) {
        const NetworkConfig *n = &b->manager->settings->network;
        _cleanup_(json_complaints_done) JsonComplaints complaints = { 0 };
        _cleanup_json_ json_t *j = json_pack("{s:s}", "network", network), *normal = NULL;
        Policy policy = { 0 };
        int r = j ? policy_parse(j, "policy", NETWORK_SITE(n), &policy, &complaints) : -ENOMEM;

        if (r < 0)
                return r;
        normal = policy_to_json(&policy);
        spec->network = (uint8_t) policy.network.mode;
        policy_done(&policy);
        free(spec->policy);
        spec->policy = normal ? json_dumps(normal, JSON_COMPACT) : NULL;
        return spec->policy ? 0 : -ENOMEM;
}

const char *build_profile(const Build *b) {
        return *b->bound ? b->bound : b->manager->settings->build.profile;
}

/* On a host that cannot provide a gate, builds have no network unless they ask for one. */
BuildNetwork build_default_network(const Build *b) {
        const Manager *m = b->manager;
        bool has_gate = m->network && provider_has(m->provider, PROVIDER_EGRESS);

        return has_gate ? m->settings->build.network : BUILD_NETWORK_NONE;
}

static int stage_sandbox_make_spec(Build *b, const BuildStage *s, SandboxSpec *ret, Error *reterr) {
        const BuildConfig *c = &b->manager->settings->build;
        const char *name = build_profile(b);
        const Profile *p = *name ? profile_find(b->manager->settings, name) : NULL;
        char metadata[128];
        int r;

        if (*name && !p)
                return error_set(reterr, -EINVAL, "%s: there is no profile '%s' in cove.yaml", *b->bound ? "the key's profile" : "build.profile", name);
        sandbox_spec_defaults(ret);
        (void) snprintf(metadata, sizeof(metadata), "{\"templateBuild\":\"%s\"}", making_id(b->making));
        r = p ? profile_apply(p, ret) : 0;
        if (r >= 0)
                r = shape_text_set(&ret->tenant, build_tenant(b));
        if (r >= 0)
                r = shape_text_set(&ret->metadata, metadata);
        if (r >= 0)
                r = shape_text_set(&ret->workdir, "/");
        if (r >= 0)
                r = s->base ? shape_text_set(&ret->template_name, s->base) : shape_text_set(&ret->layer, s->layer);
        if (r >= 0 && s->snapshot[0])
                r = shape_text_set(&ret->snapshot, s->snapshot);
        if (r >= 0 && b->request.has_network) {
                ret->network = b->request.network;
                r = shape_text_set(&ret->policy, b->request.policy);
        } else if (r >= 0 && !p && build_default_network(b) != BUILD_NETWORK_NONE)
                r = stage_sandbox_set_network(b, build_default_network(b) == BUILD_NETWORK_OPEN ? "open" : EGRESS_PACKAGES, ret);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        ret->persistent = true;
        ret->sudo = b->request.steps || (s->base && strcmp(s->base, TEMPLATE_BASE) == 0); /* as in sandboxes of the template */
        ret->uid = ret->gid = 0;
        ret->timeout_usec = SANDBOX_TIMEOUT;
        if (!*b->bound) /* each step has its own time limit */
                ret->limits.exec_timeout_usec = ret->limits.cpu_time_usec = 0;
        if (!p) {
                ret->limits.memory_bytes = c->memory_bytes;
                ret->limits.cpu_milli = c->cpu_milli;
                ret->limits.disk_bytes = c->disk_bytes;
                ret->limits.pids = c->pids;
        }
        return 0;
}

static int stage_sandbox_refuse(const Error *why, Error *reterr) {
        return error_set(reterr, why->code, "no sandbox for this stage: %s", why->text);
}

static void stage_sandbox_on_acquired(Sandbox *sb, const AcquireResult *result, const Error *error, void *userdata) {
        Build *b = userdata;
        Error why = { 0 };

        b->acquisition = NULL;
        if (error)
                (void) stage_sandbox_refuse(error, &why);
        else
                sandbox_ref_set(&b->stages[b->acquiring].sandbox, sb);
        build_heard(b, error ? &why : NULL);
}

int stage_need_sandbox(Build *b, size_t stage, Error *reterr) {
        const Principal who = { .kind = PRINCIPAL_ADMIN, .tenant = b->tenant }; /* the operator sets the limits */
        Acquisition *q = NULL;
        SandboxSpec spec = { 0 };
        Error why = { 0 };
        int r;

        if (b->stages[stage].sandbox)
                return STEP_DONE;
        r = stage_sandbox_make_spec(b, b->stages + stage, &spec, &why);
        if (r < 0)
                sandbox_spec_done(&spec);
        else {
                b->acquiring = stage;
                r = manager_acquire(b->manager, &who, &spec, WAIT, stage_sandbox_on_acquired, b, &q, &why);
        }
        if (r < 0)
                return stage_sandbox_refuse(&why, reterr);
        b->acquisition = q; /* NULL: the callback was called already */
        return STEP_WAITS;
}

/* Whether remaining steps may still copy from the sandbox of this stage. */
static bool stage_sandbox_is_wanted(const Build *b, size_t stage) {
        for (size_t i = 0; i < b->plan->n_stages; i++)
                for (size_t k = 0; b->plan->stages[i].needed && !b->stages[i].done && k < b->plan->stages[i].n_steps; k++)
                        if (b->plan->stages[i].steps[k].from == (int) stage)
                                return true;
        return stage == b->plan->target;
}

int stage_leave(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildStage *s = build_stage(b);

        s->done = true;
        if (!s->sandbox || stage_sandbox_is_wanted(b, b->stage))
                return STEP_DONE;
        sandbox_delete(s->sandbox, /* force= */ true, NULL, NULL);
        s->sandbox = sandbox_unref(s->sandbox);
        return STEP_DONE;
}
