/* Rows of alerts and their deliveries. */
#include "observe/alert-rows.h"

#include "store/driver.h"
#include "store/table.h"
#include "store/tables.h"

static const ShapeField alert_table_fields[] = {
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
TABLE(alert_table, StoreAlert, "alert", 1, INSERTS | UPDATES | DELETES, IN_ORDER("started_at, id"));

static const ShapeField notification_table_fields[] = {
        FIELD("id",         uint64, StoreNotification, id),
        FIELD("alert",      chars,  StoreNotification, alert),
        FIELD("channel",    chars,  StoreNotification, channel),
        FIELD("message",    text,   StoreNotification, message),
        FIELD("created_at", uint64, StoreNotification, created_at),
        FIELD("starts",     uint64, StoreNotification, starts),
        FIELD("failed",     bool,   StoreNotification, failed),
        FIELD("error",      text,   StoreNotification, error),
};
TABLE(notification_table, StoreNotification, "notification", 1, INSERTS | UPDATES | DELETES, IN_ORDER("id"));

int store_notification_delete(Store *s, uint64_t id) {
        return store_delete(s, &notification_table, &(const StoreNotification) { .id = id });
}
