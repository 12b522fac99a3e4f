/* pool.h: sandboxes made ahead of demand.
 *
 * One pool per line of the config (template + profile). A pooled sandbox has run one command already (probe.h) before it counts as
 * ready, belongs to nobody, is in no list of callers, and is used once: claimed by one caller, never reset, never given to another.
 * How many stand ready follows the demand of the last minutes (adaptive), between min and max; making them waits until nobody
 * waits for anything else. After a restart pooled ones are adopted, those of pools that are gone are ended.
 * Must not know: HTTP, agents. */
#pragma once

#include "core/manager.h"
#include "core/profile.h"

typedef struct Pools Pools;

#define POOL_ERROR_MAX 256

int pools_new(Manager *m, Pools **ret);
Pools *pools_free(Pools *p); /* before the manager */
void pools_start(Pools *p);  /* recovery is over: fill them */
void pools_reload(Pools *p); /* the settings have changed */
void pools_stop(Pools *p);   /* the daemon ends; what is warm ends too with --stop-all, else it stays for the next */

/* A warm one that is what the spec asks for (template, user, working directory, limits that are built into it; the rest is set
 * now), the caller's from now on: tenant, name, environment, metadata, timeout and all are written in one transaction. NULL: there
 * is none. Takes the spec's contents on success. Nothing of a claim is synced or waited for. */
Sandbox *pools_claim(Pools *p, SandboxSpec *spec);

/* The same for somebody who has asked before, found none, and waits since: what was missed then is counted already. */
Sandbox *pools_claim_late(Pools *p, SandboxSpec *spec);
void pools_miss(Pools *p, const SandboxSpec *spec); /* somebody would have asked, but others wait already */

/* Whether a pool exists for such a spec, and how long its callers wait at most (acquireTimeout). */
bool pools_serves(const Pools *p, const SandboxSpec *spec, usec_t *ret_acquire_timeout);

/* Ends all that nobody has claimed, so that they are made anew: after a change of the template. How many. */
unsigned pools_drain(Pools *p);

typedef struct PoolStats {
        PoolConfig config;
        unsigned idle, preparing, in_use, target; /* target: how many shall stand ready */
        uint64_t created, claimed, released, destroyed, failed, missed; /* missed: claims that found none */
        double hit_rate;  /* of the last hour; NAN: no claims */
        usec_t claim_p50_usec, claim_p99_usec;
        usec_t make_usec; /* what making one takes, smoothed; 0: none was made */
        char last_error[POOL_ERROR_MAX]; /* "": the last one that was made is well */
} PoolStats;

size_t pools_count(const Pools *p);
void pools_stats(const Pools *p, size_t i, PoolStats *ret);
