/* pool-refill.c: makes missing sandboxes while the daemon is idle.
 *
 *      a sandbox is missing → timer → no claim for a moment (or not even that within PATIENCE) →
 *      the loop is idle → one is made → and so on, AT_ONCE at a time
 *
 * Not while a caller's sandbox is being made or a request waits for a place: a free place belongs to the waiting
 * request. */

#include <stdlib.h>
#include <string.h>

#include "core/admission.h"
#include "core/pool/pool-internal.h"
#include "core/tally.h"

#define AT_ONCE    2
#define QUIET      (10 * USEC_PER_MSEC)  /* after a claim: the caller is about to run something */
#define PATIENCE   (100 * USEC_PER_MSEC) /* … but consecutive claims do not keep a pool empty */
#define SOON       (5 * USEC_PER_MSEC)   /* a caller's sandbox is being made, which does not take long */
#define LATER      (50 * USEC_PER_MSEC)  /* there is no place */

static unsigned size_of(const Pool *pool) {
        unsigned n = 0;

        for (PoolEntryState s = 0; s < _ENTRY_MAX; s++)
                n += pool->n[s];
        return n;
}

static unsigned preparing(const Pool *pool) {
        return pool->n[ENTRY_MAKING] + pool->n[ENTRY_PROBING];
}

static bool lacks(const Pool *pool) {
        return pool->shape.template_name && pool->n[ENTRY_IDLE] + preparing(pool) < pool_target(pool) &&
                        size_of(pool) < pool->config.max_size;
}

static unsigned n_preparing(const Pools *p) {
        unsigned n = 0;

        for (size_t i = 0; i < p->n; i++)
                n += preparing(p->list[i]);
        return n;
}

static bool any_lacks(const Pools *p) {
        for (size_t i = 0; i < p->n; i++)
                if (lacks(p->list[i]))
                        return true;
        return false;
}

/* When to look again, because the machine or the place is needed for others. 0: at once. */
static usec_t in_the_way(const Pools *p) {
        const Manager *m = p->manager;
        TallySums all = tally_of_all(m), pooled = tally_of_pooled(m);
        AdmissionStats stats = { 0 };

        if (all.n_by_status[SANDBOX_INITIALIZING] > pooled.n_by_status[SANDBOX_INITIALIZING])
                return SOON;
        admission_stats(m->admission, &stats);
        return stats.waiting > 0 || stats.live >= stats.cap ? LATER : 0;
}

static Pool *next_lacking(Pools *p, usec_t *ret_wait) {
        usec_t now = clock_usec();

        *ret_wait = LATER;
        for (size_t i = 0; i < p->n; i++) {
                Pool *pool = p->list[(p->next + i) % p->n];

                if (!lacks(pool))
                        continue;
                if (pool->blocked_until > now) {
                        *ret_wait = MAX_OF(*ret_wait, MIN_OF(pool->blocked_until - now, USEC_PER_SEC));
                        continue;
                }
                p->next = (p->next + i + 1) % p->n;
                return pool;
        }
        return NULL;
}

static void pool_refill_look_in(Pools *p, usec_t usec) {
        if (sd_event_source_set_time_relative(p->timer, usec) >= 0)
                (void) sd_event_source_set_enabled(p->timer, SD_EVENT_ONESHOT);
}

static int pool_refill_on_idle(sd_event_source *source, void *userdata) {
        Pools *p = userdata;
        Pool *pool = NULL;
        usec_t wait;

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        if (p->stopping || p->manager->stopping || n_preparing(p) >= AT_ONCE)
                return 0; /* the next one that gets ready continues the refill */
        if (!any_lacks(p)) {
                p->lacking_since = 0;
                return 0;
        }
        wait = in_the_way(p);
        if (wait == 0)
                pool = next_lacking(p, &wait);
        if (!pool) {
                pool_refill_look_in(p, wait);
                return 0;
        }
        (void) pool_make(pool);
        return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static int pool_refill_on_timer(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata) {
        Pools *p = userdata;
        usec_t now = clock_usec();

        if (now - p->asked_at < QUIET && now - p->lacking_since < PATIENCE) {
                pool_refill_look_in(p, QUIET);
                return 0;
        }
        return sd_event_source_set_enabled(p->idle, SD_EVENT_ON);
}

void pools_refill(Pools *p) {
        int enabled;

        if (!p->started || p->stopping)
                return;
        if (!any_lacks(p)) {
                p->lacking_since = 0;
                return;
        }
        if (p->lacking_since == 0)
                p->lacking_since = clock_usec();
        if (sd_event_source_get_enabled(p->timer, &enabled) > 0 || sd_event_source_get_enabled(p->idle, &enabled) > 0)
                return; /* it is about to run */
        if (clock_usec() - p->asked_at < QUIET)
                pool_refill_look_in(p, QUIET);
        else
                (void) sd_event_source_set_enabled(p->idle, SD_EVENT_ON);
}

int pools_refill_init(Pools *p) {
        sd_event *event = p->manager->event;
        int r;

        r = sd_event_add_time_relative(event, &p->timer, CLOCK_MONOTONIC, 0, 0, pool_refill_on_timer, p);
        if (r >= 0)
                r = sd_event_source_set_enabled(p->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_defer(event, &p->idle, pool_refill_on_idle, p);
        if (r >= 0)
                r = sd_event_source_set_priority(p->idle, SD_EVENT_PRIORITY_IDLE);
        return r >= 0 ? sd_event_source_set_enabled(p->idle, SD_EVENT_OFF) : r;
}
