/* Rows of measurements and of usage. */
#include "observe/history-rows.h"

#include "store/driver.h"
#include "store/statement.h"

#define HOUR (3600 * USEC_PER_SEC)

/* History. */

static const ShapeField history_table_fields[] = {
        FIELD("hourly", bool,     HistoryRow, hourly),
        FIELD("at",     uint64,   HistoryRow, at),
        FIELD("span",   uint64,   HistoryRow, span),
        FIELD("body",   borrowed, HistoryRow, body),
};
enum { HISTORY_BETWEEN, HISTORY_UNFOLDED, HISTORY_TRIM };
static const char *const history_queries[] = {
        [HISTORY_BETWEEN]  = "WHERE hourly = ?1 AND at >= ?2 AND at < ?3 ORDER BY at",
        [HISTORY_UNFOLDED] = ("SELECT at FROM history WHERE hourly = 0 AND at < ?1 AND at >= coalesce("
                              "  (SELECT max(at) + ?2 FROM history WHERE hourly = 1), 0) ORDER BY at LIMIT 1"),
        [HISTORY_TRIM]     = ("DELETE FROM history WHERE hourly = 0 AND at < ?1 AND at <= coalesce("
                              "  (SELECT at FROM history WHERE hourly = 0 ORDER BY at LIMIT 1 OFFSET ?2), ?1)"),
};
TABLE(history_table, HistoryRow, "history", 2, PUTS, QUERIES(history_queries));
STORE_READER(history_row, const HistoryRow);

int store_history_each(Store *s, bool hourly, usec_t from, usec_t to, int (*each)(const HistoryRow *row, void *userdata), void *userdata) {
        return query_read(s, &history_table, HISTORY_BETWEEN, VALUES(NUMBER(hourly), NUMBER(from), NUMBER(to)),
                        &(StoreReader) { history_row, (void (*)(void)) each, userdata });
}

int store_history_unfolded(Store *s, usec_t before, usec_t *ret_at) {
        int64_t at = -1;
        int r = query_run(s, &history_table, HISTORY_UNFOLDED, VALUES(NUMBER(before), NUMBER(HOUR)), &at);

        if (r < 0 || at < 0)
                return r;
        *ret_at = (usec_t) at;
        return 1;
}

int store_history_trim(Store *s, usec_t before, uint64_t limit) {
        return query_run(s, &history_table, HISTORY_TRIM, VALUES(NUMBER(before), NUMBER(limit)), /* ret_value= */ NULL);
}

/* Totals. */

typedef struct TotalsRow {
        const char *body;
} TotalsRow;

static const ShapeField totals_table_fields[] = {
        FIELD("body", borrowed, TotalsRow, body),
};
enum { TOTALS_ALL, TOTALS_PUT };
static const char *const totals_queries[] = {
        [TOTALS_ALL] = "ORDER BY id",
        [TOTALS_PUT] = "INSERT INTO totals (id, body) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
};
TABLE(totals_table, TotalsRow, "totals", 0, 0, QUERIES(totals_queries));

int store_totals_put(Store *s, const char *body) {
        return query_run(s, &totals_table, TOTALS_PUT, VALUES(TEXT(body)), /* ret_value= */ NULL);
}

static int totals_row(StoreReader *reader, void *row) {
        const TotalsRow *totals = row;

        return ((int (*)(const char *, void *)) reader->each)(totals->body, reader->userdata);
}

int store_totals_get(Store *s, int (*each)(const char *body, void *userdata), void *userdata) {
        return store_each(s, &totals_table, &(StoreReader) { totals_row, (void (*)(void)) each, userdata });
}

/* Usage. */

static const ShapeField usage_table_fields[] = {
        FIELD("sandbox",             chars,    UsageRow, sandbox),
        FIELD("tenant",              text,     UsageRow, tenant),
        FIELD("agent_type",          text,     UsageRow, agent_type),
        FIELD("task_id",             text,     UsageRow, task_id),
        FIELD("started_at",          uint64,   UsageRow, started_at),
        FIELD("ended_at",            uint64,   UsageRow, ended_at),
        FIELD("cpu_usec",            uint64,   UsageRow, cpu_usec),
        FIELD("memory_byte_seconds", uint64,   UsageRow, memory_byte_seconds),
        FIELD("egress_bytes",        uint64,   UsageRow, egress_bytes),
        FIELD("memory_peak_bytes",   uint64,   UsageRow, memory_peak_bytes),
        FIELD("basis",               borrowed, UsageRow, basis),
};
enum { USAGE_BETWEEN, USAGE_OF_TENANT, USAGE_TRIM };
static const char *const usage_queries[] = {
        [USAGE_BETWEEN]   = "WHERE ended_at >= ?1 AND ended_at < ?2 ORDER BY ended_at DESC LIMIT ?3",
        [USAGE_OF_TENANT] = "WHERE tenant = ?4 AND ended_at >= ?1 AND ended_at < ?2 ORDER BY ended_at DESC LIMIT ?3",
        [USAGE_TRIM]      = ("DELETE FROM usage WHERE serial IN ("
                             "  SELECT serial FROM usage WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)"),
};
TABLE(usage_table, UsageRow, "usage", 1, INSERTS, QUERIES(usage_queries));
STORE_READER(usage_row, const UsageRow);

static const ShapeField usage_hour_table_fields[] = {
        FIELD("at",                  uint64,   UsageHour, at),
        FIELD("tenant",              borrowed, UsageHour, tenant),
        FIELD("agent_type",          borrowed, UsageHour, agent_type),
        FIELD("sandboxes",           uint64,   UsageHour, sandboxes),
        FIELD("lifetime_usec",       uint64,   UsageHour, lifetime_usec),
        FIELD("cpu_usec",            uint64,   UsageHour, cpu_usec),
        FIELD("memory_byte_seconds", uint64,   UsageHour, memory_byte_seconds),
        FIELD("egress_bytes",        uint64,   UsageHour, egress_bytes),
        FIELD("memory_peak_bytes",   uint64,   UsageHour, memory_peak_bytes),
};
static const char *const usage_hour_queries[] = { "WHERE at >= ?1 AND at < ?2 ORDER BY at" };
TABLE(usage_hour_table, UsageHour, "usage_hour", 3, PUTS, QUERIES(usage_hour_queries),
                .conflict = "(at, tenant, agent_type) DO UPDATE SET sandboxes = sandboxes + excluded.sandboxes,"
                            " lifetime_usec = lifetime_usec + excluded.lifetime_usec, cpu_usec = cpu_usec + excluded.cpu_usec,"
                            " memory_byte_seconds = memory_byte_seconds + excluded.memory_byte_seconds,"
                            " egress_bytes = egress_bytes + excluded.egress_bytes,"
                            " memory_peak_bytes = max(memory_peak_bytes, excluded.memory_peak_bytes)");
STORE_READER(usage_hour_row, const UsageHour);

static int add_to_hour(Store *s, const UsageRow *row) {
        UsageHour hour = {
                .at = row->ended_at / HOUR * HOUR,
                .tenant = row->tenant ? row->tenant : "",
                .agent_type = row->agent_type ? row->agent_type : "",
                .sandboxes = 1,
                .lifetime_usec = row->ended_at > row->started_at ? row->ended_at - row->started_at : 0,
                .cpu_usec = row->cpu_usec,
                .memory_byte_seconds = row->memory_byte_seconds,
                .egress_bytes = row->egress_bytes,
                .memory_peak_bytes = row->memory_peak_bytes,
        };

        return store_put(s, &usage_hour_table, &hour);
}

int store_usage_add(Store *s, const UsageRow *row) {
        bool own = transaction_enter(s);
        int r = store_insert(s, &usage_table, row);

        if (r >= 0)
                r = add_to_hour(s, row);
        return transaction_leave(s, own, r);
}

int store_usage_each(Store *s, const char *tenant, usec_t from, usec_t to, uint64_t limit, int (*each)(const UsageRow *row, void *userdata),
                void *userdata) {
        StoreValues values = VALUES(NUMBER(from), NUMBER(to), NUMBER(limit), TEXT(tenant));

        if (!tenant)
                values.n--;
        return query_read(s, &usage_table, tenant ? USAGE_OF_TENANT : USAGE_BETWEEN, values,
                        &(StoreReader) { usage_row, (void (*)(void)) each, userdata });
}

int store_usage_trim(Store *s, usec_t before, uint64_t limit) {
        return query_run(s, &usage_table, USAGE_TRIM, VALUES(NUMBER(before), NUMBER(limit)), /* ret_value= */ NULL);
}

int store_usage_hours(Store *s, usec_t from, usec_t to, int (*each)(const UsageHour *hour, void *userdata), void *userdata) {
        return query_read(s, &usage_hour_table, 0, VALUES(NUMBER(from), NUMBER(to)),
                        &(StoreReader) { usage_hour_row, (void (*)(void)) each, userdata });
}
