/* history-rows.h: store rows of measurements.
 *
 * History: a text for each interval and one for each hour; the caller defines its contents. Usage: one row for each
 * ended sandbox, added in the same transaction to its hour's sum by tenant and agent type, which outlives the row.
 * Times are wall clock. Must not know: what the numbers mean. */
#pragma once

#include "core/sandbox.h"
#include "core/store.h"

typedef struct HistoryRow {
        bool hourly;
        usec_t at, span;
        const char *body;
} HistoryRow;

extern const StoreTable history_table;
STORE_WRITE(store_history_put, store_put, history_table, HistoryRow); /* replaces a row with the same start */
/* from <= at < to, in order. */
int store_history_each(Store *s, bool hourly, usec_t from, usec_t to, int (*each)(const HistoryRow *row, void *userdata), void *userdata);
/* 1: ret_at is the start of the first row before `before` that is later than all hours with an hourly row. 0: none. */
int store_history_unfolded(Store *s, usec_t before, usec_t *ret_at);
int store_history_trim(Store *s, usec_t before, uint64_t limit) _must_check_; /* hourly rows stay */

int store_totals_put(Store *s, const char *body) _must_check_;
int store_totals_get(Store *s, int (*each)(const char *body, void *userdata), void *userdata); /* not called when there are none */

typedef struct UsageRow {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        char *tenant, *agent_type, *task_id; /* NULL: none. Owned by the creator of the row */
        usec_t started_at, ended_at;
        uint64_t cpu_usec, memory_byte_seconds, egress_bytes, memory_peak_bytes;
        const char *basis; /* of the memory: "sampled", "peak", "limit" */
} UsageRow;

int store_usage_add(Store *s, const UsageRow *row) _must_check_;
/* Sandboxes that ended in from <= t < to, latest first, at most `limit`. tenant: NULL for all. */
int store_usage_each(Store *s, const char *tenant, usec_t from, usec_t to, uint64_t limit, int (*each)(const UsageRow *row, void *userdata),
                void *userdata);
int store_usage_trim(Store *s, usec_t before, uint64_t limit) _must_check_;

typedef struct UsageHour {
        usec_t at;
        const char *tenant, *agent_type; /* "": none */
        uint64_t sandboxes, lifetime_usec, cpu_usec, memory_byte_seconds, egress_bytes, memory_peak_bytes /* the highest */;
} UsageHour;

int store_usage_hours(Store *s, usec_t from, usec_t to, int (*each)(const UsageHour *hour, void *userdata), void *userdata);
