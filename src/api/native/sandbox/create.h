/* create.h: the request body for new sandboxes: a single one (create.c), one from a snapshot (create-from.c),
 * or forks (fork.c). */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "state/state.h"

typedef struct CreateBody {
        SandboxSpec spec;
        SandboxLimits limits; /* those that the body sets */
        NativeUser user;
        usec_t wait_usec;
        json_t *policy, *network, *volumes; /* as received; parsed after the rest is known */
        const Sandbox *of;        /* for forks: the running sandbox that supplies missing values, */
        const Snapshot *from;     /* or the snapshot */
        bool inherits;            /* there is a snapshot or sandbox that supplies them: the template is not checked */
        bool inherits_policy, inherits_profile;
} CreateBody;

typedef struct ForkBody {
        CreateBody create; /* first, because both tables use the same offsets */
        uint32_t count;
        Strv names;
} ForkBody;

bool native_name_is_valid(const char *text); /* for a sandbox */
void native_create_init(CreateBody *b);
void native_create_done(CreateBody *b);
int native_create_check(ApiRequest *q, void *target, JsonComplaints *c); /* an ApiCheck */
int native_create_ceiling(ApiRequest *q, const CreateBody *b); /* of the profile; negative: has answered */
void native_create_failed(ApiRequest *q, int r, const char *text);
void native_create_full(ApiRequest *q, const Error *error); /* answers that there was no room in time */

extern const Shape native_fork_shape; /* for a ForkBody */

/* create-volumes.c */
int native_create_volumes(ApiRequest *q, CreateBody *b, JsonComplaints *c);

/* create-from.c: values missing in the body come from the snapshot, or from the sandbox that is forked. */
int native_create_inherit(ApiRequest *q, CreateBody *b, JsonComplaints *c);
