#include "observe/alert.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/store.h"
#include "observe/alert-engine.h"
#include "observe/alert-json.h"

#define INTERVAL_MIN     (10 * USEC_PER_MSEC)
#define TIMEOUTS_MINUTES 10

struct Alerts {
        Manager *manager;
        AlertEngine *engine;
        Notify *notify;
        sd_event_source *timer;
        CoreObserver observer;
        Observe *observe;
        unsigned timeouts[TIMEOUTS_MINUTES]; /* in each of the last minutes, as a ring */
        usec_t timeouts_minute;              /* the last one of them; monotonic */
        uint64_t store_failures; /* failures that were reported */
};

static const AlertsConfig *config_of(const Alerts *a) {
        return &a->manager->settings->alerts;
}

static AlertNow now(void) {
        return (AlertNow) { clock_usec(), clock_wall_usec() };
}

static double read_signal(Signal s, void *userdata) {
        const Alerts *a = userdata;

        return observe_signal(a->observe, s);
}

static void alert_tell(const Alert *alert, AlertNews news, void *userdata) {
        Alerts *a = userdata;
        _cleanup_json_ json_t *j = alert_json(alert);

        if (news == NEWS_FIRED)
                metric_add(a->observe, METRIC_ALERTS_FIRED, alert_severity_name(alert->severity), 1);
        if (!a->notify) /* alerts that are resolved while they are loaded are not reported */
                return;
        if (j)
                notify_send(a->notify, alert->severity, news, alert->row.event, j);
        else
                log_warning("alert %s: cannot be told: out of memory", alert->row.name);
}

/* Polled from here, because a callback of the store could not write an alert to it. */
static void look_at_store(Alerts *a) {
        char text[256];
        int last;
        uint64_t n = store_failures(a->manager->store, &last);

        if (n == a->store_failures)
                return;
        a->store_failures = n;
        (void) snprintf(text, sizeof(text), "the store failed: %s", strerror(-last));
        alerts_raise_error(a, "database", /* context= */ NULL, text);
}

static void alert_count_active(Alerts *a) {
        const Alert *newest = alert_engine_newest(a->engine);
        double n[_SEVERITY_MAX] = { 0 };

        for (const Alert *i = newest; i; i = i->prev != newest ? i->prev : NULL)
                if (i->status == ALERT_FIRING || i->status == ALERT_ACKNOWLEDGED)
                        n[i->severity]++;
        for (AlertSeverity s = 0; s < _SEVERITY_MAX; s++)
                metric_set(a->observe, METRIC_ALERTS_ACTIVE, alert_severity_name(s), n[s]);
}

static int alert_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Alerts *a = userdata;
        const AlertsConfig *config = config_of(a);

        if (config->enabled && !a->manager->recovering)
                alert_engine_evaluate(a->engine, config, now());
        look_at_store(a);
        alert_count_active(a);
        (void) sd_event_source_set_time_relative(source, MAX_OF(config->interval_usec, INTERVAL_MIN));
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* Events. */

void alerts_raise(Alerts *a, const char *name, AlertSeverity severity, const char *context, const char *text) {
        char subject[ALERT_SUBJECT_MAX + 1];
        int r;

        if (!a)
                return;
        alert_context_subject(context, subject);
        r = alert_engine_raise(a->engine, config_of(a), now(), name, severity, subject, context, text);
        if (r < 0)
                log_warning("alert %s: cannot be raised: %s", name, strerror(-r));
}

void alerts_raise_error(Alerts *a, const char *class, const char *context, const char *text) {
        const AlertRule *rule = alert_rule_of_error(class);

        alerts_raise(a, rule->name, rule->severity, context, text);
}

static char *event_context(const Sandbox *sb, const Execution *x, const char *event) {
        _cleanup_json_ json_t *j = json_pack("{s:s,s:s,s:s*,s:o,s:o}",
                        "sandboxId", sb->id,
                        "event", event,
                        "executionId", x ? x->id : NULL,
                        "agentType", json_text_or_null(sb->spec.agent_type),
                        "taskId", json_text_or_null(sb->spec.task_id));

        return j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
}

static void raise_event(Alerts *a, const Sandbox *sb, const Execution *x, const char *name, const char *event, const char *text) {
        _cleanup_free_ char *context = event_context(sb, x, event);

        alerts_raise(a, name, SEVERITY_WARNING, context, text);
}

static unsigned alert_count_timeout(Alerts *a) {
        usec_t minute = clock_usec() / (60 * USEC_PER_SEC);
        unsigned n = 0;

        for (unsigned i = 0; i < TIMEOUTS_MINUTES && a->timeouts_minute < minute; i++)
                a->timeouts[++a->timeouts_minute % TIMEOUTS_MINUTES] = 0;
        a->timeouts_minute = minute;
        a->timeouts[minute % TIMEOUTS_MINUTES]++;
        for (unsigned i = 0; i < TIMEOUTS_MINUTES; i++)
                n += a->timeouts[i];
        return n;
}

static void alert_repeat_timeout(Alerts *a) {
        unsigned n = alert_count_timeout(a);
        char text[128];

        (void) snprintf(text, sizeof(text), "%u sandboxes were ended at their work by a time limit within ten minutes", n);
        if (n >= alert_timeouts_many(config_of(a), read_signal(SIGNAL_ACTIVE, a)))
                alerts_raise(a, "repeated_timeouts", SEVERITY_CRITICAL, /* context= */ NULL, text);
}

static void alert_on_timeout(Alerts *a, const Sandbox *sb, const Execution *x) {
        raise_event(a, sb, x, "sandbox_event_timeout", "timeout",
                        x ? "an agent's command was ended by its time limit" : "a sandbox was ended at its work by its time limit");
        alert_repeat_timeout(a);
}

/* The timeout of a sandbox that does nothing is its planned end, and not a problem. */
static void alert_on_event(Sandbox *sb, const char *type, const Execution *x, const char *text, void *userdata) {
        Alerts *a = userdata;

        if (strcmp(type, "timeout") == 0 && (sb->n_alive > 0 || sb->spec.agent_type))
                alert_on_timeout(a, sb, x);
}

/* The reaper ends a stuck sandbox with this word. */
static void alert_on_status(Sandbox *sb, SandboxStatus from, SandboxStatus to, void *userdata) {
        if (to == SANDBOX_TERMINATING && from != to && sb->reason && strncmp(sb->reason, "stuck", strlen("stuck")) == 0)
                raise_event(userdata, sb, /* x= */ NULL, "sandbox_event_stuck", "stuck", sb->reason);
}

/* Only executions of agents: other callers set short limits on purpose. */
static void alert_on_execution_ended(Execution *x, void *userdata) {
        if ((x->reason == EXECUTION_REASON_TIMEOUT || x->reason == EXECUTION_REASON_CPU_TIME) && x->sandbox->spec.agent_type)
                alert_on_timeout(userdata, x->sandbox, x);
}

/* Reading. */

int alerts_list_json(Alerts *a, const char *status, const char *severity, size_t limit, json_t **ret, Error *reterr) {
        return alert_list_json(a->engine, status, severity, limit, ret, reterr);
}

json_t *alerts_active_json(void *alerts) {
        Alerts *a = alerts;
        json_t *list = NULL;

        if (!a || alert_list_json(a->engine, "active", /* severity= */ NULL, ALERTS_KEPT_MAX, &list, /* reterr= */ NULL) < 0)
                return json_array();
        return list;
}

json_t *alerts_get_json(Alerts *a, const char *id) {
        const Alert *alert = alert_engine_find(a->engine, id);

        return alert ? alert_json(alert) : NULL;
}

json_t *alerts_rules_json(Alerts *a) {
        const AlertRule *rules;
        size_t n = alert_rules(&rules);
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++) {
                AlertRule effective = alert_rule_effective(&rules[i], config_of(a), read_signal, a);
                double value = alert_rule_is_event(&effective) ? NAN : read_signal(effective.measure.signal, a);

                (void) json_array_append_new(list, alert_rule_json(&effective, value));
        }
        return list;
}

int alerts_acknowledge(Alerts *a, const char *id, const char *by, const char *note, json_t **ret, Error *reterr) {
        Alert *alert = alert_engine_find(a->engine, id);
        int r;

        if (!alert)
                return error_set(reterr, -ENOENT, "there is no alert '%s'", id);
        r = alert_engine_acknowledge(a->engine, alert, now(), by, note);
        if (r == -ESTALE)
                return error_set(reterr, r, "alert '%s' is %s: only a firing alert can be acknowledged", id, alert_status_name(alert->status));
        if (r < 0)
                return error_set(reterr, r, "cannot save it: %m");
        *ret = alert_json(alert);
        return *ret ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

Notify *alerts_notify(Alerts *a) {
        return a->notify;
}

/* Life. */

static int alerts_setup(Alerts *a, Outbound *outbound, Error *reterr) {
        const AlertHooks hooks = { read_signal, alert_tell, a };
        Manager *m = a->manager;
        int r;

        r = alert_engine_new(m->store, &hooks, now(), &a->engine, reterr);
        if (r >= 0)
                r = notify_new(m->event, m->store, outbound, a->observe, &m->settings, &a->notify, reterr);
        if (r < 0)
                return r;
        r = sd_event_add_time_relative(m->event, &a->timer, CLOCK_MONOTONIC, MAX_OF(config_of(a)->interval_usec, INTERVAL_MIN),
                        USEC_PER_MSEC, alert_on_timer, a);
        return r < 0 ? error_set(reterr, r, "cannot set alerts up: %m") : 0;
}

DEFINE_CLEANUP(Alerts, alerts_free)

int alerts_new(Manager *m, Outbound *outbound, Observe *observe, Alerts **ret, Error *reterr) {
        _cleanup_(alerts_freep) Alerts *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return error_set(reterr, -ENOMEM, "out of memory");
        *a = (Alerts) { .manager = m, .observe = observe };
        r = alerts_setup(a, outbound, reterr);
        if (r < 0)
                return r;
        a->observer = (CoreObserver) { .status = alert_on_status, .event = alert_on_event, .execution_ended = alert_on_execution_ended, .userdata = a };
        manager_observe(m, &a->observer);
        observe_set_alerts(observe, alerts_active_json, a);
        *ret = TAKE_PTR(a);
        return 0;
}

Alerts *alerts_free(Alerts *a) {
        if (!a)
                return NULL;
        manager_unobserve(a->manager, &a->observer); /* the core is destroyed next, and must not call this */
        sd_event_source_disable_unref(a->timer);
        alert_engine_free(a->engine);
        notify_free(a->notify);
        free(a);
        return NULL;
}
