#include "observe/alert-rules.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define RULE(n, t, s, sig, u, th, sec, run, desc)                                                            \
        { .name = #n, .title = (t), .severity = SEVERITY_##s, .signal = SIGNAL_##sig, .unit = ALERT_UNIT_##u,      \
          .threshold = (th), .sustained_usec = (sec) * USEC_PER_SEC, .runbook = (run), .description = (desc), .enabled = true },
#define EVENT(n, t, s, run, desc)                                                                            \
        { .name = #n, .title = (t), .severity = SEVERITY_##s, .signal = _SIGNAL_MAX, .runbook = (run),       \
          .description = (desc), .enabled = true },
static const AlertRule rules[] = {
#include "observe/alert-rules.def"
};
#undef RULE
#undef EVENT

#define RULE(n, ...)  #n,
#define EVENT(n, ...) #n,
static const char *const names[] = {
#include "observe/alert-rules.def"
        NULL,
};
#undef RULE
#undef EVENT

static const char *const severity_names[_SEVERITY_MAX] = {
        [SEVERITY_INFO] = "info",
        [SEVERITY_WARNING] = "warning",
        [SEVERITY_CRITICAL] = "critical",
};

static const char *const unit_names[_ALERT_UNIT_MAX] = {
        [ALERT_UNIT_COUNT] = "count",
        [ALERT_UNIT_SHARE] = "share",
        [ALERT_UNIT_SECONDS] = "seconds",
};

size_t alert_rules(const AlertRule **ret) {
        *ret = rules;
        return ELEMENTSOF(rules);
}

const AlertRule *alert_rule_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(rules); i++)
                if (strcmp(rules[i].name, name) == 0)
                        return &rules[i];
        return NULL;
}

const char *const *alert_rule_names(void) {
        return names;
}

AlertRule alert_rule_effective(const AlertRule *rule, const AlertsConfig *config) {
        AlertRule e = *rule;

        for (size_t i = 0; i < config->n_overrides; i++) {
                const AlertOverride *o = &config->overrides[i];

                if (strcmp(o->name, rule->name) != 0)
                        continue;
                if (o->said & 1 << OVERRIDE_THRESHOLD)
                        e.threshold = o->threshold;
                if (o->said & 1 << OVERRIDE_SUSTAINED)
                        e.sustained_usec = o->sustained_usec;
                if (o->said & 1 << OVERRIDE_SEVERITY)
                        e.severity = o->severity;
                if (o->said & 1 << OVERRIDE_ENABLED)
                        e.enabled = o->enabled;
        }
        return e;
}

const char *alert_severity_name(AlertSeverity s) {
        return s < _SEVERITY_MAX ? severity_names[s] : NULL;
}

AlertSeverity alert_severity_from_name(const char *name) {
        for (size_t i = 0; name && i < _SEVERITY_MAX; i++)
                if (strcmp(severity_names[i], name) == 0)
                        return (AlertSeverity) i;
        return (AlertSeverity) -EINVAL;
}

const char *alert_unit_name(AlertUnit u) {
        return u < _ALERT_UNIT_MAX ? unit_names[u] : NULL;
}

const char *alert_value_text(AlertUnit unit, double value, char ret[static ALERT_VALUE_MAX]) {
        if (isnan(value))
                (void) snprintf(ret, ALERT_VALUE_MAX, "nothing");
        else if (unit == ALERT_UNIT_SHARE)
                (void) snprintf(ret, ALERT_VALUE_MAX, "%.3g %%", value * 100);
        else
                (void) snprintf(ret, ALERT_VALUE_MAX, "%.6g%s", value, unit == ALERT_UNIT_SECONDS ? " s" : "");
        return ret;
}

static const struct {
        const char *class, *event;
} classes[] = {
        { "database",         "error_database"    },
        { "fatal",            "error_fatal"       },
        { "repeated_timeout", "repeated_timeouts" },
        { "syntax",           "error_syntax"      },
        { "validation",       "error_validation"  },
        { "rate_limit",       "error_rate_limit"  },
        { "client",           "error_client"      },
};

const AlertRule *alert_rule_of_error(const char *class) {
        for (size_t i = 0; class && i < ELEMENTSOF(classes); i++)
                if (strcmp(classes[i].class, class) == 0)
                        return alert_rule_find(classes[i].event);
        return alert_rule_find("error_other");
}
