/* act.c: acts on the items that a run has found. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reaper/internal.h"

#define RECORDS_AT_ONCE 25

static void item_over(RunItem *item) {
        ReaperRun *run = item->run;

        item->item.duration = item->asked_at > 0 ? clock_usec() - item->asked_at : 0;
        report_item(run, &item->item);
        if (item->item.state == CLEANUP_DONE)
                run->report.counts.removed++;
        else
                run->report.counts.failed++;
        sandbox_unwatch(&item->watch);
}

static void leave_pending(RunItem *item) {
        if (item->item.state == CLEANUP_PENDING)
                item->run->n_pending--;
}

void item_done(RunItem *item) {
        leave_pending(item);
        item->item.state = CLEANUP_DONE;
        item_over(item);
}

void item_fail(RunItem *item, const char *format, ...) {
        va_list ap;

        leave_pending(item);
        item->item.state = CLEANUP_FAILED;
        va_start(ap, format);
        (void) vsnprintf(item->item.error, sizeof(item->item.error), format, ap);
        va_end(ap);
        item_over(item);
}

/* Must not free the run: the watches of a sandbox are being called. */
static void act_on_changed(Sandbox *sb, Execution *x, void *userdata) {
        RunItem *item = userdata;

        if (item->item.state != CLEANUP_PENDING || !sandbox_status_is_ended(sb->status))
                return;
        item_done(item);
        sweep_run_go(item->run);
}

void item_terminate(RunItem *item, Sandbox *sb) {
        char reason[CLEANUP_TEXT_MAX];

        item->asked_at = clock_usec();
        item->item.state = CLEANUP_PENDING;
        item->run->n_pending++;
        item->watch = (SandboxWatch) { .changed = act_on_changed, .userdata = item };
        sandbox_watch(sb, &item->watch);
        (void) snprintf(reason, sizeof(reason), "%s", item->item.text);
        if (sb->status == SANDBOX_TERMINATING)
                sandbox_terminate_again(sb);
        else {
                sandbox_note(sb, RULE_BIT(item->item.rule) & RULES_STUCK ? "stuck" : "cleanup", reason);
                sandbox_terminate(sb, reason);
        }
}

static void forget_record(RunItem *item, Sandbox *sb) {
        int r;

        item->asked_at = clock_usec();
        r = sandbox_forget(sb);
        if (r < 0)
                item_fail(item, "its record cannot be deleted: %s", strerror(-r));
        else
                item_done(item);
}

static bool is_of_scan(CleanupRule rule) {
        return rule < RULE_UNHEALTHY || rule == RULE_EMERGENCY;
}

static void move_cursor(ReaperRun *run, const Sandbox *sb) {
        if (run->request.kind != CLEANUP_SWEEP)
                return;
        run->reaper->cursor.at = sb->created_at;
        memcpy(run->reaper->cursor.id, sb->id, sizeof(run->reaper->cursor.id));
}

static void act_on_sandbox(RunItem *item) {
        ReaperRun *run = item->run;
        Sandbox *sb = manager_by_id(run->reaper->manager, item->item.name);
        char text[CLEANUP_TEXT_MAX];

        if (!sb || (sandbox_status_is_ended(sb->status) && item->item.rule != RULE_OLD && item->item.rule != RULE_FAILED)) {
                item_done(item); /* it ended by itself, or by another request */
                return;
        }
        if (is_of_scan(item->item.rule) && judge_sandbox(&run->judge, sb, text) == RULE_NONE) {
                item_done(item); /* it has recovered */
                return;
        }
        move_cursor(run, sb);
        if (sandbox_status_is_ended(sb->status))
                forget_record(item, sb);
        else
                item_terminate(item, sb);
}

static void act_on_stray(RunItem *item) {
        int r = manager_destroy_stray(item->run->reaper->manager, item->item.name);

        item->asked_at = clock_usec();
        if (r < 0) {
                item_fail(item, "it cannot be removed: %s", strerror(-r));
                return;
        }
        item->item.state = CLEANUP_PENDING; /* until no list has it any more */
        item->run->n_pending++;
}

static void act_on_file(RunItem *item) {
        int r = stray_remove(item->run->reaper->manager, item->item.name);

        if (r < 0 && r != -EBUSY)
                item_fail(item, "it cannot be removed: %s", strerror(-r));
        else
                item_done(item);
}

static bool is_record(CleanupRule rule) {
        return rule == RULE_OLD || rule == RULE_FAILED;
}

/* Removes records together, in one transaction; if that fails, one by one, so that the faulty one is found. */
static void act_on_records(ReaperRun *run) {
        RunItem *items[RECORDS_AT_ONCE];
        Sandbox *list[RECORDS_AT_ONCE];
        size_t n = 0;
        char text[CLEANUP_TEXT_MAX];

        while (n < RECORDS_AT_ONCE && run->next_item < run->report.n_items && is_record(run->report.items[run->next_item]->rule)) {
                items[n] = (RunItem *) run->report.items[run->next_item++];
                list[n] = manager_by_id(run->reaper->manager, items[n]->item.name);
                if (list[n] && judge_sandbox(&run->judge, list[n], text) == items[n]->item.rule) {
                        items[n]->asked_at = clock_usec();
                        move_cursor(run, list[n++]);
                } else
                        item_done(items[n]); /* removed meanwhile */
        }
        if (sandboxes_forget(run->reaper->manager, list, n) < 0)
                for (size_t i = 0; i < n; i++)
                        forget_record(items[i], list[i]);
        else
                for (size_t i = 0; i < n; i++)
                        item_done(items[i]);
}

bool sweep_run_act_slice(ReaperRun *run) {
        usec_t until = clock_usec() + SLICE_USEC;

        run->judge.settings = run->reaper->manager->settings;
        for (unsigned n = 0; n < SLICE_ITEMS && run->next_item < run->report.n_items; n++) {
                RunItem *item = (RunItem *) run->report.items[run->next_item];

                int r = run->request.kind == CLEANUP_PRESSURE ? pressure_next(run) : 1;

                if (r == -EAGAIN) {
                        sweep_run_pause(run);
                        return false;
                }
                if (r == 0)
                        return true;
                if (is_record(item->item.rule)) {
                        act_on_records(run);
                        if (clock_usec() >= until)
                                break;
                        continue;
                }
                run->next_item++;
                if (item->item.rule == RULE_STRAY)
                        act_on_stray(item);
                else if (item->item.rule == RULE_FILE)
                        act_on_file(item);
                else
                        act_on_sandbox(item);
                if (clock_usec() >= until)
                        break;
        }
        return run->next_item == run->report.n_items;
}
