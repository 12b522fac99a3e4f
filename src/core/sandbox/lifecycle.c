/* lifecycle.c: pause, resume, stop, start, timeout: what a caller may ask of a live sandbox. */

#include <stdlib.h>
#include <string.h>

#include "core/internal.h"

/* The answer to a call that could not even be asked. */
static void core_lifecycle_answer(Sandbox *sb, int r, const char *text, SandboxDone done, void *userdata) {
        Error error = { 0 };

        if (!done)
                return;
        if (r < 0)
                (void) error_set(&error, r, "%s", text);
        done(sb, r < 0 ? &error : NULL, userdata);
}

static void refuse_state(Sandbox *sb, const char *what, SandboxDone done, void *userdata) {
        Error error = { 0 };

        (void) error_set(&error, -ESTALE, "Cannot %s the sandbox (state: %s)", what, sandbox_status_name(sb->status));
        if (done)
                done(sb, &error, userdata);
}

static bool runs(const Sandbox *sb) {
        return sb->status == SANDBOX_READY || sb->status == SANDBOX_RUNNING;
}

void sandbox_pause_now(Sandbox *sb) {
        Provider *p = sb->manager->provider;
        int r = runs(sb) && sb->halt == HALT_NONE ? p->ops->freeze(p, sb, /* freeze= */ true) : -ESTALE;

        if (r >= 0)
                sb->freezing = true;
        else
                (void) sandbox_call_finish(sb, CALL_PAUSE, &(Error) { r, "cannot pause the sandbox" });
}

void sandbox_pause(Sandbox *sb, SandboxDone done, void *userdata) {
        int r;

        if (sb->status == SANDBOX_PAUSED && !sb->thawing && !sb->booting) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (!runs(sb) || sb->thawing || sb->stopping || sb->halt != HALT_NONE) {
                refuse_state(sb, "pause", done, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_PAUSE, done, userdata);
        if (r < 0)
                core_lifecycle_answer(sb, r, "cannot pause the sandbox", done, userdata);
        else if (sb->hold != HOLD_NONE)
                sb->pause_wanted = true;
        else if (!sb->freezing)
                sandbox_pause_now(sb);
}

void sandbox_resume(Sandbox *sb, SandboxDone done, void *userdata) {
        Provider *p = sb->manager->provider;
        int r;

        if (runs(sb) && !sb->freezing) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (sb->status != SANDBOX_PAUSED || (sb->halt != HALT_NONE && !sb->parked)) {
                refuse_state(sb, "resume", done, userdata);
                return;
        }
        if (sb->parked) {
                sandbox_boot(sb, done, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_RESUME, done, userdata);
        if (r >= 0 && !sb->thawing)
                r = p->ops->freeze(p, sb, /* freeze= */ false);
        if (r < 0) {
                sandbox_forget_caller(sb, userdata);
                core_lifecycle_answer(sb, r, "cannot resume the sandbox", done, userdata);
                return;
        }
        sb->thawing = true;
}

void sandbox_stop(Sandbox *sb, usec_t grace_usec, SandboxDone done, void *userdata) {
        Provider *p = sb->manager->provider;
        Execution *x, *next;
        int r;

        if (sb->status == SANDBOX_STOPPED) {
                core_lifecycle_answer(sb, 0, NULL, done, userdata);
                return;
        }
        if (!runs(sb) || sb->freezing || sb->halt != HALT_NONE) {
                refuse_state(sb, "stop", done, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_STOP, done, userdata);
        if (r >= 0 && !sb->stopping)
                r = p->ops->stop(p, sb, grace_usec);
        if (r < 0) {
                sandbox_forget_caller(sb, userdata);
                core_lifecycle_answer(sb, r, "cannot stop the sandbox", done, userdata);
                return;
        }
        sb->stopping = true;
        HASH_ITER(hh, sb->executions, x, next)
                if (!execution_ended(x) && x->kill_reason == EXECUTION_REASON_NONE)
                        x->kill_reason = EXECUTION_REASON_CANCELLED;
}

void sandbox_start(Sandbox *sb, SandboxDone done, void *userdata) {
        if (sb->status == SANDBOX_STOPPED && sb->halt == HALT_NONE)
                (void) sandbox_set_status(sb, SANDBOX_READY, NULL);
        else if (!runs(sb)) {
                refuse_state(sb, "start", done, userdata);
                return;
        }
        core_lifecycle_answer(sb, 0, NULL, done, userdata);
}

int sandbox_set_timeout(Sandbox *sb, usec_t timeout_usec, Error *reterr) {
        int r;

        if (!sandbox_status_is_live(sb->status) || sb->status == SANDBOX_TERMINATING)
                return error_set(reterr, -ESTALE, "Cannot set a timeout (state: %s)", sandbox_status_name(sb->status));
        sb->spec.timeout_usec = timeout_usec;
        /* A paused one's time begins when it wakes up. */
        sb->expires_at = timeout_usec == 0 ? 0 : timeout_usec + (sb->status == SANDBOX_PAUSED ? sb->changed_at : clock_wall_usec());
        r = store_sandbox_update(sb->manager->store, sb);
        if (r < 0)
                return error_set(reterr, r, "cannot write the timeout: %m");
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

        sb->spec.dialect = text ? strdup(text) : NULL;
        r = text && !sb->spec.dialect ? -ENOMEM : store_sandbox_update_all(sb->manager->store, sb);
        if (r < 0) {
                free(sb->spec.dialect);
                sb->spec.dialect = before;
                return error_set(reterr, r, "cannot write it down: %m");
        }
        free(before);
        sandbox_dialect_forget(sb);
        return 0;
}

void sandbox_delete(Sandbox *sb, bool force, SandboxDone done, void *userdata) {
        int r;

        if (!force && sb->n_alive > 0) {
                Error error = { 0 };

                (void) error_set(&error, -EBUSY, "%u execution%s of the sandbox still run%s", sb->n_alive, sb->n_alive == 1 ? "" : "s",
                                sb->n_alive == 1 ? "s" : "");
                done(sb, &error, userdata);
                return;
        }
        r = sandbox_call_add(sb, CALL_DELETE, done, userdata);
        if (r < 0) {
                core_lifecycle_answer(sb, r, "out of memory", done, userdata);
                return;
        }
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "deleted");
}

void sandbox_finish(Sandbox *sb, SandboxStatus end_status, const char *reason) {
        sandbox_end(sb, end_status, /* delete= */ false, reason);
}
