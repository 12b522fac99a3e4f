/* pool-size.c: the number of sandboxes to keep ready.
 *
 * A bucket that every claim fills by one, and that leaks as fast as sandboxes can be made: its level is the number
 * of ready sandboxes that would have served all claims. The target is its recent maximum, which decays
 * exponentially. Surplus sandboxes are not ended at once, but when they have been idle for maxIdleTime. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "core/pool/pool-internal.h"

#define MAKE_DEFAULT     (50 * USEC_PER_MSEC) /* until the first sandbox was made */
#define MAKE_SMOOTHING   8
#define FAILURES_PATIENT 3 /* with fewer failures, the next try is made at once */
#define BLOCK_FIRST      (1 * USEC_PER_SEC)
#define BLOCK_DOUBLED    6 /* times, which is a minute */

static double halved(double value, usec_t since, usec_t now, usec_t half_life) {
        return half_life == 0 ? 0 : value * exp2(-(double) (now - since) / (double) half_life);
}

static double peak_now(const Pool *pool, usec_t now) {
        return halved(pool->peak, pool->peak_at, now, pool->config.max_idle_usec / 2);
}

void pool_asked(Pool *pool) {
        usec_t now = clock_usec(), make = pool->make_usec > 0 ? pool->make_usec : MAKE_DEFAULT;
        double leaked = (double) (now - pool->level_at) / (double) make, peak = peak_now(pool, now);

        pool->level = 1 + (leaked < pool->level ? pool->level - leaked : 0);
        pool->level_at = now;
        if (pool->level < peak)
                return;
        pool->peak = pool->level;
        pool->peak_at = now;
}

unsigned pool_target(const Pool *pool) {
        const PoolConfig *c = &pool->config;
        double wanted = c->adaptive ? ceil(peak_now(pool, clock_usec()) - 0.5) : 0;

        wanted = fmax(wanted, c->min_size);
        wanted = fmin(wanted, c->max_size);
        return (unsigned) wanted;
}

void pool_made(Pool *pool, usec_t duration) {
        pool->failures = 0;
        pool->blocked_until = 0;
        pool->last_error[0] = '\0';
        if (pool->make_usec == 0)
                pool->make_usec = duration;
        else
                pool->make_usec = (pool->make_usec * (MAKE_SMOOTHING - 1) + duration) / MAKE_SMOOTHING;
}

void pool_failed(Pool *pool, const char *text) {
        unsigned doubled;

        pool->failed++;
        pool->failures++;
        (void) snprintf(pool->last_error, sizeof(pool->last_error), "%.*s", (int) sizeof(pool->last_error) - 1,
                        text ? text : "it has ended by itself");
        if (pool->failures < FAILURES_PATIENT)
                return;
        doubled = pool->failures - FAILURES_PATIENT < BLOCK_DOUBLED ? pool->failures - FAILURES_PATIENT : BLOCK_DOUBLED;
        pool->blocked_until = clock_usec() + (BLOCK_FIRST << doubled);
        log_warning("pool %s/%s: %u failures in a row, next attempt in %llu s: %s", pool->config.template_name,
                        pool->config.profile[0] ? pool->config.profile : "-", pool->failures,
                        (unsigned long long) (BLOCK_FIRST << doubled) / USEC_PER_SEC, pool->last_error);
}

bool pool_entry_is_old(const PoolEntry *e) {
        usec_t max = e->pool->config.max_lifetime_usec;

        return max > 0 && clock_usec() - e->born >= max;
}

static bool is_idle_for_long(const PoolEntry *e) {
        usec_t max = e->pool->config.max_idle_usec;

        return max > 0 && clock_usec() - e->idle_since >= max;
}

/* Oldest first, so that the youngest are left. */
void pool_evict(Pool *pool) {
        PoolEntry *e, *next;

        for (e = pool->entries[ENTRY_IDLE]; e; e = next) {
                next = e->next;
                if (pool_entry_is_old(e))
                        pool_entry_end(e, "has waited for its maxLifetime");
                else if (pool->n[ENTRY_IDLE] > pool->config.min_size && is_idle_for_long(e))
                        pool_entry_end(e, "has waited for its maxIdleTime");
        }
}
