#include "observe/alert-json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *alert_json_number_or_null(double value) {
        return isnan(value) ? json_null() : json_real(value);
}

static json_t *runbook_json(const AlertRule *rule) {
        return rule ? json_sprintf("docs/runbooks/%s.md", rule->runbook) : json_null();
}

static json_t *alert_json_context(const Alert *a) {
        json_t *j = a->row.context ? json_loads(a->row.context, 0, NULL) : NULL;

        return j ? j : json_null();
}

json_t *alert_json(const Alert *a) {
        const StoreAlert *row = &a->row;

        return json_pack("{s:s,s:s,s:o,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "id", row->id,
                        "name", row->name,
                        "title", json_text_or_null(alert_title(a)),
                        "severity", alert_severity_name(a->severity),
                        "status", alert_status_name(a->status),
                        "kind", row->event ? "event" : "rule",
                        "message", json_text_or_null(row->text),
                        "description", json_text_or_null(a->rule ? a->rule->description : NULL),
                        "context", alert_json_context(a),
                        "value", alert_json_number_or_null(row->value),
                        "threshold", alert_json_number_or_null(row->threshold),
                        "count", (json_int_t) row->count,
                        "startedAt", json_time(row->started_at),
                        "firedAt", json_time(row->fired_at),
                        "lastSeenAt", json_time(row->seen_at),
                        "notifiedAt", json_time(row->notified_at),
                        "acknowledgedAt", json_time(row->acknowledged_at),
                        "acknowledgedBy", json_text_or_null(row->acknowledged_by),
                        "note", json_text_or_null(row->note),
                        "resolvedAt", json_time(row->resolved_at),
                        "runbook", runbook_json(a->rule));
}

json_t *alert_rule_json(const AlertRule *rule, double value) {
        bool event = alert_rule_is_event(rule);
        const AlertMeasure *m = &rule->measure;

        return json_pack("{s:s,s:s,s:s,s:b,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}",
                        "name", rule->name,
                        "title", rule->title,
                        "severity", alert_severity_name(rule->severity),
                        "enabled", rule->enabled,
                        "kind", event ? "event" : "rule",
                        "signal", json_text_or_null(event ? NULL : signal_name(m->signal)),
                        "unit", json_text_or_null(event ? NULL : shape_name(&alert_unit_names, (int) m->unit)),
                        "threshold", event ? json_null() : alert_json_number_or_null(m->threshold),
                        "share", m->share > 0 ? json_real(m->share) : json_null(),
                        "of", json_text_or_null(m->share > 0 ? signal_name(m->of) : NULL),
                        "sustainedSeconds", event ? json_null() : json_real((double) m->sustained_usec / (double) USEC_PER_SEC),
                        "value", alert_json_number_or_null(value),
                        "description", rule->description,
                        "runbook", runbook_json(rule));
}

static int alert_json_read_words(const char *status, const char *severity, AlertStatus *ret_status, AlertSeverity *ret_severity, Error *reterr) {
        *ret_status = (AlertStatus) shape_value(&alert_status_names, status);
        *ret_severity = (AlertSeverity) shape_value(&alert_severity_names, severity);
        if (status && (int) *ret_status < 0 && strcmp(status, "active") != 0)
                return error_set(reterr, -EINVAL, "'%s' is not a status: use pending, firing, acknowledged, resolved or active", status);
        if (severity && (int) *ret_severity < 0)
                return error_set(reterr, -EINVAL, "'%s' is not a severity: use info, warning or critical", severity);
        return 0;
}

static bool matches(const Alert *a, const char *status, AlertStatus s, const char *severity, AlertSeverity v) {
        if (severity && a->severity != v)
                return false;
        if (status && (int) s < 0)
                return a->status == ALERT_FIRING || a->status == ALERT_ACKNOWLEDGED;
        return !status || a->status == s;
}

int alert_list_json(AlertEngine *e, const char *status, const char *severity, size_t limit, json_t **ret, Error *reterr) {
        const Alert *newest = alert_engine_newest(e);
        AlertSeverity v;
        AlertStatus s;
        json_t *list;
        int r;

        r = alert_json_read_words(status, severity, &s, &v, reterr);
        if (r < 0)
                return r;
        list = json_array();
        for (const Alert *a = newest; a && json_array_size(list) < limit; a = a->prev != newest ? a->prev : NULL)
                if (matches(a, status, s, severity, v))
                        (void) json_array_append_new(list, alert_json(a));
        *ret = list;
        return 0;
}

void alert_context_subject(const char *context, char ret[static ALERT_SUBJECT_MAX + 1]) {
        _cleanup_json_ json_t *j = context ? json_loads(context, 0, NULL) : NULL;
        const char *id = json_string_value(json_object_get(j, "sandboxId"));

        (void) snprintf(ret, ALERT_SUBJECT_MAX + 1, "%s", id ? id : "");
}
