/* stats.c: counts and waits of the queue. */

#include <stdlib.h>
#include <string.h>

#include "agent/internal.h"
#include "agent/rows.h"

#define WINDOW (300 * USEC_PER_SEC)

void stats_waited(Agents *a, usec_t waited) {
        a->waits[a->n_waits++ % AGENT_WAITS] = (AgentWait) { .at = clock_usec(), .waited = waited };
}

static int by_length(const void *x, const void *y) {
        usec_t a = *(const usec_t *) x, b = *(const usec_t *) y;

        return a < b ? -1 : a > b;
}

/* The waits of the last minutes, sorted. */
static size_t recent_waits(const Agents *a, usec_t ret[static AGENT_WAITS]) {
        size_t n = MIN_OF(a->n_waits, (size_t) AGENT_WAITS), kept = 0;
        usec_t now = clock_usec();

        for (size_t i = 0; i < n; i++)
                if (now - a->waits[i].at <= WINDOW)
                        ret[kept++] = a->waits[i].waited;
        qsort(ret, kept, sizeof(*ret), by_length);
        return kept;
}

/* The smallest value that at least so many percent of the values do not exceed. */
static usec_t stats_quantile(const usec_t *sorted, size_t n, unsigned percent) {
        return n == 0 ? 0 : sorted[MIN_OF((n * percent + 99) / 100, n) - 1];
}

static void count_priority(const QueueEntry *e, void *userdata) {
        AgentQueueStats *s = userdata;

        s->by_priority[e->priority + JOB_PRIORITY_MAX]++;
}

static void count_runs(const Agents *a, const char *tenant, AgentQueueStats *ret) {
        const Run *run, *next;

        HASH_ITER(hh, a->runs, run, next) {
                if (tenant && strcmp(run->job.sandbox.tenant ? run->job.sandbox.tenant : "", tenant) != 0)
                        continue;
                ret->active++;
                ret->running += run->job.status == JOB_RUNNING;
        }
}

static void put_waits(const Agents *a, AgentQueueStats *ret) {
        usec_t waits[AGENT_WAITS];
        size_t n = recent_waits(a, waits);

        ret->n_waits = n;
        ret->wait_p50_usec = stats_quantile(waits, n, 50);
        ret->wait_p95_usec = stats_quantile(waits, n, 95);
        ret->wait_p99_usec = stats_quantile(waits, n, 99);
}

int agents_queue_stats(Agents *a, const char *tenant, AgentQueueStats *ret) {
        usec_t oldest = queue_oldest(a->queue, tenant), now = clock_usec();

        *ret = tenant ? (AgentQueueStats) { 0 } : a->counts;
        ret->depth = tenant ? queue_size_of(a->queue, tenant) : queue_size(a->queue);
        ret->delayed = tenant ? 0 : queue_delayed(a->queue);
        ret->oldest_usec = oldest != USEC_INFINITY && now > oldest ? now - oldest : 0;
        ret->dead = a->n_dead;
        queue_each(a->queue, tenant, count_priority, ret);
        count_runs(a, tenant, ret);
        if (tenant)
                return store_job_count_dead(a->manager->store, tenant, &ret->dead);
        put_waits(a, ret);
        return 0;
}

void agents_signals(Agents *a, AgentSignals *ret) {
        *ret = (AgentSignals) { .depth = queue_size(a->queue), .active = HASH_COUNT(a->runs), .dead = a->n_dead };
}
