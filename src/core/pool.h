/* pool.h: sandboxes made ahead of demand.
 *
 * One pool per entry of the config (template + profile). A pooled sandbox has run one command (probe.h) before it
 * counts as ready. It has no owner and is in no listing. It is used once: claimed by one caller, never reset,
 * never given to another. The number of idle ones follows the demand of the last minutes (adaptive), between min
 * and max. They are made while the loop is idle, no request waits, and no caller's sandbox is being made. After a
 * restart, pooled sandboxes are adopted; those of removed pools are ended.
 * Must not know: HTTP, agents. */
#pragma once

#include "core/manager.h"
#include "core/profile.h"

typedef struct Pools Pools;

#define POOL_ERROR_MAX 256

int pools_new(Manager *m, Pools **ret);
Pools *pools_free(Pools *p); /* before the manager */
void pools_start(Pools *p);  /* after the recovery: begins to fill the pools */
void pools_reload(Pools *p); /* after a change of the settings */
void pools_stop(Pools *p);   /* the daemon ends; warm sandboxes end with --stop-all, else the next daemon adopts them */

/* Claims a warm sandbox that fits the spec (template, user, working directory, built-in limits; everything else is
 * set now): tenant, name, environment, metadata, timeout and the rest are written in one transaction. NULL: there
 * is none. Takes the spec's contents on success. A claim neither syncs nor waits. */
Sandbox *pools_claim(Pools *p, SandboxSpec *spec);

/* The same for a request that has been in the queue since it found none: its miss is counted already. */
Sandbox *pools_claim_late(Pools *p, SandboxSpec *spec);
void pools_miss(Pools *p, const SandboxSpec *spec); /* counts a request that did not ask, because others wait already */

/* Whether there is a pool for such a spec, and its acquireTimeout. */
bool pools_serves(const Pools *p, const SandboxSpec *spec, usec_t *ret_acquire_timeout);

/* Ends all unclaimed sandboxes, so that they are made again after a change of the template. Returns their number. */
unsigned pools_drain(Pools *p);

typedef struct PoolStats {
        PoolConfig config;
        unsigned idle, preparing, in_use, target; /* target: number of idle ones to keep */
        uint64_t created, claimed, released, destroyed, failed, missed; /* missed: claims that found none */
        double hit_rate;  /* of the last hour; NAN: no claims */
        usec_t claim_p50_usec, claim_p99_usec;
        usec_t make_usec; /* smoothed time to make one; 0: none was made */
        char last_error[POOL_ERROR_MAX]; /* "": the last one was made without error */
} PoolStats;

size_t pools_count(const Pools *p);
void pools_stats(const Pools *p, size_t i, PoolStats *ret);
