/* alert-engine.h: the state of every alert: signals in, decisions out.
 *
 *      (nothing) → pending → firing ⇄ … → resolved        above the threshold for long enough; below it again
 *                            firing → acknowledged → resolved
 *
 * A pending alert is forgotten when its signal falls below the threshold. A firing alert is notified once, and again
 * only after the cooldown. Its end is notified only if it was notified itself. An acknowledged alert does not repeat.
 * Missing data is not good news: a firing alert goes on firing until its signal has had no value for NO_DATA_USEC.
 * A restart of the daemon, which empties its windows, therefore resolves nothing.
 * An event (alert_engine_raise()) fires at once. It is one alert per name and subject, is notified once per name and
 * cooldown, and resolves when it was not seen for a cooldown.
 *
 * The caller supplies the time. Durations are measured by the monotonic clock only. The wall clock is for display, and
 * for the cooldown across a restart, where a clock that was set back silences an alert for one cooldown at most.
 * Alerts are in memory, at most ALERTS_KEPT_MAX, and mirrored in the store. Each failed write is logged and otherwise
 * ignored, because a failing store is itself a reason for alerts; only an acknowledgement that cannot be saved fails.
 * Must not know: the loop, channels, where signals come from. */
#pragma once

#include "observe/alert-rules.h"
#include "observe/alert-rows.h"

#define ALERTS_KEPT_MAX 1000
#define NO_DATA_USEC    (5 * 60 * USEC_PER_SEC)

typedef enum AlertStatus { ALERT_PENDING, ALERT_FIRING, ALERT_ACKNOWLEDGED, ALERT_RESOLVED, _ALERT_STATUS_MAX } AlertStatus;

const char *alert_status_name(AlertStatus s);
extern const ShapeNames alert_status_names, alert_news_names;

typedef enum AlertNews { NEWS_FIRED, NEWS_REPEATED, NEWS_ACKNOWLEDGED, NEWS_RESOLVED, NEWS_TEST, _NEWS_MAX } AlertNews;


typedef struct Alert {
        StoreAlert row;
        AlertStatus status;
        AlertSeverity severity;
        const AlertRule *rule; /* NULL: an event that is not in the table */
        int64_t seen;          /* monotonic; negative: before the machine started */
        usec_t clear_usec;     /* how long its signal has had no value */
        bool stored;
        struct Alert *prev, *next;
} Alert;

typedef struct AlertNow {
        usec_t mono, wall;
} AlertNow;

typedef struct AlertHooks {
        AlertRead read; /* NAN: no data */
        void (*tell)(const Alert *a, AlertNews news, void *userdata);
        void *userdata;
} AlertHooks;

typedef struct AlertEngine AlertEngine;

/* Loads the alerts that are in the store. */
int alert_engine_new(Store *store, const AlertHooks *hooks, AlertNow now, AlertEngine **ret, Error *reterr);
AlertEngine *alert_engine_free(AlertEngine *e);

void alert_engine_evaluate(AlertEngine *e, const AlertsConfig *config, AlertNow now);

/* subject, context and text may be NULL. Returns 0 also if the configuration disables the event. -EINVAL: the name is
 * that of a measured rule. */
int alert_engine_raise(AlertEngine *e, const AlertsConfig *config, AlertNow now, const char *name, AlertSeverity severity,
                const char *subject, const char *context, const char *text);

/* -ESTALE: the alert is not firing. A second call only replaces by and note, where they are given. */
int alert_engine_acknowledge(AlertEngine *e, Alert *a, AlertNow now, const char *by, const char *note);

Alert *alert_engine_find(AlertEngine *e, const char *id); /* NULL: none */
Alert *alert_engine_newest(AlertEngine *e);               /* older ones by prev; the oldest one's prev is the newest */
const char *alert_title(const Alert *a);
