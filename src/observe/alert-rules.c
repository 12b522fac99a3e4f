#include "observe/alert-rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/shape.h"

#define TIMEOUTS_MANY  3
#define TIMEOUTS_SHARE 0.01 /* of the active sandboxes */

#define FIXED(sig, u, th, sec) { .signal = SIGNAL_##sig, .unit = ALERT_UNIT_##u, .threshold = (th), .sustained_usec = (sec) * USEC_PER_SEC }
#define SHARE_OF(sig, sh, o, least, sec)                                                                     \
        { .signal = SIGNAL_##sig, .unit = ALERT_UNIT_COUNT, .threshold = (least), .share = (sh), .of = SIGNAL_##o, .sustained_usec = (sec) * USEC_PER_SEC }
#define RULE(n, t, s, m, run, desc)                                                                          \
        { .name = #n, .title = (t), .severity = SEVERITY_##s, .measure = m, .monotask = m, .runbook = (run), .description = (desc), .enabled = true },
#define SCALED_RULE(n, t, s, m, mono, run, desc)                                                             \
        { .name = #n, .title = (t), .severity = SEVERITY_##s, .measure = m, .monotask = mono, .runbook = (run), .description = (desc), .enabled = true },
#define EVENT(n, t, s, run, desc)                                                                            \
        { .name = #n, .title = (t), .severity = SEVERITY_##s, .measure = { .signal = _SIGNAL_MAX }, .monotask = { .signal = _SIGNAL_MAX }, \
          .runbook = (run), .description = (desc), .enabled = true },
static const AlertRule rules[] = {
#include "observe/alert-rules.def"
};
#undef RULE
#undef SCALED_RULE
#undef EVENT

#define RULE(n, ...)        #n,
#define SCALED_RULE(n, ...) #n,
#define EVENT(n, ...)       #n,
static const char *const names[] = {
#include "observe/alert-rules.def"
        NULL,
};
#undef RULE
#undef SCALED_RULE
#undef EVENT

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

AlertRule alert_rule_effective(const AlertRule *rule, const AlertsConfig *config, AlertRead read, void *userdata) {
        AlertRule e = *rule;
        AlertMeasure *m = &e.measure;

        if (config->preset == ALERT_PRESET_MONOTASK)
                *m = rule->monotask;
        if (m->share > 0) {
                double whole = read(m->of, userdata);

                m->threshold = isnan(whole) ? NAN : fmax(floor(m->share * whole), m->threshold);
        }
        for (size_t i = 0; i < config->n_overrides; i++) {
                const AlertOverride *o = &config->overrides[i];

                if (strcmp(o->name, rule->name) != 0)
                        continue;
                if (o->said & 1 << OVERRIDE_THRESHOLD) {
                        m->threshold = o->threshold;
                        m->share = 0;
                }
                if (o->said & 1 << OVERRIDE_SUSTAINED)
                        m->sustained_usec = o->sustained_usec;
                if (o->said & 1 << OVERRIDE_SEVERITY)
                        e.severity = o->severity;
                if (o->said & 1 << OVERRIDE_ENABLED)
                        e.enabled = o->enabled;
        }
        return e;
}

/* Three are more than chance, but not among ten thousand sandboxes. */
double alert_timeouts_many(const AlertsConfig *config, double active) {
        return config->preset == ALERT_PRESET_MONOTASK ? TIMEOUTS_MANY : fmax(TIMEOUTS_MANY, floor(TIMEOUTS_SHARE * active));
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

const AlertRule *alert_rule_of_error(const char *class) {
        const AlertRule *rule;
        char name[64];

        (void) snprintf(name, sizeof(name), "error_%s", class ? class : "other");
        rule = alert_rule_find(class && strcmp(class, "repeated_timeout") == 0 ? "repeated_timeouts" : name);
        return rule ? rule : alert_rule_find("error_other");
}
