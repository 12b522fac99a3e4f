/* hold.c: freezes a sandbox while its disk is copied. Its status does not change, and watches are not called.
 *
 *      none → holding → held → releasing → none
 *
 * A pause or a stop that is requested meanwhile is served right after. If the daemon dies in between, the next one
 * finds a PID 1 that does not answer, and thaws it (recover.c). */

#include "base/log.h"
#include "core/internal.h"

/* A paused sandbox is frozen already, and stays so. */
static bool stands_still(const Sandbox *sb) {
        return sb->status == SANDBOX_PAUSED && (sb->activity == ACTIVITY_NONE || sb->activity == ACTIVITY_SWAPPING);
}

/* Operations that end soon, and after which the sandbox can be held. */
static bool hold_waits(const Sandbox *sb) {
        return sandbox_is_up(sb) && (sb->activity == ACTIVITY_STOPPING || sb->activity == ACTIVITY_CONNECTING);
}

void sandbox_hold_now(Sandbox *sb) {
        int r = sandbox_freeze(sb, /* freeze= */ true, NULL);

        if (r >= 0)
                (void) sandbox_set_activity(sb, ACTIVITY_HOLDING);
        else if (sandbox_call_finish(sb, CALL_HOLD, &(Error) { r, "cannot freeze the sandbox" }))
                sandbox_serve_waiting(sb);
}

int sandbox_hold(Sandbox *sb, SandboxDone done, void *userdata, Error *reterr) {
        int r;

        if (stands_still(sb)) {
                done(sb, NULL, userdata);
                return 0;
        }
        if (sandbox_is_held(sb) || sandbox_call_waits(sb, CALL_HOLD))
                return error_set(reterr, -EBUSY, "the sandbox is being copied already; try again");
        if (!hold_waits(sb) && !((sandbox_is_up(sb) || sb->status == SANDBOX_STOPPED) && sb->activity == ACTIVITY_NONE))
                return error_set(reterr, -ESTALE, "Cannot freeze the sandbox (state: %s)", sandbox_status_name(sb->status));
        r = provider_require(sb->manager->provider, PROVIDER_PAUSE, reterr);
        if (r < 0)
                return r;
        r = sandbox_call_add(sb, CALL_HOLD, done, userdata);
        if (r < 0)
                return error_set(reterr, r, "cannot freeze the sandbox: %m");
        sandbox_serve_waiting(sb);
        return 0;
}

static void hold_thaw(Sandbox *sb);

static void hold_thaw_later(Sandbox *sb, const Error *error) {
        log_warning("sandbox %s: cannot be thawed, retrying: %s", sb->id, error->text);
        if (sandbox_retry_later(sb, hold_thaw) < 0)
                sandbox_end(sb, SANDBOX_FAILED, /* delete= */ false, "it was frozen for a copy of its disk, and cannot be thawed");
}

static void hold_thaw(Sandbox *sb) {
        Error error = { 0 };

        if (sb->activity == ACTIVITY_RELEASING && sandbox_freeze(sb, /* freeze= */ false, &error) < 0)
                hold_thaw_later(sb, &error);
}

static void hold_let_go(Sandbox *sb) {
        (void) sandbox_set_activity(sb, ACTIVITY_RELEASING);
        hold_thaw(sb);
}

void sandbox_release(Sandbox *sb) {
        if (sb->activity == ACTIVITY_HELD)
                hold_let_go(sb);
}

static void hold_on_held(Sandbox *sb, const Error *error) {
        (void) sandbox_set_activity(sb, error ? ACTIVITY_NONE : ACTIVITY_HELD);
        if (!error && !sandbox_call_waits(sb, CALL_HOLD))
                hold_let_go(sb); /* the caller has cancelled */
        else if (sandbox_call_finish(sb, CALL_HOLD, error) && error)
                sandbox_serve_waiting(sb);
}

static void on_released(Sandbox *sb, const Error *error) {
        if (error && (error->code == -ETIMEDOUT || error_is_shortage(error->code))) {
                hold_thaw_later(sb, error);
                return;
        }
        (void) sandbox_set_activity(sb, ACTIVITY_NONE);
        sandbox_serve_waiting(sb);
}

bool sandbox_hold_on_frozen(Sandbox *sb, bool frozen, const Error *error) {
        if (frozen && sb->activity == ACTIVITY_HOLDING)
                hold_on_held(sb, error);
        else if (!frozen && sb->activity == ACTIVITY_RELEASING)
                on_released(sb, error);
        else
                return false;
        return true;
}
