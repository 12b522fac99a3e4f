/* alert-memory.c: the list of alerts, in memory and in the store. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "core/secret.h"
#include "observe/alert-internal.h"

const char *alert_title(const Alert *a) {
        return a->rule ? a->rule->title : a->row.name;
}

/* The store. */

/* An alert that could not be inserted, because the disk was full for example, is inserted later. */
int alert_save(AlertEngine *e, Alert *a) {
        int r;

        (void) snprintf(a->row.status, sizeof(a->row.status), "%s", alert_status_name(a->status));
        (void) snprintf(a->row.severity, sizeof(a->row.severity), "%s", alert_severity_name(a->severity));
        if (!e->store)
                return 0;
        r = a->stored ? store_alert_update(e->store, &a->row) : store_alert_insert(e->store, &a->row);
        if (r < 0)
                log_warning("alert %s: cannot be written, ignoring: %s", a->row.name, strerror(-r));
        else
                a->stored = true;
        return r;
}

void alert_set_text(char **to, const char *text) {
        char *copy = text ? strdup(text) : NULL;

        free(*to);
        *to = copy;
}

size_t alert_rule_index(const AlertRule *rule) {
        const AlertRule *rules;

        (void) alert_rules(&rules);
        return (size_t) (rule - rules);
}

void alert_forget(AlertEngine *e, Alert *a) {
        if (a->rule && e->active[alert_rule_index(a->rule)] == a)
                e->active[alert_rule_index(a->rule)] = NULL;
        DL_DELETE(e->alerts, a);
        e->n--;
        if (e->store && a->stored)
                store_may_lose(store_alert_delete(e->store, a->row.id), "that an alert is forgotten"); /* if the row stays, the next start trims it */
        store_alert_done(&a->row);
        free(a);
}

/* Removes the oldest alert that is over, else the oldest of the least severe events, so that many small ones do
 * not displace a severe one. Firing rules are few, and stay; so does the newest alert, which is still being
 * filled in. */
static void trim(AlertEngine *e) {
        Alert *over = NULL, *event = NULL, *a;

        if (e->n <= ALERTS_KEPT_MAX)
                return;
        DL_FOREACH(e->alerts, a) {
                if (!over && a->status == ALERT_RESOLVED)
                        over = a;
                if (a->row.event && a->next && (!event || a->severity < event->severity))
                        event = a;
        }
        if (over || event)
                alert_forget(e, over ? over : event);
}

Alert *alert_new(const char *name, const AlertRule *rule, AlertSeverity severity, AlertNow now) {
        Alert *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        memcpy(a->row.id, "al-", 3);
        secret_random_hex(a->row.id + 3, ALERT_ID_LENGTH - 3);
        (void) snprintf(a->row.name, sizeof(a->row.name), "%s", name);
        a->rule = rule;
        a->severity = severity;
        a->row.value = a->row.threshold = NAN;
        a->row.started_at = a->row.seen_at = now.wall;
        a->seen = (int64_t) now.mono;
        return a;
}

void alert_insert(AlertEngine *e, Alert *a) {
        DL_APPEND(e->alerts, a);
        e->n++;
        (void) alert_save(e, a);
        trim(e);
}

Told *alert_told_find(AlertEngine *e, const char *name) {
        for (Told *t = e->told; t; t = t->next)
                if (strcmp(t->name, name) == 0)
                        return t;
        return NULL;
}

void alert_told_set(AlertEngine *e, const char *name, int64_t at) {
        Told *t = alert_told_find(e, name);

        if (!t) {
                t = calloc(1, sizeof(*t));
                if (!t)
                        return; /* one notification too many is sent then */
                (void) snprintf(t->name, sizeof(t->name), "%s", name);
                t->at = at;
                t->next = e->told;
                e->told = t;
        }
        t->at = MAX_OF(t->at, at);
}

Alert *alert_engine_find(AlertEngine *e, const char *id) {
        Alert *a;

        DL_FOREACH(e->alerts, a)
                if (strcmp(a->row.id, id) == 0)
                        return a;
        return NULL;
}

Alert *alert_engine_newest(AlertEngine *e) {
        return e->alerts ? e->alerts->prev : NULL; /* utlist: the head's prev is the tail */
}

/* Life. */

typedef struct Loading {
        AlertEngine *engine;
        AlertNow now;
} Loading;

/* The monotonic time of a wall-clock time, as far as the calendar can be trusted. A time in the future counts
 * as now. */
static int64_t mono_of(AlertNow now, usec_t wall) {
        usec_t age = now.wall > wall ? now.wall - wall : 0;

        return (int64_t) now.mono - (int64_t) MIN_OF(age, (usec_t) INT64_MAX / 4);
}

static int alert_memory_load(StoreAlert *row, void *userdata) {
        const Loading *l = userdata;
        AlertEngine *e = l->engine;
        int status = shape_value(&alert_status_names, row->status);
        int severity = shape_value(&alert_severity_names, row->severity);
        Alert *a;

        if (status < 0 || severity < 0)
                return -EBADMSG;
        a = calloc(1, sizeof(*a));
        if (!a)
                return -ENOMEM;
        a->row = *row;
        row->text = row->context = row->acknowledged_by = row->note = NULL;
        a->stored = true;
        a->status = (AlertStatus) status;
        a->severity = (AlertSeverity) severity;
        a->rule = alert_rule_find(row->name);
        a->seen = mono_of(l->now, row->seen_at);
        if (a->rule && !row->event && status != ALERT_RESOLVED)
                e->active[alert_rule_index(a->rule)] = a;
        if (row->notified_at > 0)
                alert_told_set(e, row->name, mono_of(l->now, row->notified_at));
        DL_APPEND(e->alerts, a);
        e->n++;
        return 0;
}

/* Rules of an older version that do not exist any more would fire forever. */
static void alert_memory_drop_unknown(AlertEngine *e, AlertNow now) {
        Alert *a, *next;

        DL_FOREACH_SAFE(e->alerts, a, next)
                if (!a->row.event && a->status != ALERT_RESOLVED && (!a->rule || e->active[alert_rule_index(a->rule)] != a))
                        alert_resolve(e, a, now, "there is no such rule any more");
}

int alert_engine_new(Store *store, const AlertHooks *hooks, AlertNow now, AlertEngine **ret, Error *reterr) {
        AlertEngine *e = calloc(1, sizeof(*e));
        Loading loading = { e, now };
        const AlertRule *rules;
        int r = 0;

        if (e) {
                e->store = store;
                e->hooks = *hooks;
                e->active = calloc(alert_rules(&rules), sizeof(Alert *));
        }
        if (!e || !e->active) {
                free(e);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        if (store)
                r = store_alert_each(store, alert_memory_load, &loading);
        if (r < 0) {
                alert_engine_free(e);
                return error_set(reterr, r, "cannot read the alerts: %m");
        }
        alert_memory_drop_unknown(e, now);
        for (size_t before = 0; e->n != before;) {
                before = e->n;
                trim(e);
        }
        *ret = e;
        return 0;
}

AlertEngine *alert_engine_free(AlertEngine *e) {
        Alert *a, *next;

        if (!e)
                return NULL;
        DL_FOREACH_SAFE(e->alerts, a, next) {
                if (alert_is_active(a) && !a->row.event)
                        (void) alert_save(e, a); /* its last value and time */
                store_alert_done(&a->row);
                free(a);
        }
        while (e->told) {
                Told *t = e->told;

                e->told = t->next;
                free(t);
        }
        free(e->active);
        free(e);
        return NULL;
}
