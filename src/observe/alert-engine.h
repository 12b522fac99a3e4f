/* alert-engine.h: what has become of every alert: signals in, decisions out.
 *
 *      (nothing) → pending → firing ⇄ … → resolved        above the threshold, for long enough; below it again
 *                            firing → acknowledged → resolved
 *
 * A pending one that falls below again is forgotten. A firing one is told once, and again only after the cooldown; its end is told
 * if it was told itself. An acknowledged one is not told again. No data is not good news: what fires goes on firing until there was
 * none for NO_DATA_USEC, so that a restart of the daemon, which empties its windows, resolves nothing.
 * An event (alert_engine_raise) fires at once, is kept per subject, told once per name and cooldown, and is over when it was not
 * seen for a cooldown.
 *
 * Time is given by the caller. How long something lasts is measured by the monotonic clock only; the calendar is for people, and
 * for the cooldown across a restart, where a clock that was set back silences for one cooldown at most.
 * Everything is in memory, at most ALERTS_KEPT_MAX, and mirrored in the store: a store that fails is told once per failure and
 * otherwise ignored, because an alert is about such things.
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
        const AlertRule *rule; /* NULL: an event that the table does not have */
        int64_t seen;          /* monotonic; before the machine's start when it is negative */
        usec_t clear_usec;     /* without data for so long */
        bool stored;
        struct Alert *prev, *next;
} Alert;

typedef struct AlertNow {
        usec_t mono, wall;
} AlertNow;

typedef struct AlertHooks {
        double (*read)(Signal s, void *userdata); /* NAN: nothing to go by */
        void (*tell)(const Alert *a, AlertNews news, void *userdata);
        void *userdata;
        unsigned (*cap)(void *userdata); /* sandboxes that the daemon allows; 0: not known; NULL likewise */
} AlertHooks;

typedef struct AlertEngine AlertEngine;

/* Loads what the store has. */
int alert_engine_new(Store *store, const AlertHooks *hooks, AlertNow now, AlertEngine **ret, Error *reterr);
AlertEngine *alert_engine_free(AlertEngine *e);

void alert_engine_evaluate(AlertEngine *e, const AlertsConfig *config, AlertNow now);

/* subject, context and text may be NULL. 0 also when the configuration has switched it off. */
int alert_engine_raise(AlertEngine *e, const AlertsConfig *config, AlertNow now, const char *name, AlertSeverity severity,
                const char *subject, const char *context, const char *text);

/* -ESTALE: it does not fire. Twice is once, with the later note. */
int alert_engine_acknowledge(AlertEngine *e, Alert *a, AlertNow now, const char *by, const char *note);

Alert *alert_engine_find(AlertEngine *e, const char *id); /* NULL: none */
Alert *alert_engine_newest(AlertEngine *e);               /* from there on by prev */
const char *alert_title(const Alert *a);
