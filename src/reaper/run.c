/* run.c: one run of a layer.
 *
 *      scan    judges every record, a slice per turn of the loop; a sandbox that breaks a rule becomes an item
 *      act     judges each item again, because time has passed, and requests its end; a slice per turn
 *      wait    until every requested end has come, or is overdue: then the item has failed
 *      report  once
 *
 * A record may be deleted at any moment between two slices. So each item is looked up by its id, and an item that does
 * not exist any more is done. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/array.h"
#include "base/log.h"
#include "core/turn.h"
#include "reaper/internal.h"

#define ROOM_AT_FIRST 64

static int on_work(sd_event_source *source, uint64_t usec, void *userdata);
static int reaper_run_on_patience(sd_event_source *source, uint64_t usec, void *userdata);

DEFINE_CLEANUP(ReaperRun, sweep_run_free)

int sweep_run_new(Reaper *r, const CleanupRequest *q, CleanupCause cause, ReaperRun **ret) {
        _cleanup_(sweep_run_freep) ReaperRun *run = calloc(1, sizeof(*run));
        int k;

        if (!run)
                return -ENOMEM;
        run->reaper = r;
        run->request = *q;
        run->report = (CleanupReport) {
                .kind = q->kind,
                .cause = cause,
                .dry_run = q->dry_run,
                .started_at = clock_wall_usec(),
        };
        run->began = clock_usec();
        run->n_max = CLEANUP_ITEMS_MAX;
        judge_for(r, q, &run->judge);
        DL_APPEND(r->runs, run);
        k = turn_new(r->manager->event, &run->work, on_work, run);
        if (k >= 0)
                k = sd_event_add_time_relative(r->manager->event, &run->patience, CLOCK_MONOTONIC, r->patience, 0, reaper_run_on_patience, run);
        if (k >= 0)
                k = sd_event_source_set_enabled(run->patience, SD_EVENT_OFF);
        if (k < 0)
                return k;
        sweep_run_go(run);
        *ret = TAKE_PTR(run);
        return 0;
}

ReaperRun *sweep_run_free(ReaperRun *run) {
        if (!run)
                return NULL;
        DL_DELETE(run->reaper->runs, run);
        reconcile_free(run);
        sd_event_source_disable_unref(run->work);
        sd_event_source_disable_unref(run->patience);
        for (size_t i = 0; i < run->report.n_items; i++) {
                RunItem *item = (RunItem *) run->report.items[i];

                sandbox_unwatch(&item->watch);
                free(item);
        }
        free(run->report.items);
        for (size_t i = 0; i < run->n_records; i++)
                (void) sandbox_unref(run->records[i]);
        free(run->records);
        free(run);
        return NULL;
}

static int compare_births(const void *a, const void *b) {
        const Sandbox *x = *(Sandbox *const *) a, *y = *(Sandbox *const *) b;

        if (x->created_at != y->created_at)
                return x->created_at < y->created_at ? -1 : 1;
        return strcmp(x->id, y->id);
}

static bool is_behind(const Sandbox *sb, const SandboxBirth *cursor) {
        return sb->created_at != cursor->at ? sb->created_at > cursor->at : strcmp(sb->id, cursor->id) > 0;
}

/* Oldest first. A sweep begins behind the last record that it has acted upon, so that sandboxes that cannot be
 * cleaned up do not block the others. The table is in order of creation unless the clock was set back. */
int sweep_run_snapshot(ReaperRun *run) {
        Manager *m = run->reaper->manager;
        size_t n = HASH_COUNT(m->sandboxes), k = 0, first = 0;
        Sandbox *sb, *next, **all = malloc((n + 1) * sizeof(*all));

        run->records = calloc(n + 1, sizeof(*run->records));
        if (!all || !run->records) {
                free(all);
                return -ENOMEM;
        }
        HASH_ITER(hh, m->sandboxes, sb, next)
                all[k++] = sb;
        if (m->out_of_order)
                qsort(all, n, sizeof(*all), compare_births);
        if (run->request.kind == CLEANUP_SWEEP)
                while (first < n && !is_behind(all[first], &run->reaper->cursor))
                        first++;
        for (size_t i = 0; i < n; i++)
                run->records[i] = sandbox_ref(all[(first + i) % n]);
        free(all);
        run->n_records = n;
        return 0;
}

RunItem *sweep_run_add(ReaperRun *run, const char *name, CleanupRule rule, const char *text) {
        CleanupReport *report = &run->report;
        RunItem *item;

        if (ARRAY_RESERVE(report->items, run->items_room, report->n_items + 1) < 0)
                return NULL;
        item = calloc(1, sizeof(*item));
        if (!item)
                return NULL;
        item->run = run;
        item->item.rule = rule;
        (void) snprintf(item->item.name, sizeof(item->item.name), "%s", name);
        (void) snprintf(item->item.text, sizeof(item->item.text), "%s", text);
        report->items[report->n_items++] = &item->item;
        report_count(&report->counts, &item->item);
        return item;
}

void sweep_run_go(ReaperRun *run) {
        (void) turn_again(run->work);
}

void sweep_run_pause(ReaperRun *run) {
        (void) sd_event_source_set_enabled(run->work, SD_EVENT_OFF);
}

void sweep_run_fail(ReaperRun *run, const char *text) {
        if (run->report.error[0] == '\0')
                (void) snprintf(run->report.error, sizeof(run->report.error), "%s", text);
}

/* Scan */

static void reaper_run_look_at(ReaperRun *run, const Sandbox *sb) {
        char text[CLEANUP_TEXT_MAX];
        CleanupRule rule;

        if (sandbox_is_gone(sb))
                return;
        run->report.counts.scanned++;
        rule = judge_sandbox(&run->judge, sb, text);
        if (rule == RULE_NONE)
                return;
        if (run->report.n_items >= run->n_max) {
                run->report.counts.found++;
                run->report.counts.deferred++;
        } else if (!sweep_run_add(run, sb->id, rule, text))
                sweep_run_fail(run, "out of memory while selecting sandboxes to remove");
}

static bool scan_slice(ReaperRun *run) {
        usec_t until = clock_usec() + SLICE_USEC;

        run->judge.settings = run->reaper->manager->settings; /* the settings may have been reloaded since the last slice */
        for (unsigned n = 0; n < SLICE_ITEMS && run->next_record < run->n_records; n++) {
                reaper_run_look_at(run, run->records[run->next_record++]);
                if (n % 8 == 7 && clock_usec() >= until)
                        break;
        }
        return run->next_record == run->n_records;
}

void sweep_run_act(ReaperRun *run) {
        report_found(run);
        run->phase = RUN_ACT;
        if (run->request.dry_run || run->blind) {
                run->phase = RUN_WAIT;
                run->next_item = run->report.n_items;
        }
        (void) sd_event_source_set_time_relative(run->patience, run->reaper->patience);
        (void) sd_event_source_set_enabled(run->patience, SD_EVENT_ONESHOT);
        sweep_run_go(run);
}

static void reaper_run_finish(ReaperRun *run) {
        CleanupDone done = run->done;
        void *userdata = run->userdata;

        run->phase = RUN_OVER;
        run->report.duration = clock_usec() - run->began;
        report_end(run);
        layer_over(run->reaper, run);
        if (done)
                done(&run->report, userdata);
        sweep_run_free(run);
}

static bool has_strays(const ReaperRun *run) {
        for (size_t i = 0; i < run->report.n_items; i++)
                if (run->report.items[i]->rule == RULE_STRAY && run->report.items[i]->state == CLEANUP_PENDING)
                        return true;
        return false;
}

static int on_work(sd_event_source *source, uint64_t usec, void *userdata) {
        ReaperRun *run = userdata;
        bool over;

        (void) turn_again(source); /* unless the rest of this function pauses or ends it */
        over = run->reconcile && (run->phase == RUN_SCAN || run->phase == RUN_VERIFY) ? reconcile_slice(run) :
                run->phase == RUN_SCAN ? scan_slice(run) : run->phase == RUN_ACT ? sweep_run_act_slice(run) : true;
        if (!over)
                return 0;
        if (run->phase == RUN_SCAN)
                sweep_run_act(run);
        else if (run->phase == RUN_ACT)
                run->phase = RUN_WAIT;
        else if (run->phase == RUN_WAIT && run->reconcile && has_strays(run))
                reconcile_verify(run);
        else if (run->n_pending == 0)
                reaper_run_finish(run);
        else
                sweep_run_pause(run);
        return 0;
}

static int reaper_run_on_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        ReaperRun *run = userdata;
        usec_t now = clock_usec(), patience = run->reaper->patience;
        bool waits = false;

        for (size_t i = 0; i < run->report.n_items; i++) {
                RunItem *item = (RunItem *) run->report.items[i];

                if (item->item.state != CLEANUP_PENDING)
                        continue;
                if (now - item->asked_at >= patience)
                        item_fail(item, "it has not ended within %.1f s; cove will ask for it again",
                                        (double) patience / (double) USEC_PER_SEC);
                else
                        waits = true;
        }
        sweep_run_go(run);
        if (!waits && run->phase == RUN_WAIT)
                return 0;
        (void) sd_event_source_set_time_relative(source, patience / 10);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}
