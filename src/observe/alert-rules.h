/* alert-rules.h: the table of alert rules, and how the configuration changes them.
 *
 * Must not know: the state of any alert, channels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "observe/signal.h"

typedef enum AlertUnit { ALERT_UNIT_COUNT, ALERT_UNIT_SHARE, ALERT_UNIT_SECONDS, _ALERT_UNIT_MAX } AlertUnit;

/* Fires above the threshold. With a share, the threshold is that share of another signal, and `threshold` the least
 * that it is. */
typedef struct AlertMeasure {
        Signal signal; /* _SIGNAL_MAX: an event */
        AlertUnit unit;
        double threshold, share;
        Signal of; /* share 0: unused */
        usec_t sustained_usec;
} AlertMeasure;

typedef struct AlertRule {
        const char *name, *title;
        AlertSeverity severity;
        AlertMeasure measure, monotask; /* by default, and with the preset `monotask` */
        const char *runbook, *description;
        bool enabled;
} AlertRule;

static inline bool alert_rule_is_event(const AlertRule *rule) {
        return rule->measure.signal == _SIGNAL_MAX;
}

size_t alert_rules(const AlertRule **ret); /* the table, without the configuration's changes */
const AlertRule *alert_rule_find(const char *name); /* NULL: unknown */
const char *const *alert_rule_names(void);          /* NULL-terminated */

/* The rule with the configuration's changes; its measure has the threshold of this moment. read: NAN for no data; if
 * there is none of the signal that a share is of, the rule does not fire. */
typedef double (*AlertRead)(Signal s, void *userdata);
AlertRule alert_rule_effective(const AlertRule *rule, const AlertsConfig *config, AlertRead read, void *userdata);

/* How many timeouts within ten minutes are the event repeated_timeouts. active: sandboxes now; NAN: not known. */
double alert_timeouts_many(const AlertsConfig *config, double active);

const char *alert_severity_name(AlertSeverity s);
extern const ShapeNames alert_unit_names;

/* "31.2 %", "12", "5.3 s" */
#define ALERT_VALUE_MAX 48
const char *alert_value_text(AlertUnit unit, double value, char ret[static ALERT_VALUE_MAX]);

/* Returns the event of an error class. "database", "fatal", "repeated_timeout" and "syntax" are critical; "validation",
 * "rate_limit" and "client" (4xx) are warnings; all other classes are informational. */
const AlertRule *alert_rule_of_error(const char *class);
