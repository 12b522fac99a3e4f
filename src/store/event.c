/* What happened, and counters. */
#include <errno.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

#define EVENTS_MAX     1000 /* of one sandbox */
#define SERIALS_AHEAD  1024
#define SERIAL_COUNTER "event_serial"

int store_counter_get(Store *s, const char *name, uint64_t *ret) {
        sqlite3_stmt *st = s->statements[STATEMENT_COUNTER_SELECT];
        int64_t value = 0;
        int r;

        r = statement_run(s, STATEMENT_COUNTER_SELECT, sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC), &value);
        if (r < 0)
                return r;
        *ret = (uint64_t) value;
        return 0;
}

int store_counter_set(Store *s, const char *name, uint64_t value) {
        CounterRow row = { name, value };
        return statement_write(s, STATEMENT_COUNTER_PUT, &counter_table, table_columns(&counter_table), &row);
}

/* Serials are given from memory, and only that a thousand of them may be given is written: a page less in most
 * transactions. After a restart those that were reserved and not given are passed over. */
static int serial_take(Store *s, uint64_t *ret) {
        int r;

        if (s->serial_next == 0) {
                r = store_counter_get(s, SERIAL_COUNTER, &s->serial_next);
                if (r < 0)
                        return r;
                s->serial_next++;
                s->serial_reserved = s->serial_next;
        }
        if (s->serial_next >= s->serial_reserved) {
                r = store_counter_set(s, SERIAL_COUNTER, s->serial_next + SERIALS_AHEAD);
                if (r < 0)
                        return r;
                s->serial_reserved = s->serial_next + SERIALS_AHEAD;
        }
        *ret = s->serial_next++;
        return 0;
}

/* Events of one sandbox are numbered without a gap and go one by one from the oldest, so the number of the newest tells
 * whether there is one too many. */
static int event_insert(Store *s, const StoreEvent *event) {
        sqlite3_stmt *st = s->statements[STATEMENT_EVENT_INSERT];
        int64_t number = 0;
        int r;

        r = statement_run(s, STATEMENT_EVENT_INSERT, table_bind(&event_table, st, table_columns(&event_table), event), &number);
        if (r < 0 || number <= EVENTS_MAX)
                return r;
        return statement_write_text(s, STATEMENT_EVENT_TRIM, event->sandbox_id);
}

int store_event_add(Store *s, const StoreEvent *event, uint64_t *ret_serial) {
        StoreEvent row = *event;
        bool own = transaction_enter(s);
        int r;

        r = serial_take(s, &row.serial);
        if (r >= 0)
                r = event_insert(s, &row);
        r = transaction_leave(s, own, r);
        if (r >= 0 && ret_serial)
                *ret_serial = row.serial;
        return r;
}

typedef struct EventEach {
        int (*each)(const StoreEvent *event, void *userdata);
        void *userdata;
} EventEach;

static int event_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const EventEach *e = userdata;
        StoreEvent row = { 0 };
        int r;

        r = table_load(&event_table, st, 0, &row);
        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_event_each(Store *s, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_EVENT_SELECT];
        EventEach e = { each, userdata };
        int rc;

        rc = sqlite3_bind_text(st, 1, sandbox_id, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, (sqlite3_int64) MIN_OF(after_serial, (uint64_t) INT64_MAX));
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 3, (sqlite3_int64) MIN_OF(since, (usec_t) INT64_MAX));
        return statement_each(s, STATEMENT_EVENT_SELECT, rc, event_row, &e);
}
