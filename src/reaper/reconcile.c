/* reconcile.c: records against the kernel, in both directions.
 *
 *      list      every id that has anything left in the kernel; a second time if records and list differ
 *      ask       every live sandbox for an answer; those that do not answer in time are named
 *      files     journals and sockets without a record
 *      → items   a record without a sandbox is ended; a sandbox or file without a record is destroyed or removed
 *      verify    lists again, until destroyed sandboxes are not listed any more
 *
 * A sandbox that is made or deleted meanwhile is for a moment in a list without a record, or the other way round. So
 * only a difference counts that two lists agree on.
 * A sandbox is lost only if it had a record before the first list was requested, is in neither list, and its PID 1 is
 * proven to be gone.
 * A listed sandbox is no stray if its record was deleted since the run began, or said that it lives when the second
 * list was requested: it may just be ending. Nor is it one if it had no record when the daemon started, or while the
 * store is in doubt: core/quarantine.h. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/quarantine.h"
#include "reaper/internal.h"

#define LIST_PATIENCE  (10 * USEC_PER_SEC)
#define TURN_USEC      (20 * USEC_PER_MSEC) /* until another caller's list is complete */
#define ANSWERS_MIN    (1 * USEC_PER_SEC)
#define VERIFY_USEC    (200 * USEC_PER_MSEC)
#define FILES_AT_ONCE  200

typedef struct Id {
        char id[SANDBOX_ID_LENGTH + 1];
        UT_hash_handle hh;
} Id;

typedef enum ReconcilePhase {
        PHASE_LIST,
        PHASE_CONFIRM,
        PHASE_ASK,
        PHASE_ANSWERS,
        PHASE_FILES,
        PHASE_SCANNED,
        PHASE_VERIFY,
} ReconcilePhase;

typedef struct Reconcile {
        ReaperRun *run;
        ReconcilePhase phase;
        Id *known;            /* records at its start */
        Id *alive;            /* ids that were live in their records when the second list was requested */
        Id *listed, *confirmed; /* the two lists; the verification begins with an empty list */
        bool has_confirmed;   /* a second list was requested */
        size_t next_record;       /* to ask */
        usec_t asked_at;
        bool waits;           /* for its turn to request a list */
        usec_t waits_until;
        Strays *strays;
        sd_event_source *timer;
} Reconcile;

static Id *reconcile_find_id(Id *set, const char *id) {
        Id *found;

        HASH_FIND_STR(set, id, found);
        return found;
}

static void reconcile_add_id(Id **set, const char *id) {
        Id *new;

        if (reconcile_find_id(*set, id))
                return;
        new = calloc(1, sizeof(*new));
        if (!new)
                return;
        (void) snprintf(new->id, sizeof(new->id), "%s", id);
        HASH_ADD_STR(*set, id, new);
}

static void free_ids(Id **set) {
        Id *i, *next;

        HASH_ITER(hh, *set, i, next) {
                HASH_DEL(*set, i);
                free(i);
        }
}

static Manager *manager_of(const Reconcile *c) {
        return c->run->reaper->manager;
}

static Sandbox *reconcile_record(const Reconcile *c, const char *id) {
        return manager_by_id(manager_of(c), id);
}

void reconcile_free(ReaperRun *run) {
        Reconcile *c = run->reconcile;

        if (run->report.unresponsive) {
                for (char **u = run->report.unresponsive; *u; u++)
                        free(*u);
                free(run->report.unresponsive);
                run->report.unresponsive = NULL;
        }
        if (!c)
                return;
        manager_list_forget(run->reaper->manager, c);
        sd_event_source_disable_unref(c->timer);
        strays_free(c->strays);
        free_ids(&c->known);
        free_ids(&c->alive);
        free_ids(&c->listed);
        free_ids(&c->confirmed);
        free(c);
        run->reconcile = NULL;
}

static void set_timer(Reconcile *c, usec_t in) {
        (void) sd_event_source_set_time_relative(c->timer, in);
        (void) sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

static void reconcile_give_up(Reconcile *c, const char *text) {
        (void) sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
        manager_list_forget(manager_of(c), c);
        sweep_run_fail(c->run, text);
        c->phase = PHASE_SCANNED;
        sweep_run_go(c->run);
}

/* Which sandboxes should exist */

static bool is_settled(const Sandbox *sb) {
        return sb->status != SANDBOX_INITIALIZING && !sandbox_is_ending(sb) && !sb->parked &&
                        !sandbox_is_unloading(sb);
}

static bool reconcile_is_listed(Reconcile *c, const char *id) {
        return reconcile_find_id(c->listed, id) || reconcile_find_id(c->confirmed, id);
}

/* A stray is in all lists that were made. */
static bool reconcile_is_stray(Reconcile *c, const char *id) {
        const Sandbox *sb = reconcile_record(c, id);

        if (manager_of(c)->doubts_store || quarantine_find(manager_of(c), QUARANTINE_SANDBOX, id))
                return false;
        if (sb ? !sandbox_status_is_ended(sb->status) : reconcile_find_id(c->known, id) != NULL)
                return false;
        return !c->has_confirmed || (reconcile_find_id(c->confirmed, id) && !reconcile_find_id(c->alive, id));
}

static bool looks_lost(Reconcile *c, const char *id) {
        const Sandbox *sb = reconcile_record(c, id);

        return sb && is_settled(sb) && !reconcile_is_listed(c, id);
}

static bool has_suspects(Reconcile *c) {
        Id *i, *next;

        HASH_ITER(hh, c->listed, i, next)
                if (reconcile_is_stray(c, i->id))
                        return true;
        HASH_ITER(hh, c->known, i, next)
                if (looks_lost(c, i->id))
                        return true;
        return false;
}

/* The pid may belong to another process by now: then it proves nothing, and the sandbox stays. */
static bool reconcile_is_dead(Sandbox *sb) {
        if (sb->pid > 0 && kill(sb->pid, 0) < 0 && errno == ESRCH)
                return true;
        return sandbox_verify(sb) == -ENOTCONN;
}

static void name_suspects(Reconcile *c) {
        Id *i, *next;

        HASH_ITER(hh, c->known, i, next) {
                Sandbox *sb = reconcile_record(c, i->id);

                if (looks_lost(c, i->id) && reconcile_is_dead(sb))
                        (void) sweep_run_add(c->run, i->id, RULE_LOST, "reconciled: its record says that it runs, but it does not exist");
        }
        HASH_ITER(hh, c->listed, i, next)
                if (reconcile_is_stray(c, i->id))
                        (void) sweep_run_add(c->run, i->id, RULE_STRAY, "reconciled: it exists in the kernel without a record");
}

/* Lists */

static void reaper_reconcile_on_listed(const char *id, void *userdata) {
        Reconcile *c = userdata;

        if (id) {
                reconcile_add_id(c->phase == PHASE_CONFIRM ? &c->confirmed : &c->listed, id);
                return;
        }
        (void) sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
        sweep_run_go(c->run); /* the next phase runs in its own turn of the loop */
}

static int reconcile_list(Reconcile *c, ReconcilePhase phase) {
        int r;

        c->phase = phase;
        if (!c->waits)
                c->waits_until = clock_usec() + LIST_PATIENCE;
        r = manager_list_kernel(manager_of(c), reaper_reconcile_on_listed, c);
        c->waits = r == -EBUSY && clock_usec() < c->waits_until;
        if (r < 0 && !c->waits)
                return r;
        set_timer(c, c->waits ? TURN_USEC : LIST_PATIENCE);
        sweep_run_pause(c->run);
        return 0;
}

static int reaper_reconcile_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Reconcile *c = userdata;

        if (c->phase == PHASE_ANSWERS)
                sweep_run_go(c->run);
        else if (c->waits && reconcile_list(c, c->phase) >= 0)
                return 0;
        else if (c->phase == PHASE_VERIFY && c->run->phase == RUN_VERIFY)
                reconcile_verify(c->run);
        else
                reconcile_give_up(c, "the sandboxes in the kernel could not be listed: the spawner does not answer");
        return 0;
}

int reconcile_begin(ReaperRun *run) {
        Reconcile *c = calloc(1, sizeof(*c));
        Manager *m = run->reaper->manager;
        int r;

        if (!c)
                return -ENOMEM;
        c->run = run;
        run->reconcile = c;
        for (size_t i = 0; i < run->n_records; i++)
                reconcile_add_id(&c->known, run->records[i]->id);
        r = sd_event_add_time_relative(m->event, &c->timer, CLOCK_MONOTONIC, LIST_PATIENCE, 0, reaper_reconcile_on_timer, c);
        if (r >= 0)
                r = reconcile_list(c, PHASE_LIST);
        if (r < 0)
                c->phase = PHASE_SCANNED;
        return r;
}

/* Asking */

static bool ask_slice(Reconcile *c) {
        ReaperRun *run = c->run;

        if (c->next_record == 0)
                c->asked_at = clock_usec();
        for (unsigned n = 0; n < SLICE_ITEMS && c->next_record < run->n_records; n++) {
                Sandbox *sb = sandbox_unless_gone(run->records[c->next_record++]);

                if (!sb)
                        continue;
                run->report.counts.scanned++;
                if (is_settled(sb)) {
                        run->report.records++;
                        (void) sandbox_verify(sb);
                }
        }
        return c->next_record == run->n_records;
}

static bool owes_answer(const Reconcile *c, const Sandbox *sb) {
        return is_settled(sb) && sb->status != SANDBOX_PAUSED && sb->activity != ACTIVITY_FREEZING && provider_has(manager_of(c)->provider, PROVIDER_HEALTH) &&
                        sb->heard_at < c->asked_at;
}

static void name_unresponsive(Reconcile *c) {
        ReaperRun *run = c->run;
        char **names = calloc(run->n_records + 1, sizeof(*names));
        size_t n = 0;

        for (size_t i = 0; names && i < run->n_records; i++) {
                const Sandbox *sb = sandbox_unless_gone(run->records[i]);

                if (sb && owes_answer(c, sb)) {
                        log_warning("sandbox %s: its PID 1 does not answer", sb->id);
                        names[n] = strdup(sb->id);
                        n += names[n] != NULL;
                }
        }
        run->report.unresponsive = names;
}

static bool all_answered(const Reconcile *c) {
        for (size_t i = 0; i < c->run->n_records; i++) {
                const Sandbox *sb = sandbox_unless_gone(c->run->records[i]);

                if (sb && owes_answer(c, sb))
                        return false;
        }
        return true;
}

/* Most sandboxes answer before the next turn, so the wait is usually short. */
static void await_answers(Reconcile *c) {
        usec_t patience = MAX_OF(manager_of(c)->settings->cleanup.health_timeout_usec, ANSWERS_MIN);
        usec_t waited = clock_usec() - c->asked_at;

        if (all_answered(c) || waited >= patience) {
                name_unresponsive(c);
                c->phase = PHASE_FILES;
                return;
        }
        set_timer(c, MIN_OF(patience - waited, MAX_OF(waited, 5 * USEC_PER_MSEC)));
        sweep_run_pause(c->run);
}

/* Files */

static void on_stray_file(const char *path, void *userdata) {
        Reconcile *c = userdata;

        (void) sweep_run_add(c->run, path, RULE_FILE, "reconciled: a file without a record");
}

static bool files_slice(Reconcile *c) {
        int r = c->strays ? 0 : strays_open(manager_of(c), &c->strays);

        if (r >= 0)
                r = strays_step(c->strays, FILES_AT_ONCE, on_stray_file, c);
        if (r < 0)
                sweep_run_fail(c->run, "the state directory cannot be read");
        return r <= 0;
}

static void note_alive(Reconcile *c) {
        Id *i, *next;

        HASH_ITER(hh, c->listed, i, next) {
                const Sandbox *sb = reconcile_record(c, i->id);

                if (sb && !sandbox_status_is_ended(sb->status))
                        reconcile_add_id(&c->alive, i->id);
        }
}

/* Runs one step of the current phase; while a list is awaited, the run is paused. */
bool reconcile_slice(ReaperRun *run) {
        Reconcile *c = run->reconcile;

        switch (c->phase) {
        case PHASE_LIST:
                run->report.actual = HASH_COUNT(c->listed);
                c->has_confirmed = has_suspects(c);
                note_alive(c);
                if (!c->has_confirmed)
                        c->phase = PHASE_ASK;
                else if (reconcile_list(c, PHASE_CONFIRM) < 0)
                        reconcile_give_up(c, "the sandboxes in the kernel could not be listed a second time");
                return false;
        case PHASE_CONFIRM:
                name_suspects(c);
                c->phase = PHASE_ASK;
                return false;
        case PHASE_ASK:
                if (ask_slice(c))
                        c->phase = PHASE_ANSWERS;
                return false;
        case PHASE_ANSWERS:
                await_answers(c);
                return false;
        case PHASE_FILES:
                if (files_slice(c))
                        c->phase = PHASE_SCANNED;
                return false;
        case PHASE_SCANNED:
                return true;
        case PHASE_VERIFY:
                break;
        }
        return true;
}

/* An item that was to be destroyed and is not in the list any more is gone. */
static void reconcile_on_verified(const char *id, void *userdata) {
        Reconcile *c = userdata;
        ReaperRun *run = c->run;
        bool left = false;

        if (id) {
                reconcile_add_id(&c->listed, id);
                return;
        }
        for (size_t i = 0; i < run->report.n_items; i++) {
                CleanupItem *item = run->report.items[i];

                if (item->rule != RULE_STRAY || item->state != CLEANUP_PENDING)
                        continue;
                if (reconcile_find_id(c->listed, item->name))
                        left = true;
                else
                        item_done((RunItem *) item);
        }
        if (left)
                set_timer(c, VERIFY_USEC);
        sweep_run_go(run);
}

void reconcile_verify(ReaperRun *run) {
        Reconcile *c = run->reconcile;

        run->phase = RUN_VERIFY;
        c->phase = PHASE_VERIFY;
        free_ids(&c->listed);
        if (manager_list_kernel(manager_of(c), reconcile_on_verified, c) < 0)
                set_timer(c, VERIFY_USEC);
        sweep_run_pause(run);
}
