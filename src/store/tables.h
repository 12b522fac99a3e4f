/* tables.h: the list of all tables, by symbol: SYMBOL is the table's description, in the store's file for its room, and
 * TABLE_SYMBOL its number. migrations.c creates the columns. A table is added at the end: the fuzzer's corpus has the
 * numbers. */
#pragma once

#define STORE_TABLES(table)                                                                                       \
        table(sandbox_table) table(sandbox_state_table) table(execution_table) table(execution_state_table)       \
        table(footprint_table) table(event_table) table(counter_table) table(key_table) table(tenant_table)          \
        table(artifact_table) table(artifact_sums_table)                                                          \
        table(job_table) table(job_state_table) table(job_line_table) table(job_line_state_table)                 \
        table(job_id_table) table(attempt_table)                                                                  \
        table(alert_table) table(notification_table)                                                              \
        table(history_table) table(totals_table) table(usage_table) table(usage_hour_table)                       \
        table(cleanup_table) table(preview_table)                                                                 \
        table(network_use_table) table(denial_table) table(learned_table) table(approval_table) table(grant_table) \
        table(secret_table) table(secret_note_table) table(snapshot_table) table(volume_table)                    \
        table(image_table) table(template_table) table(layer_table) table(snapshot_layer_table)                   \
        table(image_snapshot_table) table(build_cache_table) table(making_table) table(build_table)

#define TABLE_NUMBER(symbol) TABLE_##symbol,
typedef enum TableNumber {
        STORE_TABLES(TABLE_NUMBER)
        _TABLE_MAX,
} TableNumber;
#undef TABLE_NUMBER
