/* tables.h: every table, by its symbol: SYMBOL describes it, in the file of its room's rows, and TABLE_SYMBOL is its number. The columns
 * are made by migrations.c. A new one comes last: the corpus of the fuzzer knows them by number. */
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
