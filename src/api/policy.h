/* policy.h: policies of requests and sandboxes: parsing, checks against the rest of a request, output as
 * JSON, and the rules for the core.
 *
 * The one place where policy/ and the core meet, for every surface. policy/policy.h defines policies. They
 * are enforced by:
 *
 *      kernel   mounts, Landlock, rlimits, seccomp, the disk's size, cgroups (wire/rules.h, SandboxLimits)
 *      api      checks when an execution is requested (core/enforce.h)
 *      gate     checks of traffic that leaves the sandbox
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
        json_t *network; /* the separate field of the request; NULL: none */
        const char *of_profile; /* the policy of its profile, as text; NULL: none */
        const Principal *who;
        uint64_t requests_max;  /* of one execution, from the profile, used if the policy sets none; 0: no limit */
        const SandboxLimits *said; /* limits of the request itself */
        const EgressSite *site;
} ApiPolicyRequest;

/* Sets policy, network and group of the spec; its other fields must be final. Complaints are about "policy…",
 * "network…", "limits…", "env" and "workdir". */
int api_policy_apply(const ApiPolicyRequest *q, SandboxSpec *spec, JsonComplaints *c);

/* NULL text gives null. The second one: for each field that is set, the part that enforces it. */
json_t *api_policy_json(const char *text);
json_t *api_policy_enforcement_json(const char *text);

/* The rules of a parsed policy; -EINVAL: too large to enforce. */
int api_policy_rules(const Policy *p, Enforce *ret, Error *reterr);

/* Parses a stored policy without the gate's part, which was checked when the policy was set. */
int api_policy_parse_stored(const char *text, Policy *ret, Error *reterr);
