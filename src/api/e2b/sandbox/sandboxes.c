/* sandboxes.c: one sandbox: details, kill, timeout. */

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

static void e2b_sandbox_on_killed(Sandbox *sb, const Error *error, void *userdata) {
        (void) e2b_done(userdata, error ? error->code : 0, error ? error->text : NULL);
}

/* The sandbox is not found from now on. The answer is sent when everything is removed, so that its volumes
 * and its name are free for the next call. */
void e2b_sandbox_kill(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);

        if (!sb)
                return;
        api_keep_caller(q, sb);
        sandbox_delete(sb, /* force= */ true, e2b_sandbox_on_killed, q);
}

void e2b_sandbox_timeout(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        int64_t seconds = 0;
        Error error = { 0 };
        usec_t timeout = 1; /* 0 is allowed: the sandbox ends now */

        if (!sb || e2b_read_field(q, "timeout", SHAPE_MANDATORY, SHAPE_PARSE(e2b_field_seconds), &seconds) < 0)
                return;
        if (e2b_is_paused(sb)) { /* its timeout is stopped */
                (void) e2b_error(q, 404, "Sandbox \"%s\" is paused: connect to it, which takes a timeout", sb->id);
                return;
        }
        if (seconds == 0 || e2b_create_timeout(q, seconds, &timeout) >= 0)
                (void) e2b_done(q, sandbox_set_timeout(sb, timeout, &error), error.text);
}

/* Only ever lengthens. */
void e2b_sandbox_refresh(ApiRequest *q) {
        Sandbox *sb = e2b_find_sandbox(q, q->parameters[0]);
        int64_t seconds = 0;
        Error error = { 0 };
        usec_t duration;
        int r = 0;

        if (!sb || e2b_read_field(q, "duration", SHAPE_NULLABLE, SHAPE_PARSE(e2b_field_seconds), &seconds) < 0)
                return;
        if (seconds < 0 || seconds > REFRESH_MAX) {
                (void) e2b_error(q, 400, "duration: %lld is not from 0 to %d seconds", (long long) seconds, REFRESH_MAX);
                return;
        }
        duration = MAX_OF((usec_t) seconds * USEC_PER_SEC, REFRESH_MIN);
        if (!e2b_is_paused(sb) && sb->expires_at != 0 && sb->expires_at < clock_wall_usec() + duration)
                r = sandbox_set_timeout(sb, duration, &error);
        (void) e2b_done(q, r, error.text);
}
