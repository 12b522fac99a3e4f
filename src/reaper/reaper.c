#include "reaper/reaper.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "reaper/internal.h"

#define SOON (100 * USEC_PER_MSEC) /* before the rest of the work, so that others get their turn */

usec_t layer_interval(const Reaper *r, CleanupKind kind) {
        const CleanupConfig *c = &r->manager->settings->cleanup;

        switch (kind) {
        case CLEANUP_SWEEP: return c->sweep_interval_usec;
        case CLEANUP_AGE: return c->age_interval_usec;
        case CLEANUP_PRESSURE: return c->pressure_interval_usec;
        case CLEANUP_RECONCILE: return c->reconcile_interval_usec;
        case CLEANUP_HEALTH: return c->health_checks ? c->health_interval_usec : 0;
        default: return 0;
        }
}

void reaper_alert(Reaper *r, const char *kind, const char *format, ...) {
        char text[CLEANUP_TEXT_MAX * 2];
        va_list ap;

        if (!r->alert)
                return;
        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        r->alert(kind, text, r->alert_userdata);
}

void reaper_set_alert(Reaper *r, ReaperAlert alert, void *userdata) {
        r->alert = alert;
        r->alert_userdata = userdata;
}

void reaper_set_run_over(Reaper *r, void (*over)(const CleanupReport *report, void *userdata), void *userdata) {
        r->sweep_run_over = over;
        r->run_over_userdata = userdata;
}

/* Timers */

static int reaper_on_layer(sd_event_source *source, uint64_t usec, void *userdata);

static Reaper *reaper_of(Layer *l) {
        return (Reaper *) (void *) ((char *) (l - l->kind) - offsetof(Reaper, layers));
}

static void layer_arm(Layer *l, usec_t in) {
        Reaper *r = reaper_of(l);
        usec_t interval = layer_interval(r, l->kind);

        l->timer = sd_event_source_disable_unref(l->timer);
        l->due = 0;
        if (interval == 0)
                return;
        in = MIN_OF(in, interval);
        l->due = clock_usec() + in;
        if (sd_event_add_time_relative(r->manager->event, &l->timer, CLOCK_MONOTONIC, in, MAX_OF(in / SLACK, (usec_t) 1), reaper_on_layer, l) < 0)
                log_error("clean-up (%s): cannot set its timer", cleanup_kind_name(l->kind));
}

static int reaper_begin(Reaper *r, const CleanupRequest *q, CleanupCause cause, CleanupDone done, void *userdata) {
        Layer *l = &r->layers[q->kind];
        ReaperRun *run;
        int k;

        k = sweep_run_new(r, q, cause, &run);
        if (k < 0)
                return k;
        if (cause != CLEANUP_BY_REQUEST) {
                l->running = true;
                run->n_max = MAX_OF(r->manager->settings->cleanup.batch_size, 1u);
        }
        run->done = done;
        run->userdata = userdata;
        l->began = run->began;
        run->blind = !judge_self_test(judge_sandbox, r->manager->settings, r->blind_text);
        r->blind = run->blind;
        if (run->blind)
                sweep_run_fail(run, r->blind_text);
        report_begin(run);
        k = sweep_run_snapshot(run);
        if (k >= 0 && q->kind == CLEANUP_RECONCILE)
                k = reconcile_begin(run);
        if (k >= 0 && q->kind == CLEANUP_PRESSURE)
                pressure_scan(run);
        if (k < 0) {
                sweep_run_fail(run, strerror(-k));
                run->phase = RUN_WAIT; /* it is reported like every run */
                sweep_run_go(run);
        }
        if (r->blind && !r->told_blind)
                reaper_alert(r, "cleanup-blind", "%s", r->blind_text);
        r->told_blind = r->blind;
        return 0;
}

static bool pressure_due(Reaper *r) {
        bool was = r->pressure.over;

        pressure_read(r->manager, &r->pressure);
        if (!pressure_is_over(r->manager->settings, &r->pressure)) {
                if (was)
                        log_notice("pressure is over");
                r->pressure_quiet = 0;
                return false;
        }
        if (!was)
                log_warning("pressure: %s", r->pressure.text);
        return clock_usec() >= r->pressure_quiet_until;
}

/* Records that a layer has run, although it had nothing to do. */
static void layer_looked(Layer *l) {
        l->began = clock_usec();
        l->last_at = clock_wall_usec();
        l->last_duration = 0;
        l->last_ok = true;
        l->error[0] = '\0';
        l->results[l->n_runs++ % HISTORY_LENGTH] = true;
}

static void layer_begin(Reaper *r, CleanupKind kind, CleanupCause cause) {
        Layer *l = &r->layers[kind];
        int k;

        if (l->running)
                return;
        if (kind == CLEANUP_HEALTH) {
                health_tick(r);
                layer_looked(l);
                return;
        }
        if (kind == CLEANUP_PRESSURE && !pressure_due(r)) {
                layer_looked(l);
                return;
        }
        k = reaper_begin(r, &(CleanupRequest) { .kind = kind }, cause, NULL, NULL);
        if (k < 0)
                log_warning("clean-up (%s) cannot begin: %s", cleanup_kind_name(kind), strerror(-k));
}

/* Layers watch each other: if a timer was lost, the next layer that runs notices. */
static void watch_layers(Reaper *r) {
        for (CleanupKind k = 0; k < _CLEANUP_KIND_MAX; k++) {
                Layer *l = &r->layers[k];
                usec_t late = layer_lateness(r, l), interval = layer_interval(r, k);

                if (late <= interval) {
                        l->told_late = false;
                        continue;
                }
                if (!l->told_late) {
                        log_warning("clean-up (%s) is late by %llu ms", cleanup_kind_name(k), (unsigned long long) late / 1000);
                        reaper_alert(r, "cleanup-late", "%s is late by %.1f s", cleanup_kind_name(k), (double) late / USEC_PER_SEC);
                }
                l->told_late = true;
                if (!l->running)
                        layer_arm(l, SOON);
        }
}

static int reaper_on_layer(sd_event_source *source, uint64_t usec, void *userdata) {
        Layer *l = userdata;
        Reaper *r = reaper_of(l);

        if (r->manager->recovering)
                layer_arm(l, SOON);
        else {
                layer_arm(l, USEC_INFINITY);
                layer_begin(r, l->kind, CLEANUP_BY_TIMER);
                watch_layers(r);
        }
        return 0;
}

void layer_over(Reaper *r, const ReaperRun *run) {
        Layer *l = &r->layers[run->request.kind];
        const CleanupReport *p = &run->report;
        bool ok = !p->error[0] && p->counts.failed == 0;

        if (p->dry_run)
                return;
        if (p->cause != CLEANUP_BY_REQUEST)
                l->running = false;
        l->last_at = p->started_at;
        l->last_duration = p->duration;
        l->last_ok = ok;
        memcpy(l->error, p->error, sizeof(l->error));
        if (!ok && !p->error[0])
                (void) snprintf(l->error, sizeof(l->error), "%llu of %llu could not be cleaned up", (unsigned long long) p->counts.failed,
                                (unsigned long long) p->counts.found);
        l->results[l->n_runs++ % HISTORY_LENGTH] = ok;
        l->n_failed += !ok;
        r->results[r->n_results++ % HISTORY_LENGTH] = ok;
        if (r->sweep_run_over)
                r->sweep_run_over(p, r->run_over_userdata);
        if (p->kind == CLEANUP_PRESSURE)
                pressure_after(r, run);
        else if (p->counts.deferred > 0 && p->counts.removed > 0 && p->cause != CLEANUP_BY_REQUEST)
                layer_arm(l, SOON);
}

/* Opportunity: an execution has ended, and a sweep may be due. Never run within the callback of the end. */

static int reaper_on_kick(sd_event_source *source, void *userdata) {
        Reaper *r = userdata;

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        layer_arm(&r->layers[CLEANUP_SWEEP], USEC_INFINITY);
        layer_begin(r, CLEANUP_SWEEP, CLEANUP_BY_EXECUTION);
        return 0;
}

static void reaper_on_execution_ended(Execution *x, void *userdata) {
        Reaper *r = userdata;
        const Layer *l = &r->layers[CLEANUP_SWEEP];

        if (l->due != 0 && clock_usec() >= l->due && !l->running)
                (void) sd_event_source_set_enabled(r->kick, SD_EVENT_ONESHOT);
}

/* Creation and destruction */

DEFINE_CLEANUP(Reaper, reaper_free)

int reaper_new(Manager *m, Reaper **ret, Error *reterr) {
        _cleanup_(reaper_freep) Reaper *r = calloc(1, sizeof(*r));
        int k;

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        *r = (Reaper) {
                .manager = m,
                .patience = ITEM_PATIENCE,
                .pressure = { .memory_usage = NAN, .disk_usage = NAN, .places_usage = NAN, .psi = NAN },
        };
        report_load(r);
        k = sd_event_add_defer(m->event, &r->kick, reaper_on_kick, r);
        if (k >= 0)
                k = sd_event_source_set_enabled(r->kick, SD_EVENT_OFF);
        if (k >= 0)
                k = health_new(r);
        if (k < 0)
                return error_set(reterr, k, "cannot set up the clean-up: %m");
        for (CleanupKind kind = 0; kind < _CLEANUP_KIND_MAX; kind++) {
                r->layers[kind].kind = kind;
                r->layers[kind].last_ok = true;
        }
        reaper_reload(r);
        r->observer = (CoreObserver) { .execution_ended = reaper_on_execution_ended, .userdata = r };
        manager_observe(m, &r->observer);
        *ret = TAKE_PTR(r);
        return 0;
}

/* A due time is kept: repeated reloads must not delay a layer forever. */
void reaper_reload(Reaper *r) {
        usec_t now = clock_usec();

        for (CleanupKind kind = 0; kind < _CLEANUP_KIND_MAX; kind++) {
                Layer *l = &r->layers[kind];
                usec_t due = l->due;

                if (due == 0)
                        l->began = now; /* the interval begins here */
                layer_arm(l, due == 0 ? USEC_INFINITY : due > now ? due - now : 0);
        }
}

Reaper *reaper_free(Reaper *r) {
        if (!r)
                return NULL;
        manager_unobserve(r->manager, &r->observer);
        while (r->runs)
                sweep_run_free(r->runs);
        for (CleanupKind kind = 0; kind < _CLEANUP_KIND_MAX; kind++)
                sd_event_source_disable_unref(r->layers[kind].timer);
        sd_event_source_disable_unref(r->kick);
        diagnosis_free(r);
        health_free(r);
        free(r);
        return NULL;
}

int reaper_run(Reaper *r, const CleanupRequest *q, CleanupDone done, void *userdata, Error *reterr) {
        int k = reaper_begin(r, q, CLEANUP_BY_REQUEST, done, userdata);

        return k < 0 ? error_set(reterr, k, "the clean-up cannot begin: %m") : 0;
}

void reaper_forget(Reaper *r, void *userdata) {
        ReaperRun *run;

        DL_FOREACH(r->runs, run)
                if (run->userdata == userdata)
                        run->done = NULL;
        health_forget(r, userdata);
        diagnosis_forget(r, userdata);
}
