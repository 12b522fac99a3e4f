/* table.c: the tables of metrics, signals and alerts as JSON, for deploy/generate. */

#include <stdio.h>
#include <stdlib.h>

#include "observe/alert-rules.h"
#include "observe/internal.h"

static json_t *observe_table_labels_json(const MetricInfo *info) {
        json_t *list = json_array();

        for (size_t i = 0; i < METRIC_LABELS_MAX && *info->labels[i]; i++)
                (void) json_array_append_new(list, json_string(info->labels[i]));
        return list;
}

static json_t *observe_table_metrics_json(void) {
        json_t *list = json_array();

        for (Metric m = 0; m < _METRIC_MAX; m++) {
                const MetricInfo *info = metric_info(m);

                (void) json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:b}", "id", info->id, "name", info->name,
                                "type", metric_type_name(info->type), "unit", metric_unit_name(info->unit), "help", info->help,
                                "labels", observe_table_labels_json(info), "history", info->keep));
        }
        return list;
}

static json_t *observe_table_signals_json(void) {
        json_t *list = json_array();

        for (Signal s = 0; s < _SIGNAL_MAX; s++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "cove_signal_%s", signal_name(s));
                (void) json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "signal", signal_name(s), "name", name, "help", signal_help(s)));
        }
        return list;
}

static json_t *observe_table_rule_json(const AlertRule *rule) {
        const AlertMeasure *m = &rule->measure;

        return json_pack("{s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:o,s:f,s:s,s:s}", "name", rule->name, "title", rule->title,
                        "severity", alert_severity_name(rule->severity), "signal", signal_name(m->signal),
                        "unit", shape_name(&alert_unit_names, (int) m->unit), "threshold", m->threshold, "share", m->share,
                        "of", json_text_or_null(m->share > 0 ? signal_name(m->of) : NULL), "seconds", (double) m->sustained_usec / USEC_PER_SEC,
                        "runbook", rule->runbook, "description", rule->description);
}

static json_t *rules_json(void) {
        const AlertRule *rules;
        size_t n = alert_rules(&rules);
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                if (!alert_rule_is_event(&rules[i]))
                        (void) json_array_append_new(list, observe_table_rule_json(&rules[i]));
        return list;
}

int observe_print_table(FILE *to) {
        _cleanup_json_ json_t *table = json_pack("{s:o,s:o,s:o}", "metrics", observe_table_metrics_json(), "signals", observe_table_signals_json(), "rules", rules_json());

        if (!table || json_dumpf(table, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) < 0 || fputc('\n', to) < 0)
                return -EIO;
        return 0;
}
