/* profile.h: named sets of limits.
 *
 * An agent type is a profile; the five of the box are there without any file. Names are told apart without regard to case, and
 * are written as the config file has them (upper case for the five).
 * A profile is a ceiling: what a request says on top of it may tighten, and loosens only for those who may.
 * Must not know: YAML, HTTP. */
#pragma once

#include "base/strv.h"
#include "core/sandbox.h"

typedef struct Config Config;

#define PROFILE_NAME_MAX  63
#define PROFILE_COMMAND_MAX 64

/* Of a warm pool; D2 of the seeds has the names and the defaults. */
typedef struct PoolConfig {
        char template_name[64]; /* "host" */
        char profile[PROFILE_NAME_MAX + 1]; /* "": sandboxes of callers who name none */
        unsigned min_size;            /* 2 */
        unsigned max_size;            /* 10; idle, being made and in use together */
        usec_t max_idle_usec;         /* 300 s; above min_size only */
        usec_t max_lifetime_usec;     /* 3600 s, of one that nobody claims */
        usec_t acquire_timeout_usec;  /* 30 s */
        usec_t eviction_interval_usec; /* 60 s */
        bool gated;                   /* those of no profile's policy stand at the gate, where it can be said later what they reach */
        bool persistent;              /* their disks are kept, also where no profile says it */
        uint64_t disk_bytes;          /* 0: as the profile says */
        unsigned contexts;            /* bit n: context_words[n] of warmer.h is begun before it counts as ready */
        bool adaptive;                /* how many wait ready follows the demand, between min and max; default true */
} PoolConfig;

typedef struct Profile {
        char name[PROFILE_NAME_MAX + 1];
        char extends[PROFILE_NAME_MAX + 1]; /* "": nothing; resolved when the config is read, this is for showing */
        char *description;
        SandboxLimits limits;      /* memory, cpu_milli, cpu_time, disk (storage), pids, output, nofile; exec_timeout = wall_usec */
        usec_t wall_usec;          /* execution time; 0: no limit */
        uint64_t network_requests; /* per execution, where its policy has a way out and no number of its own */
        char *policy;              /* JSON, normalised, of which the core knows nothing; NULL: none */
        uint8_t network;           /* NetworkMode of that policy */
        char *group;               /* likewise */
        usec_t stuck_usec;         /* running longer than this is stuck; never below wall_usec */
        unsigned concurrent_max;   /* sandboxes of this profile at once; 0: no limit of its own */
        unsigned attempts_max;     /* of an agent execution whose sandbox fails: 3 */
        bool critical;             /* spared by emergencies */
        char *template_name;       /* NULL: host */
        Strv command;              /* what an agent execution runs that brings neither command nor code; n == 0: nothing */
        Strv env;
        char *workdir;
        bool persistent;           /* its sandboxes' disks are kept */
        bool builtin;
} Profile;

int profile_set_policy(Profile *p, const char *text, uint8_t network, const char *group);

/* The five of the seeds, with exactly their limits. */
size_t profile_builtins(const Profile **ret);

/* NULL: there is none. */
const Profile *profile_find(const Config *c, const char *name);

/* Everything of the profile into the spec: limits (replaced: what a request says about them is laid over it afterwards, limits.h);
 * template, workdir, policy and environment below the spec's own; critical. spec's name of it is set. */
int profile_apply(const Profile *p, SandboxSpec *spec);

/* Its policy, with network and group, in place of the spec's. */
int profile_take_policy(const Profile *p, SandboxSpec *spec);

/* Of a spec that names no profile: the limits of its agent type, where that is one. No ceiling comes with them. */
void profile_lend_limits(const Config *c, SandboxSpec *spec);

/* What to say of a name that is none: those there are, and the nearest. Returns -EINVAL. */
int profile_unknown(const Config *c, const char *name, Error *reterr);
