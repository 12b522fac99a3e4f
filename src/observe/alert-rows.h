/* alert-rows.h: store rows of alerts, and of notifications that are waiting or were given up.
 *
 * Must not know: what the rows mean. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "core/store.h"

#define ALERT_ID_LENGTH   19 /* "al-" and 16 hexadecimal digits */
#define ALERT_NAME_MAX    63
#define ALERT_SUBJECT_MAX 63

typedef struct StoreAlert {
        char id[ALERT_ID_LENGTH + 1];
        char name[ALERT_NAME_MAX + 1];
        char subject[ALERT_SUBJECT_MAX + 1]; /* "": none */
        char severity[12], status[16];
        bool event; /* raised, not measured */
        bool told;  /* it was notified */
        char *text, *context;
        double value, threshold;
        uint64_t count;   /* of an event: how often it was raised */
        usec_t held_usec; /* time above the threshold before it fired */
        usec_t started_at, fired_at, seen_at, notified_at, acknowledged_at, resolved_at; /* wall clock; 0: not yet */
        char *acknowledged_by, *note;
} StoreAlert;

extern const StoreTable alert_table, notification_table;
STORE_DONE(store_alert_done, alert_table, StoreAlert);
STORE_WRITE(store_alert_insert, store_insert, alert_table, StoreAlert);
STORE_WRITE(store_alert_update, store_update, alert_table, StoreAlert);
STORE_DELETE(store_alert_delete, alert_table);
/* In the order in which they began. The callee may take members out of the row. */
STORE_EACH(store_alert_each, alert_table, StoreAlert);

typedef struct StoreNotification {
        uint64_t id;
        char alert[ALERT_ID_LENGTH + 1]; /* "": none */
        char channel[64];
        char *message;
        usec_t created_at;
        uint64_t starts;
        bool failed;
        char *error;
} StoreNotification;

STORE_DONE(store_notification_done, notification_table, StoreNotification);
STORE_WRITE(store_notification_insert, store_insert, notification_table, StoreNotification);
STORE_WRITE(store_notification_update, store_update, notification_table, StoreNotification);
int store_notification_delete(Store *s, uint64_t id);
STORE_EACH(store_notification_each, notification_table, StoreNotification); /* by id */
