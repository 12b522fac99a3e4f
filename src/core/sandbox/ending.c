/* ending.c: from any live state to the end of a sandbox.
 *
 *      sandbox_end()            status terminating, in the store with the final status; the provider is asked to destroy it
 *      sandbox_on_destroyed()   no object is left in the kernel: the sandbox's own disk is removed (disk.h), then this is called
 *                               again: executions get their last event, files are removed, and the row becomes an ended one or
 *                               is deleted
 *
 * A destroy that fails is retried until it works. */

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/disk.h"
#include "core/internal.h"
#include "core/network.h"
#include "core/reap.h"

#define RETRY_USEC (1 * USEC_PER_SEC)

/* Retries the destruction of a sandbox that may have no row. */
typedef struct EndingRetry {
        Manager *manager;
        char id[SANDBOX_ID_LENGTH + 1];
} EndingRetry;

void sandbox_end_executions(Sandbox *sb, ExecutionReason why) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x))
                        execution_end(x, why, /* exit_code= */ -1, /* signal= */ 9, execution_reason_words(why));
}

/* Row and counter change in one transaction. */
int sandbox_delete_row(Sandbox *sb) {
        Manager *m = sb->manager;
        int r;

        (void) store_begin(m->store);
        r = store_sandbox_delete(m->store, sb->id);
        if (r >= 0)
                r = store_counter_set(m->store, "total_destroyed", m->total_destroyed + 1);
        r = store_end(m->store, r);
        if (r < 0) {
                log_error("sandbox %s: cannot delete its row: %s", sb->id, strerror(-r));
                return r;
        }
        m->total_destroyed++;
        sb->unwritten = 0;
        return 0;
}

static void finish_end(Sandbox *sb, SandboxStatus status) {
        char *reason = sb->reason ? strdup(sb->reason) : NULL;

        store_may_lose(store_footprint_remove(sb->manager->store, sb->id), "that nothing is left of a sandbox"); /* if it is lost, the next start looks for the objects */
        (void) sandbox_move(sb, (SandboxState) { .status = status, .parked = sb->parked }, reason);
        (void) sandbox_arm_timers(sb);
        free(reason);
}

/* As long as there is something to measure. */
static void report_usage(Sandbox *sb) {
        SandboxUsage usage = { 0 };

        if (sandbox_usage(sb, &usage) < 0)
                memset(&usage, 0, sizeof(usage));
        observe_usage(sb, &usage);
}

/* Fails the callers of operations in progress, whose answers are ignored from now on. */
static void ending_overtake(Sandbox *sb) {
        static const SandboxCallKind kinds[] = { CALL_PAUSE, CALL_RESUME, CALL_STOP, CALL_PARK, CALL_HOLD, CALL_NETWORK };

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (!sandbox_call_finish(sb, kinds[i], &(Error) { -ESTALE, "the sandbox has ended" }))
                        return;
}

void sandbox_end(Sandbox *sb, SandboxStatus end_status, bool delete, const char *reason) {
        if (sb->gone)
                return;
        /* The daemon has ended, and its rooms are closing: a failure in them says nothing about the sandbox,
         * which the next daemon adopts. */
        if (sd_event_get_state(sb->manager->event) == SD_EVENT_FINISHED)
                return;
        delete |= sb->pooled; /* no caller knows it */
        sb->end_delete |= delete;
        if (sandbox_status_is_ended(sb->status)) {
                if (delete)
                        sandbox_on_destroyed(sb->manager, sb->id, NULL);
                return;
        }
        if (sb->status == SANDBOX_TERMINATING) {
                if (delete) { /* the row also says that it will be deleted */
                        free(sb->reason);
                        sb->reason = strdup(reason);
                        sandbox_row_wrote(sb, store_sandbox_update(sb->manager->store, sb), "that it is deleted");
                }
                return;
        }
        sb->end_status = end_status;
        report_usage(sb);
        sb->end_began_at = clock_wall_usec();
        (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_TERMINATING, .parked = sb->parked }, reason);
        sandbox_shift_give_up(sb);
        sandbox_timers_free(sb);
        sandbox_probe_on_end(sb);
        network_gone(sb);
        sandbox_ask_to_destroy(sb);
        ending_overtake(sb);
}

static int ending_on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        EndingRetry *retry = userdata;
        Sandbox *sb = manager_by_id(retry->manager, retry->id); /* the row may be deleted meanwhile, while objects are left */

        if (sb)
                sandbox_ask_to_destroy(sb);
        else
                (void) retry->manager->provider->ops->destroy(retry->manager->provider, retry->id, NULL);
        free(retry);
        sd_event_source_unref(source);
        return 0;
}

static void ending_retry_later(Manager *m, const char *id) {
        sd_event_source *source = NULL;
        EndingRetry *retry = calloc(1, sizeof(*retry));

        if (!retry)
                return;
        retry->manager = m;
        memcpy(retry->id, id, strnlen(id, SANDBOX_ID_LENGTH));
        if (sd_event_add_time_relative(m->event, &source, CLOCK_MONOTONIC, RETRY_USEC, 0, ending_on_retry, retry) < 0)
                free(retry);
}

void sandbox_ask_to_destroy(Sandbox *sb) {
        Provider *p = sb->manager->provider;
        int r;

        if (sb->doubted)
                return; /* recover.c */
        r = p->ops->destroy(p, sb->id, sb);
        if (r < 0)
                sandbox_on_destroyed(sb->manager, sb->id, &(Error) { r, "it cannot be asked for" });
}

static bool fail_creators(Sandbox *sb) {
        Error error = { 0 };

        if (sb->create_error < 0)
                (void) error_set(&error, sb->create_error, "%s", sb->reason ? sb->reason : "it could not be made");
        else
                (void) error_set(&error, -ECANCELED, "the sandbox was deleted while it was made");
        return sandbox_call_finish(sb, CALL_CREATE, &error);
}

/* Called when the row is gone. */
static void ending_let_go(Sandbox *sb) {
        if (sandbox_call_finish(sb, CALL_DELETE, NULL))
                sandbox_drop(sb);
}

void sandbox_on_destroyed(Manager *m, const char *id, const Error *error) {
        Sandbox *sb = manager_by_id(m, id);
        bool delete;
        int r = 0;

        if (error) {
                log_warning("sandbox %s: cannot be removed, retrying: %s", id, error->text);
                ending_retry_later(m, id);
                return;
        }
        if (!sb || sandbox_on_unloaded(sb) || sandbox_disk_remove(sb))
                return;

        sandbox_end_executions(sb, EXECUTION_REASON_SANDBOX_ENDED);
        delete = sb->end_delete;
        if (!sandbox_status_is_ended(sb->status))
                finish_end(sb, sb->end_status);
        network_gone(sb); /* even its address */
        if (delete) {
                journals_recycle(sb); /* before the row, because files without a row are not removed */
                r = sandbox_delete_row(sb);
        }
        if (!fail_creators(sb) || !delete) /* their callers may take the name at once */
                return;
        if (r >= 0) {
                ending_let_go(sb);
                return;
        }
        ending_retry_later(m, id);
        (void) sandbox_call_finish(sb, CALL_DELETE, &(Error) { r, "the sandbox has ended, but its row cannot be deleted: free disk space; cove retries until then" });
}

int sandbox_forget(Sandbox *sb) {
        return sandboxes_forget(sb->manager, &sb, 1);
}

int sandboxes_forget(Manager *m, Sandbox **list, size_t n) {
        int r = 0;

        for (size_t i = 0; i < n; i++)
                if (!sandbox_status_is_ended(list[i]->status))
                        return -EBUSY;
        for (size_t i = 0; i < n; i++)
                journals_recycle(list[i]); /* before the rows, because files without a row are not removed */
        (void) store_begin(m->store);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = store_sandbox_delete(m->store, list[i]->id);
        if (r >= 0)
                r = store_counter_set(m->store, "total_destroyed", m->total_destroyed + n);
        r = store_end(m->store, r);
        if (r < 0)
                return r;
        m->total_destroyed += n;
        for (size_t i = 0; i < n; i++)
                ending_let_go(list[i]);
        return 0;
}
