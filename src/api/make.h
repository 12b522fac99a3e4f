/* make.h: how surfaces come to a sandbox for a caller: what a profile, a policy and volumes make of its spec, and the way from there to the answer.
 *
 * A client that goes away before it has the answer will never know the id. Its sandbox goes with it, unless it has a name, under which it can be
 * asked for again. A template's own program is started before it is told.
 * Must not know: how requests and answers look. */
#pragma once

#include "api/surface.h"
#include "core/acquire.h"
#include "state/state.h"

/* The profile that the spec names or that the caller is bound to, into it; without any, limits that nobody named stay below the ceilings. A complaint is
 * about "profile". */
int api_make_profile(ApiRequest *q, SandboxSpec *spec, JsonComplaints *c);

/* policy and network as in api/policy.h, either may be NULL; the spec's profile counts. */
int api_make_policy(ApiRequest *q, json_t *policy, json_t *network, const SandboxLimits *said, SandboxSpec *spec, JsonComplaints *c);

/* One more volume, of the spec's tenant. */
int api_make_volume(ApiRequest *q, SandboxSpec *spec, const char *field, const char *name, const char *path, bool read_only, JsonComplaints *c);

typedef enum ApiMakeStep {
        MAKE_SANDBOX,
        MAKE_PROGRAM, /* what its template starts: the sandbox has gone again */
} ApiMakeStep;

typedef struct ApiMaking {
        bool existing;      /* the name was taken */
        ApiMakeStep failed; /* with an error */
        Strv references;    /* of the environment, to secrets: to say which are missing */
        char *tenant;       /* whose; NULL where there are none */
} ApiMaking;

/* Once; it answers. sb NULL: error says why. */
typedef void (*ApiMade)(ApiRequest *q, Sandbox *sb, const ApiMaking *making, const Error *error);
/* Forks for a caller, as the request's state: those that nobody else can find go when the client leaves before it has the answer. */
typedef struct ApiForking {
        Fork *fork; /* under way */
        SandboxSpec *specs;
        size_t count;
        Sandbox **made; /* that only the answer names */
        size_t n_made;
} ApiForking;
ApiForking *api_make_forks(ApiRequest *q, size_t count); /* with empty specs; NULL: has been answered */
void api_forks_made(ApiForking *k, Sandbox *sb);

/* Takes the spec's contents and the request's state. */
void api_make_sandbox(ApiRequest *q, SandboxSpec *spec, bool with_program, usec_t wait_usec, ApiMade made);
