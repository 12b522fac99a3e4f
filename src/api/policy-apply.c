/* policy-apply.c: the policy of a request, beside what else it asks for. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/policy.h"
#include "base/path.h"
#include "core/limits.h"

#define MB ((double) (UINT64_C(1) << 20))

/* "default" is {"preset": "default"}; the network's own field is a field of the policy that stands outside. */
static json_t *whole(const ApiPolicyRequest *q, JsonComplaints *c) {
        json_t *j = NULL;

        if (json_is_string(q->policy))
                j = json_pack("{s:O}", "preset", q->policy);
        else if (json_is_object(q->policy))
                j = json_copy(q->policy);
        else if (q->policy)
                (void) json_complain(c, "policy", "must be an object, or the name of a preset (default, standard, permissive)");
        else
                j = json_object();
        if (!j || !q->network)
                return j;
        if (json_object_get(j, "network"))
                (void) json_complain(c, "network", "is in the policy already: say it once");
        else
                (void) json_object_set(j, "network", q->network);
        return j;
}

/* K10: what a request asks for beyond the policy, all of it at once. */
static int check_limits(const Policy *p, const SandboxLimits *said, JsonComplaints *c) {
        const struct {
                const char *field, *word, *unit;
                bool said;
                double asked, max; /* asked 0: no limit at all */
                bool may_be_none;
        } rows[] = {
                { "limits.memoryMB", "maxMemoryUsage", " MB", said->memory_bytes != LIMIT_UNSAID, (double) said->memory_bytes / MB,
                  (double) p->memory_max / MB, false },
                { "limits.cpuCores", "maxCpuUsage", "", said->cpu_milli != LIMIT_UNSAID_32, said->cpu_milli / 1000.0,
                  p->cpu_milli_max / 1000.0, true },
                { "limits.timeoutSeconds", "maxExecutionTime", " s", said->exec_timeout_usec != LIMIT_UNSAID,
                  (double) said->exec_timeout_usec / (double) USEC_PER_SEC, (double) p->execution_time_max / (double) USEC_PER_SEC, true },
                { "limits.diskMB", "maxTotalSize", " MB", said->disk_bytes != LIMIT_UNSAID, (double) said->disk_bytes / MB,
                  (double) p->total_size_max / MB, false },
        };
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(rows) && r >= 0; i++) {
                char asked[32] = "no limit";

                if (!rows[i].said || !(rows[i].max > 0))
                        continue;
                if (rows[i].asked <= rows[i].max && !(rows[i].may_be_none && !(rows[i].asked > 0)))
                        continue;
                if (rows[i].asked > 0)
                        (void) snprintf(asked, sizeof(asked), "%.15g%s", rows[i].asked, rows[i].unit);
                r = json_complain(c, rows[i].field, "%s exceeds the policy's maximum of %.15g%s (%s)", asked, rows[i].max, rows[i].unit,
                                rows[i].word);
        }
        return r;
}

static int check_rest(const Policy *p, const SandboxSpec *spec, JsonComplaints *c) {
        int r = 0;

        if (!p->environment_access && spec->env.n > 0)
                r = json_complain(c, "env", "the policy gives executions no variables (allowEnvironmentAccess is false)");
        for (size_t i = 0; r >= 0 && spec->workdir && i < p->denied_paths.n; i++)
                if (path_is_below(spec->workdir, p->denied_paths.items[i]))
                        r = json_complain(c, "workdir", "'%s' is denied by the policy (deniedPaths: '%s')", spec->workdir, p->denied_paths.items[i]);
        return r;
}

/* Paths have a ceiling that only the spawner knows. */
static int check_rules(const Policy *p, JsonComplaints *c) {
        Enforce e = { .languages = STRV_INIT(ENFORCE_LIST_MAX), .programs = STRV_INIT(4 * ENFORCE_LIST_MAX) };
        Error error = { 0 };
        int r = api_policy_rules(p, &e, &error);

        enforce_done(&e);
        return r == -EINVAL || r == -E2BIG ? json_complain(c, "policy", "%s", error.text) : r;
}

static int set_spec(const Policy *p, SandboxSpec *spec) {
        _cleanup_json_ json_t *j = policy_to_json(p);
        char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

        if (!text)
                return -ENOMEM;
        free(spec->policy);
        spec->policy = text;
        spec->network = (uint8_t) p->network.mode;
        free(spec->group);
        spec->group = p->network.group && *p->network.group ? strdup(p->network.group) : NULL;
        return p->network.group && *p->network.group && !spec->group ? -ENOMEM : 0;
}

/* A policy beside another one cannot be said to be tighter or looser in all it says: who may not loosen, takes the profile's. */
static int refuse_second(const ApiPolicyRequest *q, JsonComplaints *c) {
        return json_complain(c, q->policy ? "policy" : "network",
                        "the profile has a policy, and a request cannot bring another: leave it out, choose another profile, or use a key "
                        "that may loosen");
}

static int use_profile(const ApiPolicyRequest *q, SandboxSpec *spec, JsonComplaints *c) {
        _cleanup_(policy_done) Policy p = { 0 };
        Error error = { 0 };
        int r = api_policy_parse_stored(q->of_profile, &p, &error);

        if (r < 0)
                return json_complain(c, "profile", "its policy cannot be read: %s", error.text);
        r = check_limits(&p, q->said, c);
        return r < 0 ? r : check_rest(&p, spec, c);
}

int api_policy_apply(const ApiPolicyRequest *q, SandboxSpec *spec, JsonComplaints *c) {
        _cleanup_(policy_done) Policy p = { 0 };
        _cleanup_json_ json_t *j = NULL;
        size_t before = c->list ? json_array_size(c->list) : 0;
        int r;

        if (q->of_profile && (q->policy || q->network) && !q->may_loosen)
                return refuse_second(q, c);
        if (!q->policy && !q->network)
                return q->of_profile ? use_profile(q, spec, c) : 0;
        j = whole(q, c);
        if (!j)
                return json_has_complaints(c) ? 0 : -ENOMEM;
        r = policy_parse(j, "policy", q->reachable, q->n_reachable, &p, c);
        if (r < 0)
                return r;
        r = check_limits(&p, q->said, c);
        if (r >= 0)
                r = check_rest(&p, spec, c);
        if (r >= 0)
                r = check_rules(&p, c);
        if (r < 0 || (c->list && json_array_size(c->list) > before))
                return r;
        return set_spec(&p, spec);
}
