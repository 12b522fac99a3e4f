/* pause.c: pause, resume, connect. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"
#include "config/config.h"

static void on_paused(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;

        if (!error)
                (void) e2b_empty(q, 204);
        else
                (void) e2b_error(q, error->code == -EOPNOTSUPP ? 400 : error->code == -ESTALE || error->code == -EBUSY ? 409 : 500, "%s", error->text);
}

void e2b_sandbox_pause(ApiRequest *q) {
        static const SandboxParking parking = { .end_processes = true, .why = EXECUTION_REASON_PARKED, .reason = "paused without memory" };
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        E2bFlag memory = E2B_UNSAID;

        if (!sb || e2b_read_field(q, "memory", SHAPE_NULLABLE, SHAPE_PARSE(e2b_field_flag), &memory) < 0)
                return;
        if (e2b_is_paused(sb)) {
                (void) e2b_error(q, 409, "Error pausing sandbox - sandbox '%s' is already paused", sb->id);
                return;
        }
        api_keep_caller(q, sb);
        if (memory == E2B_OFF)
                sandbox_park(sb, &parking, on_paused, q);
        else
                sandbox_pause(sb, on_paused, q);
}

/* Waking. */

typedef struct WakeBody {
        int64_t timeout;
        E2bFlag memory, auto_pause;
} WakeBody;

static const ShapeField wake_fields[] = {
        { "timeout",   SHAPE_CUSTOM, offsetof(WakeBody, timeout),    SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_seconds) },
        /* "memory" is ignored: the sandbox is woken from what exists. */
        { "memory", SHAPE_CUSTOM,    offsetof(WakeBody, memory),     SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag) },
        { "autoPause", SHAPE_CUSTOM, offsetof(WakeBody, auto_pause), SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_flag)    },
};
static const Shape wake_shape = SHAPE_BODY(wake_fields);

/* The timeout is set before the sandbox wakes, and counts from then on, so it never runs for longer. */
static void on_awake(Sandbox *sb, const Error *error, void *userdata) {
        ApiRequest *q = userdata;
        Error failure = { 0 };
        int r = error ? error->code : sandbox_set_timeout(sb, sb->spec.timeout_usec, &failure);

        if (r >= 0)
                (void) api_answer(q, 201, e2b_sandbox_json(sb, q->api));
        else
                (void) e2b_errno(q, r == -ESTALE ? -EBUSY : r, error ? error->text : failure.text);
}

/* False: has answered. */
static bool pause_wake_until(ApiRequest *q, Sandbox *sb, usec_t timeout) {
        Error error = { 0 };
        int r = sandbox_set_timeout(sb, timeout, &error);

        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                api_keep_caller(q, sb);
        return r >= 0;
}

static void pause_wake(ApiRequest *q, Sandbox *sb, usec_t timeout) {
        if (!pause_wake_until(q, sb, timeout))
                return;
        if (sb->status == SANDBOX_STOPPED)
                sandbox_start(sb, on_awake, q);
        else
                sandbox_resume(sb, on_awake, q);
}

static void on_paused_wake(Sandbox *sb, const Error *error, void *userdata) {
        if (error)
                (void) e2b_errno(userdata, error->code == -ESTALE ? -EBUSY : error->code, error->text);
        else
                sandbox_resume(sb, on_awake, userdata);
}

/* If a pause is in progress, it must end first: the sandbox does not answer any more. */
static void pause_wake_later(ApiRequest *q, Sandbox *sb, usec_t timeout) {
        if (pause_wake_until(q, sb, timeout))
                sandbox_pause(sb, on_paused_wake, q);
}

static void connect(ApiRequest *q, int64_t seconds) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        WakeBody body = { .timeout = seconds };
        Error error = { 0 };
        usec_t timeout;
        int r = 0;

        if (!sb || e2b_read(q, &wake_shape, &body) < 0 || e2b_create_timeout(q, body.timeout, &timeout) < 0)
                return;
        if (e2b_is_paused(sb)) {
                pause_wake(q, sb, timeout);
                return;
        }
        if (sb->activity == ACTIVITY_FREEZING) {
                pause_wake_later(q, sb, timeout);
                return;
        }
        if (sb->expires_at != 0 && sb->expires_at < clock_wall_usec() + timeout) /* never shortens the remaining time */
                r = sandbox_set_timeout(sb, timeout, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                (void) api_answer(q, 200, e2b_sandbox_json(sb, q->api));
}

static int64_t usual_timeout(const ApiRequest *q) {
        return (int64_t) (q->manager->settings->e2b.timeout_usec / USEC_PER_SEC);
}

/* In the first generation the timeout is mandatory. */
void e2b_sandbox_connect(ApiRequest *q) {
        connect(q, 0);
}

void e2b_sandbox_connect_v2(ApiRequest *q) {
        connect(q, usual_timeout(q));
}

void e2b_sandbox_resume(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        WakeBody body = { .timeout = usual_timeout(q) };
        usec_t timeout;

        if (!sb || e2b_read(q, &wake_shape, &body) < 0 || e2b_create_timeout(q, body.timeout, &timeout) < 0)
                return;
        if (!e2b_is_paused(sb)) {
                (void) e2b_error(q, 409, "Sandbox %s is already running", sb->id);
                return;
        }
        if (body.auto_pause != E2B_UNSAID) /* stored together with the timeout */
                sb->spec.on_timeout = body.auto_pause == E2B_OFF ? ON_TIMEOUT_KILL : sb->spec.on_timeout == ON_TIMEOUT_PARK ? ON_TIMEOUT_PARK : ON_TIMEOUT_PAUSE;
        pause_wake(q, sb, timeout);
}
