/* make.h: how surfaces make a sandbox for a caller: profile, policy and volumes of the spec, and the way from
 * there to the answer.
 *
 * A client that leaves before the answer never learns the id, so its sandbox is deleted, unless it has a name
 * by which it can be found. A template's own program is started before the answer.
 * Must not know: the formats of requests and answers. */
#pragma once

#include "api/surface.h"
#include "core/acquire.h"
#include "state/state.h"

/* Applies the profile that the spec names, or that binds the caller. Without a profile, default limits stay
 * below the ceilings. Complaints are about "profile". */
int api_make_profile(ApiRequest *q, SandboxSpec *spec, JsonComplaints *c);

/* policy and network as in api/policy.h; either may be NULL. The spec's profile applies. */
int api_make_policy(ApiRequest *q, json_t *policy, json_t *network, const SandboxLimits *said, SandboxSpec *spec, JsonComplaints *c);

/* Adds a volume of the spec's tenant. */
int api_make_volume(ApiRequest *q, SandboxSpec *spec, const char *field, const char *name, const char *path, bool read_only, JsonComplaints *c);

typedef enum ApiMakeStep {
        MAKE_SANDBOX,
        MAKE_PROGRAM, /* the template's program failed; the sandbox has been deleted */
} ApiMakeStep;

typedef struct ApiMaking {
        bool existing;      /* a sandbox of that name existed */
        ApiMakeStep failed; /* if there is an error */
        Strv references;    /* references to secrets in the environment, to report missing ones */
        char *tenant;       /* owner of the secrets; NULL if there are no references */
} ApiMaking;

/* Called once, to answer. sb NULL: see error. */
typedef void (*ApiMade)(ApiRequest *q, Sandbox *sb, const ApiMaking *making, const Error *error);
/* Forks for a caller, as the request's state. If the client leaves before the answer, forks that only the
 * answer names are deleted. */
typedef struct ApiForking {
        Fork *fork; /* under way */
        SandboxSpec *specs;
        size_t count;
        Sandbox **made; /* those that only the answer names */
        size_t n_made;
} ApiForking;
ApiForking *api_make_forks(ApiRequest *q, size_t count); /* with empty specs; NULL: has been answered */
void api_forks_made(ApiForking *k, Sandbox *sb);

/* Takes the spec's contents and uses the request's state. */
void api_make_sandbox(ApiRequest *q, SandboxSpec *spec, bool with_program, usec_t wait_usec, ApiMade made);
