/* sandboxes.c: one sandbox: its details, its end, how long it lives. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/sandbox/control.h"

#define REFRESH_MIN (15 * USEC_PER_SEC)
#define REFRESH_MAX 3600

void e2b_sandbox_get(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);

        if (sb)
                (void) api_answer(q, 200, e2b_detail_json(sb, q->api, &q->who));
}

/* Gone at once: nobody finds it from here on, however long it takes to take down. */
void e2b_sandbox_kill(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);

        if (!sb)
                return;
        sandbox_delete(sb, /* force= */ true, NULL, NULL);
        (void) e2b_empty(q, 204);
}

typedef struct SandboxesTimeoutBody {
        int64_t timeout;
} SandboxesTimeoutBody;

static const ShapeField timeout_fields[] = {
        { "timeout", SHAPE_CUSTOM, offsetof(SandboxesTimeoutBody, timeout), SHAPE_MANDATORY, .json = SHAPE_PARSE(e2b_field_seconds) },
};
static const Shape timeout_shape = SHAPE_BODY(timeout_fields);

void e2b_sandbox_timeout(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        SandboxesTimeoutBody body = { 0 };
        Error error = { 0 };
        usec_t timeout;
        int r;

        if (!sb || e2b_read(q, &timeout_shape, &body) < 0)
                return;
        if (e2b_is_paused(sb)) { /* its time stands still */
                (void) e2b_error(q, 404, "Sandbox \"%s\" is paused: connect to it, which takes a timeout", sb->id);
                return;
        }
        if (body.timeout == 0) { /* may be shortened to nothing: it ends now */
                r = sandbox_set_timeout(sb, 1, &error);
        } else if (e2b_create_timeout(q, body.timeout, &timeout) < 0)
                return;
        else
                r = sandbox_set_timeout(sb, timeout, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                (void) e2b_empty(q, 204);
}

typedef struct RefreshBody {
        int64_t duration;
} RefreshBody;

static const ShapeField refresh_fields[] = {
        { "duration", SHAPE_CUSTOM, offsetof(RefreshBody, duration), SHAPE_NULLABLE, .json = SHAPE_PARSE(e2b_field_seconds) },
};
static const Shape refresh_shape = SHAPE_BODY(refresh_fields);

/* Only ever lengthens. */
void e2b_sandbox_refresh(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        RefreshBody body = { 0 };
        Error error = { 0 };
        usec_t duration;
        int r = 0;

        if (!sb || e2b_read(q, &refresh_shape, &body) < 0)
                return;
        if (body.duration < 0 || body.duration > REFRESH_MAX) {
                (void) e2b_error(q, 400, "duration: %lld is not from 0 to %d seconds", (long long) body.duration, REFRESH_MAX);
                return;
        }
        duration = MAX_OF((usec_t) body.duration * USEC_PER_SEC, REFRESH_MIN);
        if (!e2b_is_paused(sb) && sb->expires_at != 0 && sb->expires_at < clock_wall_usec() + duration)
                r = sandbox_set_timeout(sb, duration, &error);
        if (r < 0)
                (void) e2b_errno(q, r, error.text);
        else
                (void) e2b_empty(q, 204);
}
