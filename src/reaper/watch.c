/* watch.c: the state of the cleaners: lateness, success rates, faults. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/tally.h"
#include "reaper/internal.h"

#define RUN_MAX (60 * USEC_PER_SEC) /* no run waits longer for the ends that it has requested */
#define HOUR    (3600 * USEC_PER_SEC)

usec_t layer_lateness(const Reaper *r, const Layer *l) {
        usec_t interval = layer_interval(r, l->kind), ago = clock_usec() - l->began;
        usec_t allowed = interval + interval / SLACK + (l->running ? RUN_MAX : 0);

        return interval == 0 || ago <= allowed + USEC_PER_SEC ? 0 : ago - interval;
}

static double watch_rate(const bool *results, uint64_t n) {
        uint64_t kept = MIN_OF(n, (uint64_t) HISTORY_LENGTH), good = 0;

        for (uint64_t i = 0; i < kept; i++)
                good += results[i];
        return kept > 0 ? (double) good / (double) kept : NAN;
}

static void layer_status(const Reaper *r, const Layer *l, LayerStatus *ret) {
        usec_t now = clock_usec();

        *ret = (LayerStatus) {
                .kind = l->kind,
                .interval = layer_interval(r, l->kind),
                .last_at = l->last_at,
                .last_duration = l->last_duration,
                .next_in = l->due > now ? l->due - now : 0,
                .late = layer_lateness(r, l),
                .running = l->running,
                .last_ok = l->last_ok,
                .success_rate = watch_rate(l->results, l->n_runs),
                .n_runs = l->n_runs,
                .n_failed = l->n_failed,
        };
        memcpy(ret->error, l->error, sizeof(ret->error));
}

static void find_faults(const Reaper *r, ReaperStatus *s) {
        for (CleanupKind k = 0; k < _CLEANUP_KIND_MAX; k++) {
                const LayerStatus *l = &s->layers[k];

                if (l->late > l->interval) {
                        s->faults |= REAPER_NOT_RUNNING;
                        (void) snprintf(s->fault_text, sizeof(s->fault_text), "%s has not run for %.1f s", cleanup_kind_name(k),
                                        (double) (l->late + l->interval) / USEC_PER_SEC);
                }
                if (!l->last_ok && !r->blind) {
                        s->faults |= REAPER_FAILING;
                        (void) snprintf(s->fault_text, sizeof(s->fault_text), "%s: %.200s", cleanup_kind_name(k), l->error);
                }
        }
        if (r->blind) {
                s->faults |= REAPER_BLIND;
                (void) snprintf(s->fault_text, sizeof(s->fault_text), "%.250s", r->blind_text);
        }
}

void reaper_status(const Reaper *r, ReaperStatus *ret) {
        *ret = (ReaperStatus) {
                .pressure = r->pressure,
                .totals = r->totals,
                .total_runs = r->total_runs,
                .total_failed_runs = r->total_failed_runs,
                .orphaned = (unsigned) reaper_orphaned(r),
                .stuck = (unsigned) reaper_stuck(r),
                .unhealthy = health_unhealthy(r),
                .failures_last_hour = (uint64_t) reaper_item_failures(r),
        };
        for (CleanupKind k = 0; k < _CLEANUP_KIND_MAX; k++)
                layer_status(r, &r->layers[k], &ret->layers[k]);
        find_faults(r, ret);
}

double reaper_lateness(const Reaper *r) {
        return (double) layer_lateness(r, &r->layers[CLEANUP_SWEEP]) / (double) USEC_PER_SEC;
}

double reaper_failure_rate(const Reaper *r) {
        double good = watch_rate(r->results, r->n_results);

        return isnan(good) ? NAN : 1 - good;
}

double reaper_item_failures(const Reaper *r) {
        uint64_t kept = MIN_OF(r->n_failures, (uint64_t) FAILURES_KEPT), n = 0;
        usec_t now = clock_usec();

        for (uint64_t i = 0; i < kept; i++)
                n += now - r->failures[i] < HOUR;
        return (double) n;
}

/* Nothing is stuck that does not run, is not ending, and has no time limit. */
double reaper_stuck(const Reaper *r) {
        return judge_count(r->manager, RULES_STUCK);
}

double reaper_orphaned(const Reaper *r) {
        return tally_of_all(r->manager).n_by_status[SANDBOX_INITIALIZING] == 0 ? 0 : judge_count(r->manager, RULE_BIT(RULE_ORPHANED));
}

double reaper_unhealthy(const Reaper *r) {
        return health_unhealthy(r);
}
