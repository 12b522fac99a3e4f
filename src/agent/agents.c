#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "agent/internal.h"
#include "base/array.h"
#include "base/log.h"
#include "config/config.h"
#include "core/admission.h"
#include "agent/rows.h"

#define START_EVERY   (10 * USEC_PER_MSEC)
#define PAUSE_LEAST   (10 * USEC_PER_SEC) /* lower bound of the longest pause */
#define EXPIRE_MAX    (3600 * USEC_PER_SEC)
#define EXPIRE_MIN    (100 * USEC_PER_MSEC)
#define EXPIRE_BATCH  200
#define ACCURACY      (1 * USEC_PER_MSEC)

static void arm_expiry(Agents *a, usec_t in);

/* The pump: starts as many executions as may run. */

static unsigned concurrency(const Agents *a) {
        const Manager *m = a->manager;

        if (m->settings->agents.concurrency > 0)
                return m->settings->agents.concurrency;
        return m->admission ? admission_cap(m->admission) : m->config.sandboxes_max;
}

bool agents_have_room(const Agents *a) {
        return a->n_slots < concurrency(a);
}

static int agents_on_wake(sd_event_source *source, uint64_t usec, void *userdata) {
        agents_pump(userdata);
        return 0;
}

static void arm_wake(Agents *a, usec_t next) {
        usec_t now = clock_usec();

        a->wake = sd_event_source_disable_unref(a->wake);
        if (next == USEC_INFINITY)
                return;
        (void) sd_event_add_time_relative(a->manager->event, &a->wake, CLOCK_MONOTONIC, next > now ? next - now : 0, ACCURACY, agents_on_wake, a);
}

static int on_pump(sd_event_source *source, void *userdata) {
        Agents *a = userdata;
        QueueEntry e;
        usec_t next = queue_admit(a->queue, clock_usec());

        while (a->held && agents_have_room(a))
                run_go_on(a->held);
        while (!a->manager->stopping && agents_have_room(a) && queue_take(a->queue, &e))
                (void) run_start(a, &e);
        next = MIN_OF(next, queue_admit(a->queue, clock_usec()));
        arm_wake(a, next);
        return 0;
}

void agents_pump(Agents *a) {
        if (a->up)
                (void) sd_event_source_set_enabled(a->pump, SD_EVENT_ONESHOT);
}

void agents_reload(Agents *a) {
        agents_pump(a);
}

/* The row has wall-clock times, and the clock may be set. So from here on only the waiting time counts, and a
 * pause is limited to the longest one that is ever given. */
void agents_enqueue(Agents *a, const Job *j) {
        usec_t now = clock_usec(), wall = clock_wall_usec();
        usec_t waits = wall > j->queued_at ? MIN_OF(wall - j->queued_at, now) : 0;
        usec_t pause = j->not_before > wall ? MIN_OF(j->not_before - wall, MAX_OF(a->manager->settings->agents.backoff_max_usec, PAUSE_LEAST)) : 0;
        int r = queue_add(a->queue, j->id, j->sandbox.tenant, j->sandbox.profile, j->serial, j->priority, now - waits,
                        pause > 0 ? now + pause : 0);

        if (r < 0)
                log_error("agent execution %s: cannot be queued before the next start: %s", j->id, strerror(-r));
        for (AgentObserver *o = a->observers; o; o = o->next)
                if (o->queued)
                        o->queued(j, o->userdata);
        agents_pump(a);
}

void agents_tell_forgotten(Agents *a, const Job *j) {
        for (AgentObserver *o = a->observers; o; o = o->next)
                if (o->forgotten)
                        o->forgotten(j, o->userdata);
}

void agents_tell_began(Agents *a, const Job *j, usec_t waited) {
        for (AgentObserver *o = a->observers; o; o = o->next)
                if (o->began)
                        o->began(j, waited, o->userdata);
}

/* Watching. */

void agents_watch(Agents *a, const char *id, AgentWatch *watch) {
        watch->agents = a;
        (void) memset(watch->id, 0, sizeof(watch->id));
        memcpy(watch->id, id, strnlen(id, JOB_ID_LENGTH));
        DL_APPEND(a->watches, watch);
}

void agents_unwatch(AgentWatch *watch) {
        if (!watch->agents)
                return;
        DL_DELETE(watch->agents->watches, watch);
        watch->agents = NULL;
}

void agents_set_advice(Agents *a, AgentAdvice advice, void *userdata) {
        a->advice = advice;
        a->advice_data = userdata;
}

void agents_observe(Agents *a, AgentObserver *o) {
        o->next = a->observers;
        a->observers = o;
}

static void count_end(Agents *a, const Job *j) {
        switch (j->status) {
        case JOB_COMPLETED: a->counts.completed++; break;
        case JOB_FAILED: a->counts.failed++; break;
        case JOB_CANCELLED: a->counts.cancelled++; break;
        case JOB_DEAD:
                a->counts.died++;
                a->n_dead++;
                break;
        default: return;
        }
        for (AgentObserver *o = a->observers; o; o = o->next)
                if (o->ended)
                        o->ended(j, o->userdata);
}

/* A watch may remove itself, and no other. */
void agents_tell(Agents *a, const Job *j) {
        AgentWatch *w, *next;

        DL_FOREACH_SAFE(a->watches, w, next)
                if (strcmp(w->id, j->id) == 0)
                        w->changed(j->id, j->status, w->userdata);
        count_end(a, j);
}

Run *agents_run(Agents *a, const char *id) {
        Run *run;

        HASH_FIND_STR(a->runs, id, run);
        return run;
}

/* Loads the executions of the store, once the recovery of sandboxes is complete. */

typedef struct Taken {
        Agents *agents;
        char (*rejoin)[JOB_ID_LENGTH + 1];
        size_t n, room;
} Taken;

static int take_up(Job *row, void *userdata) {
        Taken *t = userdata;

        if (row->status == JOB_QUEUED) {
                agents_enqueue(t->agents, row);
                return 0;
        }
        if (ARRAY_RESERVE(t->rejoin, t->room, t->n + 1) < 0)
                return -ENOMEM;
        memcpy(t->rejoin[t->n++], row->id, sizeof(row->id));
        return 0;
}

void agents_take_up(Agents *a) {
        Taken t = { .agents = a };
        int r;

        a->up = true;
        a->start = sd_event_source_disable_unref(a->start);
        r = store_job_each_open(a->manager->store, take_up, &t);
        if (r < 0)
                log_error("agents: cannot resume queued executions: %s", strerror(-r));
        for (size_t i = 0; i < t.n; i++) {
                r = run_rejoin(a, t.rejoin[i]);
                if (r < 0)
                        log_error("agent execution %s: cannot be rejoined: %s", t.rejoin[i], strerror(-r));
        }
        if (queue_size(a->queue) + t.n > 0)
                log_notice("agents: %zu queued, %zu rejoined", queue_size(a->queue), t.n);
        free(t.rejoin);
        agents_end_strays(a);
        webhooks_resume(a);
        arm_expiry(a, EXPIRE_MIN);
        agents_pump(a);
}

/* Expiry: deletes old executions, a few at a time. */

typedef struct Expired {
        char ids[EXPIRE_BATCH][JOB_ID_LENGTH + 1];
        size_t n;
} Expired;

static int take_expired(Job *row, void *userdata) {
        Expired *e = userdata;

        memcpy(e->ids[e->n++], row->id, sizeof(row->id));
        return e->n < EXPIRE_BATCH ? 0 : -ENOBUFS;
}

static int agents_on_expiry(sd_event_source *source, uint64_t usec, void *userdata) {
        Agents *a = userdata;
        usec_t keep = a->manager->settings->agents.keep_usec, now = clock_wall_usec();
        Expired e = { .n = 0 };
        size_t n = 0;

        if (keep > 0 && now > keep && manager_trusts_calendar(a->manager))
                (void) store_job_each_expired(a->manager->store, now - keep, EXPIRE_BATCH, take_expired, &e);
        for (size_t i = 0; i < e.n; i++) {
                Error error = { 0 };

                if (agents_delete(a, &principal_daemon, e.ids[i], &error) < 0) {
                        log_warning("agent execution %s: cannot be forgotten: %s", e.ids[i], error.text);
                        break; /* the others would fail too, as on a full disk */
                }
                n++;
        }
        arm_expiry(a, n == EXPIRE_BATCH ? EXPIRE_MIN : MAX_OF(MIN_OF(keep / 10, EXPIRE_MAX), EXPIRE_MIN));
        return 0;
}

static void arm_expiry(Agents *a, usec_t in) {
        a->expiry = sd_event_source_disable_unref(a->expiry);
        (void) sd_event_add_time_relative(a->manager->event, &a->expiry, CLOCK_MONOTONIC, in, USEC_PER_SEC, agents_on_expiry, a);
}

/* Start and end. */

static int agents_on_start(sd_event_source *source, uint64_t usec, void *userdata) {
        Agents *a = userdata;

        if (a->manager->recovering) { /* sandboxes are still being recovered */
                (void) sd_event_source_set_time_relative(source, START_EVERY);
                return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        agents_take_up(a);
        return 0;
}

int agents_new(Manager *m, Deliveries *deliveries, Artifacts *artifacts, Agents **ret, Error *reterr) {
        Agents *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return error_set(reterr, -ENOMEM, "out of memory");
        a->manager = m;
        a->deliveries = deliveries;
        a->artifacts = artifacts;
        r = queue_new(&a->queue);
        if (r >= 0)
                r = store_job_count_dead(m->store, NULL, &a->n_dead);
        if (r >= 0)
                r = sd_event_add_defer(m->event, &a->pump, on_pump, a);
        if (r >= 0)
                r = sd_event_source_set_enabled(a->pump, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &a->start, CLOCK_MONOTONIC, 0, ACCURACY, agents_on_start, a);
        if (r < 0) {
                (void) agents_free(a);
                return error_set(reterr, r, "cannot make the queue of agent executions: %m");
        }
        *ret = a;
        return 0;
}

Agents *agents_free(Agents *a) {
        AgentWatch *w, *next_watch;
        Run *run, *next;

        if (!a)
                return NULL;
        DL_FOREACH_SAFE(a->watches, w, next_watch)
                agents_unwatch(w);
        HASH_ITER(hh, a->runs, run, next)
                (void) run_free(run);
        webhooks_free(a);
        sd_event_source_disable_unref(a->start);
        sd_event_source_disable_unref(a->pump);
        sd_event_source_disable_unref(a->wake);
        sd_event_source_disable_unref(a->expiry);
        queue_free(a->queue);
        free(a);
        return NULL;
}
