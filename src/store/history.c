#include "observe/history-rows.h"

#include <string.h>

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

#define HOUR (3600 * USEC_PER_SEC)

/* A Table's rows are loaded one by one and handed on; what was loaded is freed behind. */
typedef struct StoreHistoryEach {
        const FieldTable *table;
        void *row;
        size_t size;
        int (*call)(const void *row, const void *function, void *userdata);
        const void *function;
        void *userdata;
} StoreHistoryEach;

static int history_each_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const StoreHistoryEach *e = userdata;
        int r;

        memset(e->row, 0, e->size);
        r = table_load(e->table, st, 0, e->row);
        if (r >= 0)
                r = e->call(e->row, e->function, e->userdata);
        table_done(e->table, e->row);
        return r;
}

static int bind_numbers(Store *s, StatementId id, const uint64_t *numbers, int n) {
        int rc = SQLITE_OK;

        for (int i = 0; i < n && rc == SQLITE_OK; i++)
                rc = sqlite3_bind_int64(s->statements[id], i + 1, (sqlite3_int64) numbers[i]);
        return rc;
}

static int run_numbers(Store *s, StatementId id, const uint64_t *numbers, int n, int64_t *ret) {
        return statement_run(s, id, bind_numbers(s, id, numbers, n), ret);
}

/* History. */

int store_history_put(Store *s, const HistoryRow *row) {
        return statement_write(s, STATEMENT_HISTORY_PUT, &history_table, table_columns(&history_table), row);
}

typedef int (*HistoryEach)(const HistoryRow *row, void *userdata);

static int call_history(const void *row, const void *function, void *userdata) {
        return (*(const HistoryEach *) function)(row, userdata);
}

int store_history_each(Store *s, bool hourly, usec_t from, usec_t to, HistoryEach each, void *userdata) {
        const uint64_t numbers[] = { hourly, from, to };
        HistoryRow row;
        StoreHistoryEach e = { &history_table, &row, sizeof(row), call_history, &each, userdata };

        return statement_each(s, STATEMENT_HISTORY_SELECT, bind_numbers(s, STATEMENT_HISTORY_SELECT, numbers, ELEMENTSOF(numbers)),
                        history_each_row, &e);
}

int store_history_unfolded(Store *s, usec_t before, usec_t *ret_at) {
        int64_t at = -1;
        int r = run_numbers(s, STATEMENT_HISTORY_UNFOLDED, (const uint64_t[]) { before, HOUR }, 2, &at);

        if (r < 0 || at < 0)
                return r;
        *ret_at = (usec_t) at;
        return 1;
}

int store_history_trim(Store *s, usec_t before, uint64_t limit) {
        return run_numbers(s, STATEMENT_HISTORY_TRIM, (const uint64_t[]) { before, limit }, 2, /* ret= */ NULL);
}

/* Totals. */

int store_totals_put(Store *s, const char *body) {
        return statement_write_text(s, STATEMENT_TOTALS_PUT, body);
}

typedef struct TotalsEach {
        int (*each)(const char *body, void *userdata);
        void *userdata;
} TotalsEach;

static int totals_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const TotalsEach *e = userdata;

        return e->each((const char *) sqlite3_column_text(st, 0), e->userdata);
}

int store_totals_get(Store *s, int (*each)(const char *body, void *userdata), void *userdata) {
        TotalsEach e = { each, userdata };

        return statement_each(s, STATEMENT_TOTALS_SELECT, SQLITE_OK, totals_row, &e);
}

/* Usage. */

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

        return statement_write(s, STATEMENT_USAGE_HOUR_ADD, &usage_hour_table, table_columns(&usage_hour_table), &hour);
}

int store_usage_add(Store *s, const UsageRow *row) {
        bool own = transaction_enter(s);
        int r = statement_write(s, STATEMENT_USAGE_INSERT, &usage_table, table_columns(&usage_table), row);

        if (r >= 0)
                r = add_to_hour(s, row);
        return transaction_leave(s, own, r);
}

typedef int (*UsageEach)(const UsageRow *row, void *userdata);

static int call_usage(const void *row, const void *function, void *userdata) {
        return (*(const UsageEach *) function)(row, userdata);
}

int store_usage_each(Store *s, const char *tenant, usec_t from, usec_t to, uint64_t limit, UsageEach each, void *userdata) {
        const StatementId id = tenant ? STATEMENT_USAGE_SELECT_OF : STATEMENT_USAGE_SELECT;
        const uint64_t numbers[] = { from, to, limit };
        UsageRow row;
        StoreHistoryEach e = { &usage_table, &row, sizeof(row), call_usage, &each, userdata };
        int rc = bind_numbers(s, id, numbers, ELEMENTSOF(numbers));

        if (rc == SQLITE_OK && tenant)
                rc = sqlite3_bind_text(s->statements[id], (int) ELEMENTSOF(numbers) + 1, tenant, -1, SQLITE_STATIC);
        return statement_each(s, id, rc, history_each_row, &e);
}

int store_usage_trim(Store *s, usec_t before, uint64_t limit) {
        return run_numbers(s, STATEMENT_USAGE_TRIM, (const uint64_t[]) { before, limit }, 2, /* ret= */ NULL);
}

typedef int (*HourEach)(const UsageHour *hour, void *userdata);

static int call_hour(const void *row, const void *function, void *userdata) {
        return (*(const HourEach *) function)(row, userdata);
}

int store_usage_hours(Store *s, usec_t from, usec_t to, HourEach each, void *userdata) {
        const uint64_t numbers[] = { from, to };
        UsageHour row;
        StoreHistoryEach e = { &usage_hour_table, &row, sizeof(row), call_hour, &each, userdata };

        return statement_each(s, STATEMENT_USAGE_HOUR_SELECT,
                        bind_numbers(s, STATEMENT_USAGE_HOUR_SELECT, numbers, ELEMENTSOF(numbers)), history_each_row, &e);
}
