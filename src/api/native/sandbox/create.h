/* create.h: what a caller says about a sandbox to be made: alone (create.c), out of a snapshot (create-from.c), or many out of one (fork.c). */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "state/state.h"

typedef struct CreateBody {
        SandboxSpec spec;
        SandboxLimits limits; /* what was said of them */
        NativeUser user;
        usec_t wait_usec;
        json_t *policy, *network, *volumes; /* as they came; read when the rest is known */
        const Sandbox *of;        /* a fork's: the live one that gives what is not said, */
        const Snapshot *from;     /* or the snapshot */
        bool inherits;            /* there is a snapshot or a sandbox that does: templates are no question any more */
        bool inherits_policy, inherits_profile;
} CreateBody;

typedef struct ForkBody {
        CreateBody create; /* first: both tables mean the same places */
        uint32_t count;
        Strv names;
} ForkBody;

bool native_name_is_valid(const char *text); /* of a sandbox */
void native_create_init(CreateBody *b);
void native_create_done(CreateBody *b);
int native_create_check(ApiRequest *q, void *target, JsonComplaints *c); /* an ApiCheck */
int native_create_ceiling(ApiRequest *q, const CreateBody *b); /* a profile's; has answered when it is negative */
void native_create_failed(ApiRequest *q, int r, const char *text);
void native_create_full(ApiRequest *q, const Error *error); /* no room in time */

extern const Shape native_fork_shape; /* of a ForkBody */

/* create-volumes.c */
int native_create_volumes(ApiRequest *q, CreateBody *b, JsonComplaints *c);

/* create-from.c: what the body does not say comes from its snapshot, or from the sandbox that is forked. */
int native_create_inherit(ApiRequest *q, CreateBody *b, JsonComplaints *c);
