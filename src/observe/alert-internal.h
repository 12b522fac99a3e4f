/* alert-internal.h: shared by the files of the alert engine. */
#pragma once

#include "observe/alert-engine.h"

/* When an alert of this name was last notified. */
typedef struct Told {
        char name[ALERT_NAME_MAX + 1];
        int64_t at; /* monotonic */
        struct Told *next;
} Told;

struct AlertEngine {
        Store *store;
        AlertHooks hooks;
        Alert *alerts; /* the oldest first */
        size_t n;
        Alert **active; /* by rule: pending, firing or acknowledged */
        Told *told;
        usec_t last; /* evaluation, monotonic; 0: none yet */
};

int alert_save(AlertEngine *e, Alert *a); /* a failed write is made up for by the next change */
void alert_set_text(char **to, const char *text);
size_t alert_rule_index(const AlertRule *rule);
Alert *alert_new(const char *name, const AlertRule *rule, AlertSeverity severity, AlertNow now); /* not in the list yet */
void alert_insert(AlertEngine *e, Alert *a);
void alert_forget(AlertEngine *e, Alert *a);
void alert_resolve(AlertEngine *e, Alert *a, AlertNow now, const char *text);
Told *alert_told_find(AlertEngine *e, const char *name);
void alert_told_set(AlertEngine *e, const char *name, int64_t at);

static inline bool alert_is_active(const Alert *a) {
        return a->status == ALERT_FIRING || a->status == ALERT_ACKNOWLEDGED;
}
