/* hold.c: a sandbox stands still for a moment, while its disk is looked at. Its status does not change, and nobody is told.
 *
 *      none → freezing → held → thawing → none
 *
 * Whoever wants to pause it meanwhile has it done right after. A daemon that dies in between finds a PID 1 that does not answer, and thaws it
 * (recover.c). */

#include "base/log.h"
#include "core/internal.h"

/* What is paused stands still already, and stays so. */
static bool stands_still(const Sandbox *sb) {
        return sb->status == SANDBOX_PAUSED && !sb->thawing;
}

int sandbox_hold(Sandbox *sb, SandboxDone done, void *userdata, Error *reterr) {
        int r;

        if (sb->halt != HALT_NONE || sb->booting || sb->freezing || sb->thawing || sb->status == SANDBOX_INITIALIZING ||
                        sb->status == SANDBOX_TERMINATING || sandbox_status_is_ended(sb->status))
                return error_set(reterr, -ESTALE, "Cannot hold the sandbox still (state: %s)", sandbox_status_name(sb->status));
        if (sb->hold != HOLD_NONE)
                return error_set(reterr, -EBUSY, "the sandbox is being copied already; try again");
        if (stands_still(sb)) {
                done(sb, NULL, userdata);
                return 0;
        }
        r = provider_require(sb->manager->provider, PROVIDER_PAUSE, reterr);
        if (r < 0)
                return r;
        r = sandbox_call_add(sb, CALL_HOLD, done, userdata);
        if (r >= 0)
                r = sandbox_freeze(sb, /* freeze= */ true, NULL);
        if (r < 0) {
                sandbox_forget_caller(sb, userdata);
                return error_set(reterr, r, "cannot hold the sandbox still: %m");
        }
        sb->hold = HOLD_FREEZING;
        return 0;
}

static void hold_let_go(Sandbox *sb) {
        sb->hold = HOLD_THAWING;
        if (sandbox_freeze(sb, /* freeze= */ false, NULL) < 0)
                log_error("sandbox %s: cannot be asked to go on", sb->id);
}

void sandbox_release(Sandbox *sb) {
        if (sb->hold == HOLD_HELD)
                hold_let_go(sb);
}

static void hold_on_held(Sandbox *sb, const Error *error) {
        sb->hold = error ? HOLD_NONE : HOLD_HELD;
        if (!error && !sandbox_call_waits(sb, CALL_HOLD))
                hold_let_go(sb); /* who wanted it has gone */
        else
                (void) sandbox_call_finish(sb, CALL_HOLD, error);
}

static void on_released(Sandbox *sb, const Error *error) {
        if (error && error->code == -ETIMEDOUT && sb->halt == HALT_NONE) {
                log_warning("sandbox %s: does not go on, trying again: %s", sb->id, error->text);
                hold_let_go(sb);
                return;
        }
        sb->hold = HOLD_NONE;
        if (sb->pause_wanted) {
                sb->pause_wanted = false;
                sandbox_pause_now(sb);
        }
}

bool sandbox_hold_on_frozen(Sandbox *sb, bool frozen, const Error *error) {
        if (frozen && sb->hold == HOLD_FREEZING)
                hold_on_held(sb, error);
        else if (!frozen && sb->hold == HOLD_THAWING)
                on_released(sb, error);
        else
                return false;
        return true;
}
