#include "observe/alert-rows.h"

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

static const ShapeField alert_fields[] = {
        FIELD("id",              chars,  StoreAlert, id),
        FIELD("name",            chars,  StoreAlert, name),
        FIELD("subject",         chars,  StoreAlert, subject),
        FIELD("severity",        chars,  StoreAlert, severity),
        FIELD("status",          chars,  StoreAlert, status),
        FIELD("event",           bool,   StoreAlert, event),
        FIELD("told",            bool,   StoreAlert, told),
        FIELD("text",            text,   StoreAlert, text),
        FIELD("context",         text,   StoreAlert, context),
        FIELD("value",           double, StoreAlert, value),
        FIELD("threshold",       double, StoreAlert, threshold),
        FIELD("count",           uint64, StoreAlert, count),
        FIELD("held_usec",       uint64, StoreAlert, held_usec),
        FIELD("started_at",      uint64, StoreAlert, started_at),
        FIELD("fired_at",        uint64, StoreAlert, fired_at),
        FIELD("seen_at",         uint64, StoreAlert, seen_at),
        FIELD("notified_at",     uint64, StoreAlert, notified_at),
        FIELD("acknowledged_at", uint64, StoreAlert, acknowledged_at),
        FIELD("acknowledged_by", text,   StoreAlert, acknowledged_by),
        FIELD("note",            text,   StoreAlert, note),
        FIELD("resolved_at",     uint64, StoreAlert, resolved_at),
};
const FieldTable alert_table = { "alert", alert_fields, ELEMENTSOF(alert_fields), 1 };

static const ShapeField notification_fields[] = {
        FIELD("id",         uint64, StoreNotification, id),
        FIELD("alert",      chars,  StoreNotification, alert),
        FIELD("channel",    chars,  StoreNotification, channel),
        FIELD("message",    text,   StoreNotification, message),
        FIELD("created_at", uint64, StoreNotification, created_at),
        FIELD("starts",     uint64, StoreNotification, starts),
        FIELD("failed",     bool,   StoreNotification, failed),
        FIELD("error",      text,   StoreNotification, error),
};
const FieldTable notification_table = { "notification", notification_fields, ELEMENTSOF(notification_fields), 1 };

void store_alert_done(StoreAlert *a) {
        table_done(&alert_table, a);
}

int store_alert_insert(Store *s, const StoreAlert *a) {
        return statement_write(s, STATEMENT_ALERT_INSERT, &alert_table, table_columns(&alert_table), a);
}

int store_alert_update(Store *s, const StoreAlert *a) {
        return statement_write(s, STATEMENT_ALERT_UPDATE, &alert_table, table_columns(&alert_table), a);
}

int store_alert_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_ALERT_DELETE, id);
}

typedef struct AlertEach {
        int (*each)(StoreAlert *row, void *userdata);
        void *userdata;
} AlertEach;

static int alert_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const AlertEach *e = userdata;
        StoreAlert row = { 0 };
        int r;

        r = table_load(&alert_table, st, 0, &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        store_alert_done(&row);
        return r;
}

int store_alert_each(Store *s, int (*each)(StoreAlert *row, void *userdata), void *userdata) {
        AlertEach e = { each, userdata };

        return statement_each(s, STATEMENT_ALERT_SELECT, SQLITE_OK, alert_row, &e);
}

void store_notification_done(StoreNotification *n) {
        table_done(&notification_table, n);
}

int store_notification_insert(Store *s, const StoreNotification *n) {
        return statement_write(s, STATEMENT_NOTIFICATION_INSERT, &notification_table, table_columns(&notification_table), n);
}

int store_notification_update(Store *s, const StoreNotification *n) {
        return statement_write(s, STATEMENT_NOTIFICATION_UPDATE, &notification_table, table_columns(&notification_table), n);
}

int store_notification_delete(Store *s, uint64_t id) {
        sqlite3_stmt *st = s->statements[STATEMENT_NOTIFICATION_DELETE];

        return statement_run(s, STATEMENT_NOTIFICATION_DELETE, sqlite3_bind_int64(st, 1, (sqlite3_int64) id), /* ret_value= */ NULL);
}

typedef struct NotificationEach {
        int (*each)(StoreNotification *row, void *userdata);
        void *userdata;
} NotificationEach;

static int notification_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const NotificationEach *e = userdata;
        StoreNotification row = { 0 };
        int r;

        r = table_load(&notification_table, st, 0, &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        store_notification_done(&row);
        return r;
}

int store_notification_each(Store *s, int (*each)(StoreNotification *row, void *userdata), void *userdata) {
        NotificationEach e = { each, userdata };

        return statement_each(s, STATEMENT_NOTIFICATION_SELECT, SQLITE_OK, notification_row, &e);
}
