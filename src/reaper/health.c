/* health.c: checks live sandboxes by a trivial command inside.
 *
 * Sandboxes that run something or are an agent's are checked every healthInterval, a few at a time and with a limited
 * rate. A plain sandbox in which nothing runs costs nothing, and is checked only on request. A sandbox that fails is
 * checked once more before it counts as unhealthy, because a machine can be busy for a moment. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/array.h"
#include "base/log.h"
#include "core/probe.h"
#include "reaper/internal.h"

#define AT_ONCE     4
#define PACE_USEC   (50 * USEC_PER_MSEC) /* 20 per second */
#define FAILURES_TO_BELIEVE 2

typedef struct HealthWaiter {
        HealthDone done;
        void *userdata;
        struct HealthWaiter *prev, *next;
} HealthWaiter;

typedef struct HealthEntry {
        char id[SANDBOX_ID_LENGTH + 1];
        Sandbox *sandbox;
        Reaper *reaper;
        bool under_way, unhealthy;
        unsigned failures; /* in a row */
        HealthWaiter *waiters;
        UT_hash_handle hh;
} HealthEntry;

typedef struct Health {
        HealthEntry *entries; /* sandboxes that were checked and are still alive */
        Sandbox **queue;
        size_t n_queue, next, room;
        unsigned n_under_way;
        sd_event_source *pace;
} Health;

static HealthEntry *reaper_health_entry_of(Reaper *r, Sandbox *sb) {
        HealthEntry *e;

        HASH_FIND_STR(r->health->entries, sb->id, e);
        if (e)
                return e;
        e = calloc(1, sizeof(*e));
        if (!e)
                return NULL;
        e->reaper = r;
        e->sandbox = sandbox_ref(sb);
        memcpy(e->id, sb->id, sizeof(e->id));
        HASH_ADD_STR(r->health->entries, id, e);
        return e;
}

static void reaper_health_entry_free(HealthEntry *e) {
        HealthWaiter *w, *next;

        HASH_DEL(e->reaper->health->entries, e);
        DL_FOREACH_SAFE(e->waiters, w, next)
                free(w);
        (void) sandbox_unref(e->sandbox);
        free(e);
}

static int reaper_health_enqueue(Health *h, Sandbox *sb) {
        if (ARRAY_RESERVE(h->queue, h->room, h->n_queue + 1) < 0)
                return -ENOMEM;
        h->queue[h->n_queue++] = sandbox_ref(sb);
        return 0;
}

static void keep_pace(Health *h) {
        (void) sd_event_source_set_time_relative(h->pace, PACE_USEC);
        (void) sd_event_source_set_enabled(h->pace, SD_EVENT_ONESHOT);
}

/* Ending unhealthy sandboxes */

static void end_unhealthy(Reaper *r, Sandbox *sb, const char *text) {
        char reason[CLEANUP_TEXT_MAX];
        ReaperRun *run;

        (void) snprintf(reason, sizeof(reason), "unhealthy: %.200s", text);
        if (sweep_run_new(r, &(CleanupRequest) { .kind = CLEANUP_HEALTH }, CLEANUP_BY_TIMER, &run) < 0)
                return;
        run->report.counts.scanned = 1;
        if (sweep_run_add(run, sb->id, RULE_UNHEALTHY, reason))
                sweep_run_act(run);
        else
                sweep_run_free(run);
}

static void reaper_health_judge(HealthEntry *e, Sandbox *sb, bool healthy, const char *text) {
        const CleanupConfig *c = &e->reaper->manager->settings->cleanup;
        bool was = e->unhealthy;

        e->failures = healthy ? 0 : e->failures + 1;
        e->unhealthy = e->failures >= FAILURES_TO_BELIEVE;
        if (was && healthy)
                log_notice("sandbox %s: is healthy again", sb->id);
        if (e->failures == 1 && reaper_health_enqueue(e->reaper->health, sb) >= 0)
                keep_pace(e->reaper->health);
        if (!e->unhealthy)
                return;
        if (!was) {
                log_warning("sandbox %s: unhealthy: %s", sb->id, text);
                sandbox_note(sb, "unhealthy", text);
        }
        if (sandbox_is_agents(sb) && sandbox_since(sb, sandbox_owned_since(sb)) > c->unhealthy_age_usec)
                end_unhealthy(e->reaper, sb, text);
}

static void reaper_health_on_probed(Sandbox *sb, bool healthy, const char *text, usec_t duration, void *userdata) {
        HealthEntry *e = userdata;
        Health *h = e->reaper->health;
        HealthWaiter *w;

        e->under_way = false;
        h->n_under_way--;
        while ((w = e->waiters)) {
                DL_DELETE(e->waiters, w);
                w->done(sb, healthy, text, duration, w->userdata);
                free(w);
        }
        if (!sandbox_is_ending(sb))
                reaper_health_judge(e, sb, healthy, text);
}

static int reaper_health_ask(HealthEntry *e, Sandbox *sb) {
        Reaper *r = e->reaper;
        usec_t timeout = MAX_OF(r->manager->settings->cleanup.health_timeout_usec, USEC_PER_MSEC);
        int k = sandbox_probe(sb, timeout, reaper_health_on_probed, e);

        if (k < 0)
                return k;
        e->under_way = true;
        r->health->n_under_way++;
        return 0;
}

int reaper_check_health(Reaper *r, Sandbox *sb, HealthDone done, void *userdata) {
        HealthEntry *e = reaper_health_entry_of(r, sb);
        HealthWaiter *w = calloc(1, sizeof(*w));
        int k = e && w ? 0 : -ENOMEM;

        if (k >= 0 && !e->under_way)
                k = reaper_health_ask(e, sb);
        if (k < 0) {
                free(w);
                return k;
        }
        *w = (HealthWaiter) { .done = done, .userdata = userdata };
        DL_APPEND(e->waiters, w);
        return 0;
}

void health_forget(Reaper *r, void *userdata) {
        HealthEntry *e, *next;
        HealthWaiter *w, *next_waiter;

        HASH_ITER(hh, r->health->entries, e, next)
                DL_FOREACH_SAFE(e->waiters, w, next_waiter)
                        if (w->userdata == userdata) {
                                DL_DELETE(e->waiters, w);
                                free(w);
                        }
}

/* Periodic checks */

static bool is_worth_asking(const Sandbox *sb) {
        return sandbox_is_up(sb) && !sb->pooled && (sb->n_alive > 0 || sandbox_is_agents(sb));
}

static int on_pace(sd_event_source *source, uint64_t usec, void *userdata) {
        Reaper *r = userdata;
        Health *h = r->health;

        while (h->n_under_way < AT_ONCE && h->next < h->n_queue) {
                Sandbox *sb = h->queue[h->next++];
                HealthEntry *e = sandbox_is_up(sb) ? reaper_health_entry_of(r, sb) : NULL;
                bool asked = e && !e->under_way && reaper_health_ask(e, sb) >= 0;

                (void) sandbox_unref(sb);
                if (asked)
                        break; /* one per tick */
        }
        if (h->next == h->n_queue) {
                h->n_queue = h->next = 0;
                return 0;
        }
        keep_pace(h);
        return 0;
}

static void forget_ended(Reaper *r) {
        HealthEntry *e, *next;

        HASH_ITER(hh, r->health->entries, e, next)
                if (!e->under_way && !sandbox_status_is_live(e->sandbox->status))
                        reaper_health_entry_free(e);
}

/* Starts a new round only when the last one is complete. */
void health_tick(Reaper *r) {
        Health *h = r->health;
        Sandbox *sb, *next;

        forget_ended(r);
        if (h->n_queue > 0)
                return;
        HASH_ITER(hh, r->manager->sandboxes, sb, next)
                if (is_worth_asking(sb) && reaper_health_enqueue(h, sb) < 0)
                        break;
        if (h->n_queue == 0)
                return;
        keep_pace(h);
}

unsigned health_unhealthy(const Reaper *r) {
        const HealthEntry *e, *next;
        unsigned n = 0;

        HASH_ITER(hh, r->health->entries, e, next)
                n += e->unhealthy && sandbox_status_is_live(e->sandbox->status);
        return n;
}

int health_new(Reaper *r) {
        int k;

        r->health = calloc(1, sizeof(*r->health));
        if (!r->health)
                return -ENOMEM;
        k = sd_event_add_time_relative(r->manager->event, &r->health->pace, CLOCK_MONOTONIC, 0, USEC_PER_MSEC, on_pace, r);
        return k < 0 ? k : sd_event_source_set_enabled(r->health->pace, SD_EVENT_OFF);
}

void health_free(Reaper *r) {
        HealthEntry *e, *next;

        if (!r->health)
                return;
        HASH_ITER(hh, r->health->entries, e, next) {
                sandbox_probe_forget(e->sandbox, e);
                reaper_health_entry_free(e);
        }
        sd_event_source_disable_unref(r->health->pace);
        for (size_t i = r->health->next; i < r->health->n_queue; i++)
                (void) sandbox_unref(r->health->queue[i]);
        free(r->health->queue);
        free(r->health);
        r->health = NULL;
}
