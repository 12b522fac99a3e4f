/* policy.h: everything that a sandbox may do, as one object.
 *
 *      "policy": {
 *        "preset": "default" | "standard" | "permissive",   base for the other fields; none: everything as without a policy.
 *                                                           The preset's name alone is a policy, too: "policy": "default"
 *        "network": { egress.h },                           replaces only the given fields of a preset; rules and mode together
 *        "allowNetworkAccess": bool, "allowedDomains": [...], "deniedDomains": [...],    D4's aliases for "network"; "example.org" here is
 *        "requireTls": bool, "maxRequestSize": n, "maxResponseSize": n, "timeout": ms,   that name and every name below
 *        "readOnlyPaths": [...], "writablePaths": [...], "deniedPaths": [...], "allowFileSystem": bool, "allowedPaths": [...]
 *        "maxFileSize": "10MB", "maxTotalSize": "100MB", "allowedExtensions": refused, because it cannot be enforced
 *        "allowProcessCreation": bool, "allowEnvironmentAccess": bool, "allowedLanguages": ["python", ...],
 *        "maxExecutionTime": 30000 (ms), "maxMemoryUsage": bytes or "128MB", "maxCpuUsage": 0.5,
 *        "credentials": [{"secret": "github", "domain": "api.github.com", "env": "GITHUB_TOKEN",
 *                        "in": ["header","query","body"], "headers": ["Authorization"]}]
 *      }
 *
 * Every field is either enforced, by the kernel or by the gate, or refused. Validation collects all errors,
 * in the same words everywhere (REQUIREMENTS 364–378). The values of the presets are exactly D4's; "standard"
 * lies between "default" and "permissive" (K10).
 * Pure. Must not know: sandboxes, how things are enforced, the store. */
#pragma once

#include "base/strv.h"
#include "policy/egress.h"

#define POLICY_PATHS_MAX       64 /* of each list */
#define POLICY_LANGUAGES_MAX   64
#define POLICY_CREDENTIALS_MAX 32
#define POLICY_HEADERS_MAX     8 /* of one credential */

typedef struct PolicyCredential {
        char *secret;  /* its name in the vault */
        char *domain;  /* exact, or "*.x": the hosts that the value may be sent to; TLS only */
        char *env;     /* the variable that contains the placeholder for the guest */
        unsigned where; /* PolicyCredentialPlace */
        Strv headers;  /* header names; the guest does not choose them */
} PolicyCredential;

typedef enum PolicyCredentialPlace {
        CREDENTIAL_IN_HEADER = 1 << 0,
        CREDENTIAL_IN_QUERY = 1 << 1,
        CREDENTIAL_IN_BODY = 1 << 2,
} PolicyCredentialPlace;

typedef struct Policy {
        char preset[16];
        EgressPolicy network;
        Strv read_only_paths, writable_paths, denied_paths;
        bool has_file_system;      /* false: nothing is writable, not even /tmp */
        uint64_t file_size_max;    /* 0: no limit of its own */
        uint64_t total_size_max;   /* 0: likewise; an upper bound for the disk limit */
        bool process_creation;
        bool environment_access;   /* false: executions get the fixed base environment only; "env" is refused */
        Strv languages;            /* n == 0: all */
        usec_t execution_time_max; /* 0: no limit of its own */
        uint64_t memory_max;
        uint32_t cpu_milli_max;
        PolicyCredential *credentials;
        size_t n_credentials;
} Policy;

void policy_done(Policy *p);

/* The policy of a sandbox without one: no network; everything else as the sandbox itself is configured. */
void policy_init(Policy *p);

/* NULL value or "{}": policy_init(). */
int policy_parse(json_t *value, const char *prefix, const EgressSite *site, Policy *ret, JsonComplaints *c);
/* The same, without the limits for newly set policies (egress_policy_check_given()): a policy that an earlier
 * version accepted still applies. */
int policy_parse_stored(json_t *value, const char *prefix, const EgressSite *site, Policy *ret, JsonComplaints *c);
json_t *policy_to_json(const Policy *p); /* normalised; parsing it again gives the same */

const Policy *policy_preset(const char *name); /* NULL: no such preset */
extern const char *const policy_preset_names[]; /* NULL-terminated */

/* Checks a request against the policy: complaints about "memory", "cpu", "timeout", "env", "files",
 * "workdir", all at once, in D4's words ("Memory limit 256MB exceeds policy maximum 128.0MB"; K10). Zero and
 * NULL: not given. */
typedef struct PolicyRequest {
        const char *memory; /* "256MB" */
        uint32_t cpu_milli;
        usec_t timeout_usec;
        const char *workdir;
        bool has_env, has_files;
} PolicyRequest;
int policy_check_request(const Policy *p, const PolicyRequest *q, JsonComplaints *c);

/* D4's functions, for surfaces and tests. A URL is allowed if a GET of it would pass; plain HTTP does not if
 * TLS is required. */
bool policy_url_allowed(const Policy *p, const char *url);
bool policy_language_allowed(const Policy *p, const char *language);
int policy_memory_parse(const char *text, uint64_t *ret); /* "128MB", "1gb", "64"; -EINVAL: "Invalid memory format" */
