/* pool-stats.c: statistics of the pools. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pool/pool-internal.h"

static double hit_rate(const Pool *pool) {
        uint64_t now = clock_usec() / (60 * USEC_PER_SEC), hits = 0, all = 0;

        for (size_t i = 0; i < POOL_MINUTES; i++) {
                const PoolMinute *m = &pool->minutes[i];

                if (m->minute + POOL_MINUTES <= now)
                        continue;
                hits += m->hits;
                all += m->hits + m->misses;
        }
        return all > 0 ? (double) hits / (double) all : NAN;
}

static int by_size(const void *a, const void *b) {
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        return (x > y) - (x < y);
}

/* The smallest value that at least so many percent of the values do not exceed. */
static uint32_t pool_stats_quantile(const uint32_t *sorted, size_t n, unsigned percent) {
        return sorted[(n * percent + 99) / 100 - 1];
}

static void quantiles(const Pool *pool, usec_t *ret_p50, usec_t *ret_p99) {
        size_t n = (size_t) MIN_OF(pool->claimed, (uint64_t) POOL_LATENCIES);
        uint32_t sorted[POOL_LATENCIES];

        if (n == 0)
                return;
        memcpy(sorted, pool->latencies, n * sizeof(*sorted));
        qsort(sorted, n, sizeof(*sorted), by_size);
        *ret_p50 = pool_stats_quantile(sorted, n, 50);
        *ret_p99 = pool_stats_quantile(sorted, n, 99);
}

size_t pools_count(const Pools *p) {
        return p ? p->n : 0;
}

void pools_stats(const Pools *p, size_t i, PoolStats *ret) {
        const Pool *pool = p->list[i];

        *ret = (PoolStats) {
                .config = pool->config,
                .idle = pool->n[ENTRY_IDLE],
                .preparing = pool->n[ENTRY_MAKING] + pool->n[ENTRY_PROBING],
                .in_use = pool->n[ENTRY_USED],
                .target = pool_target(pool),
                .created = pool->created,
                .claimed = pool->claimed,
                .released = pool->released,
                .destroyed = pool->destroyed,
                .failed = pool->failed,
                .missed = pool->missed,
                .hit_rate = hit_rate(pool),
                .make_usec = pool->make_usec,
        };
        quantiles(pool, &ret->claim_p50_usec, &ret->claim_p99_usec);
        memcpy(ret->last_error, pool->last_error, sizeof(ret->last_error));
}
