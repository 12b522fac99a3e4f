/* policy-apply.c: applies the policy of a request, together with its other fields. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/policy.h"
#include "core/limits.h"

#define MB ((double) (UINT64_C(1) << 20))

/* Makes one policy object. "default" means {"preset": "default"}. The separate field for the network becomes
 * a field of the policy. */
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
                (void) json_complain(c, "network", "is in the policy already: give it once");
        else
                (void) json_object_set(j, "network", q->network);
        return j;
}

/* Reports the policy's complaints, with the names that fields have in the API. */
static int retell(const JsonComplaints *from, JsonComplaints *c) {
        static const struct {
                const char *policy, *api;
        } names[] = {
                { "memory", "limits.memoryMB" },
                { "cpu", "limits.cpuCores" },
                { "timeout", "limits.timeoutSeconds" },
        };

        for (size_t i = 0; from->list && i < json_array_size(from->list); i++) {
                json_t *one = json_array_get(from->list, i);
                const char *field = json_string_value(json_object_get(one, "field"));
                int r;

                for (size_t k = 0; k < ELEMENTSOF(names); k++)
                        if (strcmp(field, names[k].policy) == 0)
                                field = names[k].api;
                r = json_complain(c, field, "%s", json_string_value(json_object_get(one, "message")));
                if (r < 0)
                        return r;
        }
        return 0;
}

static void memory_text(uint64_t bytes, char *ret, size_t size) {
        (void) snprintf(ret, size, "%.15gMB", (double) bytes / MB);
}

/* K10: reports at once everything that a request asks for beyond the policy. */
static int policy_apply_check_request(const Policy *p, const SandboxLimits *said, const SandboxSpec *spec, JsonComplaints *c) {
        _cleanup_(json_complaints_done) JsonComplaints found = { 0 };
        char memory[32], disk[32], most[32];
        const PolicyRequest q = {
                .memory = said->memory_bytes != LIMIT_UNSAID ? memory : NULL,
                .cpu_milli = said->cpu_milli != LIMIT_UNSAID_32 ? said->cpu_milli : 0,
                .timeout_usec = said->exec_timeout_usec != LIMIT_UNSAID ? said->exec_timeout_usec : 0,
                .workdir = spec->workdir,
                .has_env = spec->env.n > 0,
        };
        int r;

        memory_text(said->memory_bytes, memory, sizeof(memory));
        memory_text(said->disk_bytes, disk, sizeof(disk));
        memory_text(p->total_size_max, most, sizeof(most));
        r = policy_check_request(p, &q, &found);
        if (r >= 0 && said->exec_timeout_usec == 0 && p->execution_time_max > 0)
                r = json_complain(&found, "timeout", "No timeout exceeds policy maximum %llums",
                                (unsigned long long) (p->execution_time_max / USEC_PER_MSEC));
        if (r >= 0 && p->total_size_max > 0 && said->disk_bytes != LIMIT_UNSAID && said->disk_bytes > p->total_size_max)
                r = json_complain(&found, "limits.diskMB", "Disk limit %s exceeds policy maximum %s", disk, most);
        return r < 0 ? r : retell(&found, c);
}

/* Paths have a limit that only the spawner's rules know. */
static int policy_apply_check_rules(const Policy *p, JsonComplaints *c) {
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

/* Two policies cannot be compared in everything they say. So a caller that may not loosen must use the
 * profile's policy. */
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
        return policy_apply_check_request(&p, q->said, spec, c);
}

int api_policy_apply(const ApiPolicyRequest *q, SandboxSpec *spec, JsonComplaints *c) {
        _cleanup_(policy_done) Policy p = { 0 };
        _cleanup_json_ json_t *j = NULL;
        size_t before = c->list ? json_array_size(c->list) : 0;
        Error error = { 0 };
        int r;

        if (q->of_profile && (q->policy || q->network) && !principal_may_loosen(q->who))
                return refuse_second(q, c);
        if (!q->policy && !q->network)
                return q->of_profile ? use_profile(q, spec, c) : 0;
        j = whole(q, c);
        if (!j)
                return json_has_complaints(c) ? 0 : -ENOMEM;
        r = policy_parse(j, "policy", q->site, &p, c);
        if (r < 0)
                return r;
        if (p.n_credentials > 0 && principal_check(q->who, MAY_SECRETS, &error) < 0)
                return json_complain(c, "policy.credentials", "%s", error.text);
        if (p.network.requests_max == 0 && (p.network.mode == NETWORK_EGRESS || p.network.mode == NETWORK_OPEN))
                p.network.requests_max = q->requests_max;
        r = policy_apply_check_request(&p, q->said, spec, c);
        if (r >= 0)
                r = policy_apply_check_rules(&p, c);
        if (r < 0 || (c->list && json_array_size(c->list) > before))
                return r;
        return set_spec(&p, spec);
}
