/* report.c: reports a run to the log and the store, and in numbers and alerts. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "reaper/internal.h"
#include "reaper/rows.h"

#define RUNS_KEPT      1000
#define NAMES_BYTES    8192 /* of the names of what was freed, in one row */
#define FAILURES_BYTES 8192

static const char *const kinds[_CLEANUP_KIND_MAX] = {
        [CLEANUP_SWEEP] = "sweep",
        [CLEANUP_AGE] = "age",
        [CLEANUP_PRESSURE] = "pressure",
        [CLEANUP_RECONCILE] = "reconcile",
        [CLEANUP_MANUAL] = "manual",
        [CLEANUP_EMERGENCY] = "emergency",
        [CLEANUP_HEALTH] = "health",
};
const ShapeNames cleanup_kind_names = SHAPE_WORDS(kinds);

static const char *const causes[_CLEANUP_CAUSE_MAX] = {
        [CLEANUP_BY_TIMER] = "timer",
        [CLEANUP_BY_EXECUTION] = "execution",
        [CLEANUP_BY_REQUEST] = "request",
};
const ShapeNames cleanup_cause_names = SHAPE_WORDS(causes);

static const char *const states[_CLEANUP_STATE_MAX] = {
        [CLEANUP_FOUND] = "found",
        [CLEANUP_PENDING] = "pending",
        [CLEANUP_DONE] = "removed",
        [CLEANUP_FAILED] = "failed",
};
const ShapeNames cleanup_state_names = SHAPE_WORDS(states);

/* The name of each rule, and its counter. */
static const struct {
        const char *name;
        size_t counter;
} rules[_RULE_MAX] = {
        [RULE_NONE]      = { "none",      0                                    },
        [RULE_ORPHANED]  = { "orphaned",  offsetof(CleanupCounts, orphaned)  },
        [RULE_STUCK]     = { "stuck",     offsetof(CleanupCounts, stuck)     },
        [RULE_OVERDUE]   = { "overdue",   offsetof(CleanupCounts, stuck)     },
        [RULE_OVERRUN]   = { "overrun",   offsetof(CleanupCounts, stuck)     },
        [RULE_UNENDED]   = { "unended",   offsetof(CleanupCounts, stuck)     },
        [RULE_OLD]       = { "old",       offsetof(CleanupCounts, old)       },
        [RULE_FAILED]    = { "failed",    offsetof(CleanupCounts, old)       },
        [RULE_AGED]      = { "aged",      offsetof(CleanupCounts, aged)      },
        [RULE_UNHEALTHY] = { "unhealthy", offsetof(CleanupCounts, unhealthy) },
        [RULE_PRESSURE]  = { "pressure",  offsetof(CleanupCounts, emergency) },
        [RULE_EMERGENCY] = { "emergency", offsetof(CleanupCounts, emergency) },
        [RULE_LOST]      = { "lost",      offsetof(CleanupCounts, lost)      },
        [RULE_STRAY]     = { "stray",     offsetof(CleanupCounts, strays)    },
        [RULE_FILE]      = { "file",      offsetof(CleanupCounts, files)     },
};

const char *cleanup_kind_name(CleanupKind k) {
        return shape_name(&cleanup_kind_names, (int) k);
}

const char *cleanup_cause_name(CleanupCause c) {
        return shape_name(&cleanup_cause_names, (int) c);
}

const char *cleanup_rule_name(CleanupRule r) {
        return r < _RULE_MAX ? rules[r].name : NULL;
}

const char *cleanup_state_name(CleanupState s) {
        return shape_name(&cleanup_state_names, (int) s);
}

void report_count(CleanupCounts *c, const CleanupItem *item) {
        c->found++;
        ++*(uint64_t *) (void *) ((char *) c + rules[item->rule].counter);
}

/* Every sweep is logged, which is every five minutes; other runs only if they did something, were requested, or
 * failed. */
static bool is_told(const ReaperRun *run) {
        return run->request.kind == CLEANUP_SWEEP || run->report.n_items > 0 || run->report.cause == CLEANUP_BY_REQUEST ||
                        run->report.error[0];
}

void report_begin(const ReaperRun *run) {
        if (run->request.kind == CLEANUP_SWEEP || run->report.cause == CLEANUP_BY_REQUEST)
                log_notice("Sandbox cleanup started (%s%s)", kinds[run->request.kind], run->request.dry_run ? ", dry run" : "");
}

void report_found(const ReaperRun *run) {
        if (!is_told(run))
                return;
        log_notice("Found %llu sandboxes to cleanup", (unsigned long long) run->report.counts.found);
        if (run->request.dry_run)
                for (size_t i = 0; i < run->report.n_items; i++)
                        log_debug("Would clean up %s (%s)", run->report.items[i]->name, run->report.items[i]->text);
}

void report_item(const ReaperRun *run, const CleanupItem *item) {
        if (item->state == CLEANUP_DONE)
                log_notice("Cleaned up %s (%s)", item->name, item->text);
        else
                log_warning("Failed to clean up %s (%s): %s", item->name, item->text, item->error);
}

/* The store */

typedef struct ReaperReportLines {
        char *text;
        size_t size, max;
} ReaperReportLines;

static void lines_add(ReaperReportLines *l, const char *format, ...) _printf_(2, 3);
static void lines_add(ReaperReportLines *l, const char *format, ...) {
        va_list ap;
        int n;

        if (!l->text)
                l->text = malloc(l->max);
        if (!l->text || l->size >= l->max)
                return;
        va_start(ap, format);
        n = vsnprintf(l->text + l->size, l->max - l->size, format, ap);
        va_end(ap);
        if (n < 0 || l->size + (size_t) n >= l->max) {
                l->text[l->size] = '\0'; /* only whole lines are kept */
                l->max = l->size;
        } else
                l->size += (size_t) n;
}

static void write_row(const ReaperRun *run) {
        const CleanupReport *p = &run->report;
        ReaperReportLines freed = { .max = NAMES_BYTES }, failures = { .max = FAILURES_BYTES };
        CleanupRow row = {
                .started_at = p->started_at,
                .duration_usec = p->duration,
                .counts = p->counts,
                .error = p->error[0] ? (char *) p->error : NULL,
        };
        int r;

        (void) snprintf(row.kind, sizeof(row.kind), "%s", kinds[p->kind]);
        (void) snprintf(row.cause, sizeof(row.cause), "%s", causes[p->cause]);
        for (size_t i = 0; i < p->n_items; i++) {
                if (p->items[i]->state == CLEANUP_DONE)
                        lines_add(&freed, "%s\n", p->items[i]->name);
                else if (p->items[i]->state == CLEANUP_FAILED)
                        lines_add(&failures, "%s: %s\n", p->items[i]->name, p->items[i]->error);
        }
        row.freed = freed.text;
        row.failures = failures.text;
        r = store_cleanup_add(run->reaper->manager->store, &row, RUNS_KEPT);
        if (r < 0)
                log_warning("cannot write the report of a clean-up, ignoring: %s", strerror(-r));
        free(freed.text);
        free(failures.text);
}

/* Totals are kept longer than the runs. */
static const char *total_name(const ShapeField *f, char ret[static 32]) {
        (void) snprintf(ret, 32, "cleanup_%s", f->column);
        return ret;
}

void report_load(Reaper *r) {
        Store *s = r->manager->store;
        char name[32];

        for (size_t i = 0; i < cleanup_counts_shape.n_fields; i++) {
                const ShapeField *f = cleanup_counts_shape.fields + i;

                (void) store_counter_get(s, total_name(f, name), shape_at(f, &r->totals));
        }
        (void) store_counter_get(s, "cleanup_runs", &r->total_runs);
        (void) store_counter_get(s, "cleanup_runs_failed", &r->total_failed_runs);
}

static void write_totals(Reaper *r, const ReaperRun *run, bool failed) {
        Store *s = r->manager->store;
        char name[32];

        for (size_t i = 0; i < cleanup_counts_shape.n_fields; i++) {
                const ShapeField *f = cleanup_counts_shape.fields + i;
                int64_t n = shape_get(f, &run->report.counts);

                if (n == 0)
                        continue;
                (void) shape_set(f, &r->totals, shape_get(f, &r->totals) + n);
                store_may_lose(store_counter_set(s, total_name(f, name), (uint64_t) shape_get(f, &r->totals)), "a total");
        }
        store_may_lose(store_counter_set(s, "cleanup_runs", ++r->total_runs), "a total");
        if (failed)
                store_may_lose(store_counter_set(s, "cleanup_runs_failed", ++r->total_failed_runs), "a total");
}

static void note_failures(Reaper *r, const ReaperRun *run) {
        for (size_t i = 0; i < run->report.n_items; i++)
                if (run->report.items[i]->state == CLEANUP_FAILED)
                        r->failures[r->n_failures++ % FAILURES_KEPT] = clock_usec();
}

static void raise_alerts(Reaper *r, const ReaperRun *run) {
        const CleanupReport *p = &run->report;

        if (p->error[0])
                reaper_alert(r, "cleanup-failed", "%s: %s", kinds[p->kind], p->error);
        else if (p->counts.failed > 0)
                reaper_alert(r, "cleanup-failed", "%s: %llu of %llu could not be cleaned up", kinds[p->kind],
                                (unsigned long long) p->counts.failed, (unsigned long long) p->counts.found);
        for (size_t i = 0; i < p->n_items && !p->dry_run; i++)
                if (rules[p->items[i]->rule].counter == offsetof(CleanupCounts, stuck))
                        reaper_alert(r, "stuck", "sandbox %s: %s", p->items[i]->name, p->items[i]->text);
}

void report_end(ReaperRun *run) {
        Reaper *r = run->reaper;
        const CleanupReport *p = &run->report;
        bool failed = p->error[0] || p->counts.failed > 0;

        if (p->error[0])
                log_warning("Cleanup failed (%s): %s", kinds[p->kind], p->error);
        if (is_told(run))
                log_notice("Cleanup completed: %llu sandboxes removed%s (%llu scanned, %llu failed, %.1f ms)",
                                (unsigned long long) p->counts.removed, p->dry_run ? ", dry run" : "",
                                (unsigned long long) p->counts.scanned, (unsigned long long) p->counts.failed,
                                (double) p->duration / 1000);
        if (p->dry_run)
                return;
        note_failures(r, run);
        if (p->kind == CLEANUP_SWEEP || p->n_items > 0 || failed || p->cause == CLEANUP_BY_REQUEST) {
                (void) store_begin(r->manager->store);
                write_row(run);
                write_totals(r, run, failed);
                if (store_commit(r->manager->store) < 0)
                        log_warning("cannot write the totals of clean-ups, ignoring");
        }
        raise_alerts(r, run);
}

int reaper_history(const Reaper *r, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata) {
        return store_cleanup_each(r->manager->store, limit, each, userdata);
}
