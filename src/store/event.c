/* Rows of events, and counters. */
#include "core/rows.h"

#include "store/driver.h"
#include "store/statement.h"

#define EVENTS_MAX     1000 /* of one sandbox */
#define SERIALS_AHEAD  1024
#define SERIAL_COUNTER "event_serial"

typedef struct CounterRow {
        const char *name;
        uint64_t value;
} CounterRow;

static const ShapeField counter_table_fields[] = {
        FIELD("name",  borrowed, CounterRow, name),
        FIELD("value", uint64,   CounterRow, value),
};
static const char *const counter_queries[] = { "SELECT value FROM counter WHERE name = ?1" };
TABLE(counter_table, CounterRow, "counter", 1, PUTS, .waits = true, QUERIES(counter_queries));

static const ShapeField event_table_fields[] = {
        FIELD("sandbox",   borrowed, StoreEvent, sandbox_id),
        FIELD("serial",    uint64,   StoreEvent, serial),
        FIELD("at",        uint64,   StoreEvent, at),
        FIELD("type",      borrowed, StoreEvent, type),
        FIELD("execution", borrowed, StoreEvent, execution_id),
        FIELD("text",      borrowed, StoreEvent, text),
};
enum { EVENT_SINCE, EVENT_INSERT, EVENT_TRIM };
static const char *const event_queries[] = {
        [EVENT_SINCE]  = "WHERE sandbox = ?1 AND serial > ?2 AND at >= ?3 ORDER BY serial",
        /* The last number of the sandbox is found in one step in the index. */
        [EVENT_INSERT] = ("INSERT INTO event (sandbox, serial, at, type, execution, text, number)"
                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1 + coalesce("
                          "  (SELECT number FROM event WHERE sandbox = ?1 ORDER BY serial DESC LIMIT 1), 0))"
                          " RETURNING number"),
        [EVENT_TRIM]   = ("DELETE FROM event WHERE sandbox = ?1"
                          " AND serial = (SELECT min(serial) FROM event WHERE sandbox = ?1)"),
};
TABLE(event_table, StoreEvent, "event", 2, 0, .waits = true, QUERIES(event_queries));
STORE_READER(event_row, const StoreEvent);

int store_counter_get(Store *s, const char *name, uint64_t *ret) {
        return query_count(s, &counter_table, 0, VALUES(TEXT(name)), ret);
}

int store_counter_set(Store *s, const char *name, uint64_t value) {
        return store_put(s, &counter_table, &(const CounterRow) { name, value });
}

/* Serials are counted in memory; only a reservation of a thousand of them is written, which saves a page in
 * most transactions. After a restart the rest of the reservation is skipped. */
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

/* Events of a sandbox are numbered without a gap and deleted one by one from the oldest, so the newest number
 * tells whether there is one too many. */
static int event_insert(Store *s, const StoreEvent *event) {
        int64_t number = 0;
        int r = query_write(s, &event_table, EVENT_INSERT, event, NO_VALUES, &number);

        if (r < 0 || number <= EVENTS_MAX)
                return r;
        return query_run(s, &event_table, EVENT_TRIM, VALUES(TEXT(event->sandbox_id)), /* ret_value= */ NULL);
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

int store_event_each(Store *s, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata) {
        return query_read(s, &event_table, EVENT_SINCE, VALUES(TEXT(sandbox_id), NUMBER(after_serial), NUMBER(since)),
                        &(StoreReader) { event_row, (void (*)(void)) each, userdata });
}
