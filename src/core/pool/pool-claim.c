/* pool-claim.c: gives a pooled sandbox to a caller.
 *
 * Optimized for speed: one transaction, no wait for a disk, no search. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "core/enforce.h"
#include "core/pool/pool-internal.h"
#include "core/probe.h"
#include "core/tally.h"

static PoolMinute *this_minute(Pool *pool) {
        uint64_t minute = clock_usec() / (60 * USEC_PER_SEC);
        PoolMinute *m = &pool->minutes[minute % POOL_MINUTES];

        if (m->minute != minute)
                *m = (PoolMinute) { .minute = minute };
        return m;
}

/* An operator may have paused the sandbox, or it may be about to end. */
static PoolEntry *first_idle(Pool *pool) {
        PoolEntry *e = pool->entries[ENTRY_IDLE];

        while (e && (!sandbox_can_run(e->sandbox) || pool_entry_is_old(e)))
                e = e->next;
        return e;
}

static int pool_claim_write_down(Sandbox *sb) {
        Store *store = sb->manager->store;
        int r;

        (void) store_begin(store);
        r = store_sandbox_update_all(store, sb);
        if (r >= 0)
                sandbox_event(sb, "claimed", NULL, "%s", sb->spec.name ? sb->spec.name : sb->id);
        return store_end(store, r);
}

static void set_owner(Sandbox *sb, const SandboxSpec *spec, usec_t claimed_at) {
        tally_leave(sb);
        sandbox_enforce_forget(sb);
        sandbox_dialect_forget(sb);
        sb->spec = *spec;
        sb->pooled = claimed_at == 0;
        sb->claimed_at = claimed_at;
        sb->expires_at = claimed_at > 0 && spec->timeout_usec > 0 ? claimed_at + spec->timeout_usec : 0;
        tally_enter(sb);
        journals_charge(sb);
}

/* On failure nothing is changed, and the sandbox is still unclaimed. */
static int pool_claim(Sandbox *sb, SandboxSpec *spec, usec_t now) {
        SandboxSpec before = sb->spec;
        int r;

        set_owner(sb, spec, now);
        r = sandbox_register_name(sb);
        if (r >= 0)
                r = pool_claim_write_down(sb);
        if (r < 0) {
                if (r != -EEXIST)
                        manager_forget_name(sb->manager, spec);
                set_owner(sb, &before, 0);
                return r;
        }
        memset(spec, 0, sizeof(*spec));
        sandbox_spec_done(&before);
        (void) sandbox_arm_timers(sb);
        return 0;
}

static Sandbox *claim_from(Pool *pool, SandboxSpec *spec) {
        usec_t began = clock_usec(), now = clock_wall_usec(), took;
        PoolEntry *e = first_idle(pool);
        Sandbox *sb;
        int r;

        if (!e)
                return NULL;
        sb = e->sandbox;
        r = pool_claim(sb, spec, now);
        if (r < 0) {
                log_error("sandbox %s: cannot be claimed: %s", sb->id, strerror(-r));
                return NULL;
        }
        sandbox_probe_forget(sb, e);
        pool_entry_move(e, ENTRY_USED);
        took = clock_usec() - began;
        pool->latencies[pool->claimed++ % POOL_LATENCIES] = (uint32_t) MIN_OF(took, (usec_t) UINT32_MAX);
        observe_status(sb, sb->status, sb->status);
        observe_step(sb->manager, STEP_CLAIM, sb, NULL, now, took);
        return sb;
}

/* The pool of such callers; else any pool that fits. */
static Pool *find_pool(const Pools *p, const SandboxSpec *spec) {
        const char *profile = spec->profile ? spec->profile : "";
        Pool *other = NULL;

        for (size_t i = 0; i < p->n; i++) {
                if (!pool_fits(p->list[i], spec))
                        continue;
                if (strcasecmp(p->list[i]->config.profile, profile) == 0)
                        return p->list[i];
                if (!other)
                        other = p->list[i];
        }
        return other;
}

static void miss(Pool *pool) {
        pool->missed++;
        this_minute(pool)->misses++;
}

Sandbox *pools_claim(Pools *p, SandboxSpec *spec) {
        Pool *pool = p && p->started ? find_pool(p, spec) : NULL;
        Sandbox *sb;

        if (!pool)
                return NULL;
        p->asked_at = clock_usec();
        pool_asked(pool);
        sb = claim_from(pool, spec);
        if (sb)
                this_minute(pool)->hits++;
        else
                miss(pool);
        pools_refill(p);
        return sb;
}

void pools_miss(Pools *p, const SandboxSpec *spec) {
        Pool *pool = p && p->started ? find_pool(p, spec) : NULL;

        if (!pool)
                return;
        pool_asked(pool);
        miss(pool);
}

Sandbox *pools_claim_late(Pools *p, SandboxSpec *spec) {
        Pool *pool = p && p->started ? find_pool(p, spec) : NULL;
        Sandbox *sb = pool ? claim_from(pool, spec) : NULL;

        if (sb)
                pools_refill(p);
        return sb;
}

bool pools_serves(const Pools *p, const SandboxSpec *spec, usec_t *ret_acquire_timeout) {
        const Pool *pool = p ? find_pool(p, spec) : NULL;

        if (pool && ret_acquire_timeout)
                *ret_acquire_timeout = pool->config.acquire_timeout_usec;
        return pool;
}
