/* lifecycle.c: a caller's operations on a live sandbox: pause, resume, stop, start, timeout. */

#include <stdlib.h>
#include <string.h>

#include "core/internal.h"

/* Answers a call that was not made. */
static void core_lifecycle_answer(Sandbox *sb, int r, const char *text, SandboxDone done, void *userdata) {
        Error error = { 0 };

        if (!done)
                return;
        if (r < 0)
                (void) error_set(&error, r, "%s: %m", text);
        done(sb, r < 0 ? &error : NULL, userdata);
}

static void refuse_state(Sandbox *sb, const char *what, SandboxDone done, void *userdata) {
        Error error = { 0 };

        (void) error_set(&error, -ESTALE, "Cannot %s the sandbox (state: %s)", what, sandbox_status_name(sb->status));
        if (done)
                done(sb, &error, userdata);
}

int sandbox_freeze(Sandbox *sb, bool freeze, Error *reterr) {
        Provider *p = sb->manager->provider;
        int r = provider_require(p, PROVIDER_PAUSE, reterr);

        if (r < 0)
                return r;
        r = p->pause->freeze(p, sb, freeze);
        return r < 0 ? error_set(reterr, r, "cannot %s the sandbox", freeze ? "pause" : "resume") : 0;
}

static void lifecycle_pause_now(Sandbox *sb) {
        Error error = { -ESTALE, "cannot pause the sandbox" };

        if (sandbox_is_up(sb) && sandbox_freeze(sb, /* freeze= */ true, &error) >= 0)
                (void) sandbox_set_activity(sb, ACTIVITY_FREEZING);
        else if (sandbox_call_finish(sb, CALL_PAUSE, &error))
                sandbox_serve_waiting(sb);
}

int sandbox_ask_to_stop(Sandbox *sb, usec_t grace_usec, SandboxActivity activity, ExecutionReason why) {
        Provider *p = sb->manager->provider;
        Execution *x, *next;
        int r = p->ops->stop(p, sb, grace_usec);

        if (r < 0)
                return r;
        (void) sandbox_set_activity(sb, activity);
        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x) && x->kill_reason == EXECUTION_REASON_NONE)
                        x->kill_reason = why;
        return 0;
}

static void lifecycle_stop_now(Sandbox *sb) {
        int r = sandbox_is_up(sb) ? sandbox_ask_to_stop(sb, sb->stop_grace_usec, ACTIVITY_STOPPING, EXECUTION_REASON_CANCELLED) : -ESTALE;

        if (r < 0 && sandbox_call_finish(sb, CALL_STOP, &(Error) { r, "cannot stop the sandbox" }))
                sandbox_serve_waiting(sb);
}

void sandbox_serve_waiting(Sandbox *sb) {
        if (sb->activity != ACTIVITY_NONE || sandbox_is_ending(sb))
                return;
        if (sandbox_call_waits(sb, CALL_STOP))
                lifecycle_stop_now(sb);
        else if (sandbox_call_waits(sb, CALL_HOLD)) /* before a pause, because a paused sandbox is not held */
                sandbox_hold_now(sb);
        else if (sandbox_call_waits(sb, CALL_PAUSE))
                lifecycle_pause_now(sb);
}

void sandbox_pause(Sandbox *sb, SandboxDone done, void *userdata) {
        int r;

        if (sb->status == SANDBOX_PAUSED && sb->activity != ACTIVITY_THAWING && !sandbox_is_booting(sb)) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (!sandbox_is_up(sb) || sb->activity == ACTIVITY_STOPPING || sandbox_is_unloading(sb)) {
                refuse_state(sb, "pause", done, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_PAUSE, done, userdata);
        if (r < 0)
                core_lifecycle_answer(sb, r, "cannot pause the sandbox", done, userdata);
        else
                sandbox_serve_waiting(sb);
}

void sandbox_resume(Sandbox *sb, SandboxDone done, void *userdata) {
        int r;

        if (sandbox_is_up(sb) && sb->activity != ACTIVITY_FREEZING) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (sb->status != SANDBOX_PAUSED || (sandbox_is_unloading(sb) && !sb->parked)) {
                refuse_state(sb, "resume", done, userdata);
                return;
        }
        if (sb->parked) {
                sandbox_boot(sb, done, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_RESUME, done, userdata);
        if (r >= 0 && sb->activity != ACTIVITY_THAWING)
                r = sandbox_freeze(sb, /* freeze= */ false, NULL);
        if (r < 0) {
                sandbox_call_withdraw(sb, CALL_RESUME, userdata);
                core_lifecycle_answer(sb, r, "cannot resume the sandbox", done, userdata);
                return;
        }
        if (sb->activity != ACTIVITY_THAWING)
                (void) sandbox_set_activity(sb, ACTIVITY_THAWING);
}

void sandbox_stop(Sandbox *sb, usec_t grace_usec, SandboxDone done, void *userdata) {
        int r;

        if (sb->status == SANDBOX_STOPPED) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (!sandbox_is_up(sb) || sb->activity == ACTIVITY_FREEZING || sandbox_is_unloading(sb)) {
                refuse_state(sb, "stop", done, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_STOP, done, userdata);
        if (r < 0) {
                core_lifecycle_answer(sb, r, "cannot stop the sandbox", done, userdata);
                return;
        }
        sb->stop_grace_usec = grace_usec;
        sandbox_serve_waiting(sb);
}

void sandbox_start(Sandbox *sb, SandboxDone done, void *userdata) {
        bool stopped = sb->status == SANDBOX_STOPPED && !sandbox_is_unloading(sb);
        int r = stopped ? sandbox_row_try(sb) : 0;

        if (!stopped && !sandbox_is_up(sb)) {
                refuse_state(sb, "start", done, userdata);
                return;
        }
        if (stopped && r >= 0) {
                (void) sandbox_move(sb, (SandboxState) { .status = SANDBOX_READY, .activity = sb->activity }, NULL);
                r = sb->unwritten;
        }
        core_lifecycle_answer(sb, r, "cannot start the sandbox", done, userdata);
}

int sandbox_set_timeout(Sandbox *sb, usec_t timeout_usec, Error *reterr) {
        usec_t before = sb->spec.timeout_usec, expires_before = sb->expires_at;
        int r;

        if (sandbox_is_ending(sb))
                return error_set(reterr, -ESTALE, "Cannot set a timeout (state: %s)", sandbox_status_name(sb->status));
        sb->spec.timeout_usec = timeout_usec;
        /* The timeout of a paused sandbox begins when it is resumed. */
        sb->expires_at = timeout_usec == 0 ? 0 : timeout_usec + (sb->status == SANDBOX_PAUSED ? sb->changed_at : clock_wall_usec());
        r = store_sandbox_update(sb->manager->store, sb);
        if (r < 0) { /* a refused call changes nothing */
                sb->spec.timeout_usec = before;
                sb->expires_at = expires_before;
                return error_set(reterr, r, "cannot write the timeout: %m");
        }
        return sandbox_arm_timers(sb);
}

void sandbox_dialect_forget(Sandbox *sb) {
        if (sb->dialect)
                sb->dialect_free(sb->dialect);
        sb->dialect = NULL;
}

int sandbox_set_dialect(Sandbox *sb, const char *text, Error *reterr) {
        char *before = sb->spec.dialect;
        int r;

        if (sb->gone)
                return error_set(reterr, -ESTALE, "the sandbox is gone");
        sb->spec.dialect = text ? strdup(text) : NULL;
        r = text && !sb->spec.dialect ? -ENOMEM : store_sandbox_update_all(sb->manager->store, sb);
        if (r < 0) {
                free(sb->spec.dialect);
                sb->spec.dialect = before;
                return error_set(reterr, r, "cannot save it: %m");
        }
        free(before);
        sandbox_dialect_forget(sb);
        return 0;
}

void sandbox_delete(Sandbox *sb, bool force, SandboxDone done, void *userdata) {
        int r;

        if (sb->gone) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (!force && sb->n_alive > 0) {
                Error error = { 0 };

                (void) error_set(&error, -EBUSY, "%u execution%s of the sandbox still run%s", sb->n_alive, sb->n_alive == 1 ? "" : "s",
                                sb->n_alive == 1 ? "s" : "");
                done(sb, &error, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_DELETE, done, userdata);
        if (r < 0) {
                core_lifecycle_answer(sb, r, "cannot delete the sandbox", done, userdata);
                return;
        }
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "deleted");
}

void sandbox_finish(Sandbox *sb, SandboxStatus end_status, const char *reason) {
        sandbox_end(sb, end_status, /* delete= */ false, reason);
}
