/* alert-engine.c: evaluates rules and events, and decides what to notify. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "observe/alert-internal.h"

#define TEXT_MAX  512
#define TICKS_MAX 3 /* a longer pause between two evaluations, as when the machine slept, counts only in part */

/* Notifying. */

static bool is_cool(AlertEngine *e, const char *name, const AlertsConfig *config, AlertNow now) {
        const Told *t = alert_told_find(e, name);

        return !t || (int64_t) now.mono - t->at >= (int64_t) MIN_OF(config->cooldown_usec, (usec_t) INT64_MAX / 2);
}

/* Notifies unless the cooldown is still running. */
static void tell_firing(AlertEngine *e, Alert *a, const AlertsConfig *config, AlertNow now) {
        if (a->status != ALERT_FIRING || !is_cool(e, a->row.name, config, now))
                return;
        alert_told_set(e, a->row.name, (int64_t) now.mono);
        a->row.notified_at = now.wall;
        e->hooks.tell(a, a->row.told ? NEWS_REPEATED : NEWS_FIRED, e->hooks.userdata);
        a->row.told = true;
        (void) alert_save(e, a);
}

void alert_resolve(AlertEngine *e, Alert *a, AlertNow now, const char *text) {
        a->status = ALERT_RESOLVED;
        a->row.resolved_at = now.wall;
        if (text)
                alert_set_text(&a->row.text, text);
        if (a->rule && e->active[alert_rule_index(a->rule)] == a)
                e->active[alert_rule_index(a->rule)] = NULL;
        (void) alert_save(e, a);
        if (a->row.told)
                e->hooks.tell(a, NEWS_RESOLVED, e->hooks.userdata);
}

/* Rules. */

static void alert_engine_describe(Alert *a, const AlertMeasure *m) {
        char value[ALERT_VALUE_MAX], threshold[ALERT_VALUE_MAX], text[TEXT_MAX];

        (void) snprintf(text, sizeof(text), "%s is %s, above %s", signal_name(m->signal),
                        alert_value_text(m->unit, a->row.value, value),
                        alert_value_text(m->unit, m->threshold, threshold));
        alert_set_text(&a->row.text, text);
}

static void alert_engine_begin(AlertEngine *e, const AlertRule *rule, const AlertRule *effective, AlertNow now) {
        Alert *a = alert_new(rule->name, rule, effective->severity, now);

        if (!a)
                return;
        a->status = ALERT_PENDING;
        e->active[alert_rule_index(rule)] = a;
        alert_insert(e, a);
}

static void on_above(AlertEngine *e, const AlertRule *rule, const AlertRule *effective, double value, usec_t passed,
                const AlertsConfig *config, AlertNow now) {
        Alert *a = e->active[alert_rule_index(rule)];
        bool known = a;

        if (!a) {
                alert_engine_begin(e, rule, effective, now);
                a = e->active[alert_rule_index(rule)];
                if (!a)
                        return;
        }
        a->row.value = value;
        a->row.threshold = effective->measure.threshold;
        a->row.seen_at = now.wall;
        a->seen = (int64_t) now.mono;
        a->clear_usec = 0;
        alert_engine_describe(a, &effective->measure);
        if (a->status == ALERT_PENDING) {
                a->row.held_usec += known ? passed : 0;
                if (a->row.held_usec >= effective->measure.sustained_usec) {
                        a->status = ALERT_FIRING;
                        a->severity = effective->severity;
                        a->row.fired_at = now.wall;
                }
                (void) alert_save(e, a);
        }
        tell_firing(e, a, config, now);
}

static void on_below(AlertEngine *e, const AlertRule *effective, Alert *a, double value, usec_t passed, AlertNow now) {
        char is[ALERT_VALUE_MAX], text[TEXT_MAX];

        if (a->status == ALERT_PENDING) {
                alert_forget(e, a);
                return;
        }
        a->clear_usec = isnan(value) ? a->clear_usec + passed : 0;
        if (effective->enabled && isnan(value) && a->clear_usec < NO_DATA_USEC)
                return;
        if (!isnan(value))
                a->row.value = value;
        (void) snprintf(text, sizeof(text), effective->enabled ? "%s is %s" : "%s is not looked at any more",
                        signal_name(effective->measure.signal), alert_value_text(effective->measure.unit, value, is));
        alert_resolve(e, a, now, text);
}

static AlertRule alert_engine_rule(const AlertEngine *e, const AlertRule *rule, const AlertsConfig *config) {
        return alert_rule_effective(rule, config, e->hooks.read, e->hooks.userdata);
}

static void alert_engine_look(AlertEngine *e, const AlertRule *rule, usec_t passed, const AlertsConfig *config, AlertNow now) {
        AlertRule effective = alert_engine_rule(e, rule, config);
        Alert *a = e->active[alert_rule_index(rule)];
        double value = effective.enabled ? e->hooks.read(effective.measure.signal, e->hooks.userdata) : NAN;

        if (value > effective.measure.threshold) /* never true of NAN */
                on_above(e, rule, &effective, value, passed, config, now);
        else if (a)
                on_below(e, &effective, a, value, passed, now);
}

static void expire_events(AlertEngine *e, const AlertsConfig *config, AlertNow now) {
        Alert *a;

        DL_FOREACH(e->alerts, a)
                if (a->row.event && alert_is_active(a) && (int64_t) now.mono - a->seen >= (int64_t) config->cooldown_usec)
                        alert_resolve(e, a, now, /* text= */ NULL);
}

void alert_engine_evaluate(AlertEngine *e, const AlertsConfig *config, AlertNow now) {
        usec_t passed = e->last > 0 && now.mono > e->last ? now.mono - e->last : 0;
        const AlertRule *rules;
        size_t n = alert_rules(&rules);

        passed = MIN_OF(passed, TICKS_MAX * MAX_OF(config->interval_usec, USEC_PER_SEC));
        e->last = now.mono;
        for (size_t i = 0; i < n; i++)
                if (!alert_rule_is_event(&rules[i]))
                        alert_engine_look(e, &rules[i], passed, config, now);
        expire_events(e, config, now);
}

/* Events. */

static Alert *event_find(AlertEngine *e, const char *name, const char *subject) {
        Alert *a;

        DL_FOREACH(e->alerts, a)
                if (a->row.event && alert_is_active(a) && strcmp(a->row.name, name) == 0 && strcmp(a->row.subject, subject) == 0)
                        return a;
        return NULL;
}

static Alert *event_begin(AlertEngine *e, const char *name, const AlertRule *rule, AlertSeverity severity, const char *subject,
                AlertNow now) {
        Alert *a = alert_new(name, rule, severity, now);

        if (!a)
                return NULL;
        (void) snprintf(a->row.subject, sizeof(a->row.subject), "%s", subject);
        a->status = ALERT_FIRING;
        a->row.event = true;
        a->row.fired_at = now.wall;
        alert_insert(e, a);
        return a;
}

int alert_engine_raise(AlertEngine *e, const AlertsConfig *config, AlertNow now, const char *name, AlertSeverity severity,
                const char *subject, const char *context, const char *text) {
        const AlertRule *rule = alert_rule_find(name);
        char key[ALERT_SUBJECT_MAX + 1];
        Alert *a;

        if (rule && !alert_rule_is_event(rule))
                return -EINVAL; /* that one is measured */
        if (rule) {
                AlertRule effective = alert_engine_rule(e, rule, config);

                if (!effective.enabled)
                        return 0;
                if (effective.severity != rule->severity) /* the configured severity counts */
                        severity = effective.severity;
        }
        (void) snprintf(key, sizeof(key), "%s", subject ? subject : "");
        a = event_find(e, name, key);
        if (!a)
                a = event_begin(e, name, rule, severity, key, now);
        if (!a)
                return -ENOMEM;
        a->row.count++;
        a->row.seen_at = now.wall;
        a->seen = (int64_t) now.mono;
        alert_set_text(&a->row.text, text);
        alert_set_text(&a->row.context, context);
        (void) alert_save(e, a);
        if (config->enabled)
                tell_firing(e, a, config, now);
        return 0;
}

/* A change that cannot be saved is undone, and the call is refused. */
static int engine_write_acknowledgement(AlertEngine *e, Alert *a, const Alert *before) {
        int r = alert_save(e, a);

        if (a->row.acknowledged_by != before->row.acknowledged_by)
                free(r < 0 ? a->row.acknowledged_by : before->row.acknowledged_by);
        if (a->row.note != before->row.note)
                free(r < 0 ? a->row.note : before->row.note);
        if (r < 0) {
                a->status = before->status;
                a->row = before->row;
        }
        return r;
}

int alert_engine_acknowledge(AlertEngine *e, Alert *a, AlertNow now, const char *by, const char *note) {
        const Alert before = *a;
        bool first = a->status == ALERT_FIRING;
        int r;

        if (!alert_is_active(a))
                return -ESTALE;
        a->status = ALERT_ACKNOWLEDGED;
        if (first)
                a->row.acknowledged_at = now.wall;
        if (by || first)
                a->row.acknowledged_by = by ? strdup(by) : NULL;
        if (note || first)
                a->row.note = note ? strdup(note) : NULL;
        r = engine_write_acknowledgement(e, a, &before);
        if (r >= 0 && first && a->row.told)
                e->hooks.tell(a, NEWS_ACKNOWLEDGED, e->hooks.userdata);
        return r;
}
