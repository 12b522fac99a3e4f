/* alert-rules.h: the table of alert rules, and how the configuration changes them.
 *
 * Must not know: the state of any alert, channels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "observe/signal.h"

typedef enum AlertUnit { ALERT_UNIT_COUNT, ALERT_UNIT_SHARE, ALERT_UNIT_SECONDS, _ALERT_UNIT_MAX } AlertUnit;

typedef struct AlertRule {
        const char *name, *title;
        AlertSeverity severity;
        Signal signal; /* _SIGNAL_MAX: an event */
        AlertUnit unit;
        double threshold; /* fires above it */
        /* Above 0, with the preset `machine` and a known cap: the threshold is this share of the sandboxes that the
         * daemon allows. */
        double share_of_cap;
        usec_t sustained_usec;
        const char *runbook, *description;
        bool enabled;
} AlertRule;

static inline bool alert_rule_is_event(const AlertRule *rule) {
        return rule->signal == _SIGNAL_MAX;
}

size_t alert_rules(const AlertRule **ret); /* the table, without the configuration's changes */
const AlertRule *alert_rule_find(const char *name); /* NULL: unknown */
const char *const *alert_rule_names(void);          /* NULL-terminated */

/* The rule with the configuration's changes. cap: sandboxes that the daemon allows; 0: not known. */
AlertRule alert_rule_effective(const AlertRule *rule, const AlertsConfig *config, unsigned cap);

const char *alert_severity_name(AlertSeverity s);
extern const ShapeNames alert_unit_names;

/* "31.2 %", "12", "5.3 s" */
#define ALERT_VALUE_MAX 48
const char *alert_value_text(AlertUnit unit, double value, char ret[static ALERT_VALUE_MAX]);

/* Returns the event of an error class. "database", "fatal", "repeated_timeout" and "syntax" are critical; "validation",
 * "rate_limit" and "client" (4xx) are warnings; all other classes are informational. */
const AlertRule *alert_rule_of_error(const char *class);
