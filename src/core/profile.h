/* profile.h: named sets of limits.
 *
 * An agent type is a profile; five are built in. Names are compared case-insensitively, and shown as the config
 * file writes them (the five in upper case).
 * A profile is a ceiling: a request may tighten its limits, and loosen them only if its caller has that right.
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
        char profile[PROFILE_NAME_MAX + 1]; /* "": for requests that name none */
        unsigned min_size;            /* 2 */
        unsigned max_size;            /* 10; idle, being made and in use together */
        usec_t max_idle_usec;         /* 300 s; above min_size only */
        usec_t max_lifetime_usec;     /* 3600 s, of an unclaimed one */
        usec_t acquire_timeout_usec;  /* 30 s */
        usec_t eviction_interval_usec; /* 60 s */
        bool gated;                   /* without a profile's policy: made with the gate, so that a claim can set what they reach */
        bool persistent;              /* their disks are kept, also if the profile does not say so */
        uint64_t disk_bytes;          /* 0: the profile's */
        unsigned contexts;            /* bit n: context_words[n] of warmer.h is started before it counts as ready */
        bool adaptive;                /* the number of idle ones follows the demand, between min and max; default true */
} PoolConfig;

typedef struct Profile {
        char name[PROFILE_NAME_MAX + 1];
        char extends[PROFILE_NAME_MAX + 1]; /* "": nothing; for display only: it is resolved when the config is read */
        char *description;
        SandboxLimits limits;      /* memory, cpu_milli, cpu_time, disk (storage), pids, output, nofile; exec_timeout = wall_usec */
        usec_t wall_usec;          /* execution time; 0: no limit */
        uint64_t network_requests; /* per execution, if its policy has a way out and no number of its own */
        char *policy;              /* normalised JSON, which the core does not interpret; NULL: none */
        uint8_t network;           /* NetworkMode of that policy */
        char *group;               /* likewise */
        usec_t stuck_usec;         /* running longer than this is stuck; never below wall_usec */
        unsigned concurrent_max;   /* sandboxes of this profile at once; 0: no limit of its own */
        unsigned attempts_max;     /* of an agent execution if its sandbox fails: 3 */
        bool critical;             /* not ended by the clean-up under pressure */
        char *template_name;       /* NULL: host */
        Strv command;              /* of an agent execution that has neither command nor code; n == 0: none */
        Strv env;
        char *workdir;
        bool persistent;           /* its sandboxes' disks are kept */
        bool builtin;
} Profile;

int profile_set_policy(Profile *p, const char *text, uint8_t network, const char *group);

/* The five built-in profiles, with exactly the limits of the seeds. */
size_t profile_builtins(const Profile **ret);

/* NULL: there is none. */
const Profile *profile_find(const Config *c, const char *name);

/* Applies the profile to the spec: replaces the limits (the caller lays those of the request over them afterwards,
 * see limits.h); sets template, workdir, policy and environment where the spec has none; adds critical and
 * persistent; sets spec->profile. */
int profile_apply(const Profile *p, SandboxSpec *spec);

/* Replaces the spec's policy, network and group by the profile's. */
int profile_take_policy(const Profile *p, SandboxSpec *spec);

/* Gives a spec without a profile the limits of its agent type, if that is a profile. They are no ceiling. */
void profile_lend_limits(const Config *c, SandboxSpec *spec);

/* Sets the error for an unknown name: lists the profiles, and suggests the nearest. Returns -EINVAL. */
int profile_unknown(const Config *c, const char *name, Error *reterr);
