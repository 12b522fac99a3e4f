/* policy.h: policies of requests and of sandboxes: read, checked against the rest of a request, told, and what the core makes of them.
 *
 * The one place where policy/ and the core meet, for every surface. What a policy says is in policy/policy.h; what holds it:
 *
 *      kernel   mounts, Landlock, rlimits, seccomp, the disk's size, cgroups (wire/rules.h, SandboxLimits)
 *      api      looked at when an execution is asked for (core/enforce.h)
 *      gate     what leaves the sandbox
 *
 * Must not know: routes, HTTP. */
#pragma once

#include "core/enforce.h"
#include "json/json.h"
#include "policy/policy.h"

/* EnforceRead, for the manager. */
int api_policy_enforce(const char *text, Enforce *ret, Error *reterr);

typedef struct ApiPolicyRequest {
        json_t *policy;  /* an object, or the name of a preset; NULL: none */
        json_t *network; /* the field of its own; NULL: none */
        const char *of_profile; /* what its profile has, as text; NULL: nothing */
        const Principal *who;
        uint64_t requests_max;  /* of an execution, by its profile, where the policy says nothing; 0: no limit */
        const SandboxLimits *said; /* limits.h: of the request itself */
        const EgressSite *site;
} ApiPolicyRequest;

/* Fills policy, network and group of the spec, whose other fields are as they will be. Complaints are about "policy…", "network…", "limits…",
 * "env" and "workdir". */
int api_policy_apply(const ApiPolicyRequest *q, SandboxSpec *spec, JsonComplaints *c);

/* NULL text: null. The second: for each field that says something, who holds it. */
json_t *api_policy_json(const char *text);
json_t *api_policy_enforcement_json(const char *text);

/* Of the parsed one; -EINVAL: too much to hold. */
int api_policy_rules(const Policy *p, Enforce *ret, Error *reterr);

/* The text of a stored one, without what is the gate's business: that was checked when it was set. */
int api_policy_parse_stored(const char *text, Policy *ret, Error *reterr);
