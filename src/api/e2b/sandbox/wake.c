/* wake.c: requests that wait until their sandbox can handle them.
 *
 * The first request wakes a sandbox that is paused in memory and may be woken by traffic; requests that
 * arrive meanwhile wait for the same. A sandbox that was paused without its memory is not woken: its
 * processes would be lost without the client having agreed to that. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "base/log.h"

#define TIMEOUT_MIN (300 * USEC_PER_SEC) /* the minimum after waking, as in E2B */

typedef struct Wake {
        ApiRequest *q;
        SandboxWatch watch;
        sd_event_source *defer; /* looks again after the core has called all its watchers */
        bool asked, failed, starter;
} Wake;

bool e2b_is_awake(const Sandbox *sb) {
        return sandbox_is_up(sb) && sb->activity != ACTIVITY_FREEZING && !sandbox_is_unloading(sb);
}

bool e2b_may_wake(const Sandbox *sb, const E2bRecord *record) {
        if (sandbox_is_unloading(sb) || sb->parked)
                return sandbox_is_booting(sb); /* another request has started it already */
        if (sb->status == SANDBOX_PAUSED)
                return sb->activity == ACTIVITY_THAWING || record->auto_resume;
        return sb->activity == ACTIVITY_FREEZING && record->auto_resume;
}

static void wake_stop(ApiRequest *q) {
        Wake *w = q->waiting;

        if (w->watch.sandbox)
                sandbox_forget_caller(w->watch.sandbox, w);
        sandbox_unwatch(&w->watch);
        sd_event_source_disable_unref(w->defer);
        q->waiting = NULL;
        q->stop_waiting = NULL;
        free(w);
}

static void wake_fail(Wake *w) {
        ApiRequest *q = w->q;

        wake_stop(q);
        (void) e2b_proxy_missing(q, q->sandbox_id);
}

/* The timeout has passed, or nearly, so the sandbox gets more time. */
static void give_time(Sandbox *sb) {
        usec_t timeout = MAX_OF(sb->spec.timeout_usec, TIMEOUT_MIN);
        Error error = { 0 };

        if (sandbox_set_timeout(sb, timeout, &error) < 0)
                log_warning("sandbox %s: cannot extend its timeout after it was woken, ignoring: %s", sb->id, error.text);
}

static void wake_go_on(Wake *w) {
        ApiRequest *q = w->q;
        Sandbox *sb = w->watch.sandbox;

        if (w->starter)
                give_time(sb);
        q->sandbox = sb;
        wake_stop(q);
        api_proceed(q);
}

static void wake_later(Wake *w) {
        (void) sd_event_source_set_enabled(w->defer, SD_EVENT_ONESHOT);
}

static void on_resumed(Sandbox *sb, const Error *error, void *userdata) {
        Wake *w = userdata;

        if (error)
                log_warning("sandbox %s: cannot wake it: %s", sb->id, error->text);
        w->failed = error != NULL;
        w->asked = false;
        wake_later(w);
}

static void wake_on_changed(Sandbox *sb, Execution *x, void *userdata) {
        if (!x)
                wake_later(userdata);
}

static void wake_look(Wake *w) {
        Sandbox *sb = w->watch.sandbox;

        if (!sb || w->failed)
                wake_fail(w);
        else if (w->asked)
                return; /* the answer comes */
        else if (e2b_is_awake(sb))
                wake_go_on(w);
        else if (sb->status == SANDBOX_PAUSED) {
                w->asked = true;
                w->starter = w->starter || (sb->activity != ACTIVITY_THAWING && !sandbox_is_booting(sb));
                sandbox_resume(sb, on_resumed, w);
        } else if (sb->activity != ACTIVITY_FREEZING)
                wake_fail(w);
}

static int wake_on_defer(sd_event_source *source, void *userdata) {
        wake_look(userdata);
        return 0;
}

static Wake *wake_new(ApiRequest *q, Sandbox *sb) {
        Wake *w = calloc(1, sizeof(*w));

        if (!w || sd_event_add_defer(q->manager->event, &w->defer, wake_on_defer, w) < 0) {
                free(w);
                return NULL;
        }
        (void) sd_event_source_set_enabled(w->defer, SD_EVENT_OFF);
        w->q = q;
        w->watch.changed = wake_on_changed;
        w->watch.userdata = w;
        sandbox_watch(sb, &w->watch);
        q->waiting = w;
        q->stop_waiting = wake_stop;
        return w;
}

int e2b_wake(ApiRequest *q) {
        const E2bRecord *record;
        Sandbox *sb = sandbox_unless_gone(q->about);
        Wake *w;

        if (sb && e2b_is_awake(sb)) {
                q->sandbox = sb;
                return 0;
        }
        record = sb ? e2b_record(sb) : NULL;
        if (!record || !e2b_may_wake(sb, record)) {
                (void) e2b_proxy_missing(q, q->sandbox_id);
                return -ENOENT;
        }
        w = wake_new(q, sb);
        if (!w)
                return e2b_errno(q, -ENOMEM, NULL);
        wake_look(w);
        return 1;
}
