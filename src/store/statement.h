/* statement.h: the SQL that the store speaks, prepared once and kept.
 *
 * All statements are prepared when the store is opened, so that a schema that does not fit the program shows there and
 * not in the middle of a request. Here SQLite's results become errno.
 * Must not know: what rows mean. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/field.h"
#include "store/store.h"

typedef enum StatementId {
        STATEMENT_BEGIN,
        STATEMENT_COMMIT,
        STATEMENT_ROLLBACK,
        STATEMENT_SANDBOX_INSERT,
        STATEMENT_SANDBOX_STATE_INSERT,
        STATEMENT_SANDBOX_UPDATE,
        STATEMENT_SANDBOX_STATE_UPDATE,
        STATEMENT_SANDBOX_DELETE,
        STATEMENT_SANDBOX_SELECT,
        STATEMENT_EXECUTION_INSERT,
        STATEMENT_EXECUTION_STATE_INSERT,
        STATEMENT_EXECUTION_STATE_UPDATE,
        STATEMENT_EXECUTION_DELETE,
        STATEMENT_EXECUTION_SELECT,
        STATEMENT_LEDGER_INSERT,
        STATEMENT_LEDGER_DELETE,
        STATEMENT_LEDGER_SELECT,
        STATEMENT_EVENT_INSERT,
        STATEMENT_EVENT_TRIM,
        STATEMENT_EVENT_SELECT,
        STATEMENT_COUNTER_PUT,
        STATEMENT_COUNTER_SELECT,
        STATEMENT_KEY_INSERT,
        STATEMENT_KEY_USED,
        STATEMENT_KEY_DELETE,
        STATEMENT_KEY_SELECT,
        STATEMENT_TENANT_PUT,
        STATEMENT_TENANT_DELETE,
        STATEMENT_TENANT_SELECT,
        STATEMENT_ARTIFACT_INSERT,
        STATEMENT_ARTIFACT_UPDATE,
        STATEMENT_ARTIFACT_DELETE,
        STATEMENT_ARTIFACT_FIND,
        STATEMENT_ARTIFACT_OF_OWNER,
        STATEMENT_ARTIFACT_ALL,
        STATEMENT_ARTIFACT_IN_STATE,
        STATEMENT_ARTIFACT_OLDEST,
        STATEMENT_ARTIFACT_COUNT,
        STATEMENT_ARTIFACT_RETRY,
        STATEMENT_ARTIFACT_SUMS,
        STATEMENT_CLEANUP_INSERT,
        STATEMENT_CLEANUP_TRIM,
        STATEMENT_CLEANUP_SELECT,
        STATEMENT_PREVIEW_INSERT,
        STATEMENT_PREVIEW_DELETE,
        STATEMENT_PREVIEW_SELECT,
        STATEMENT_JOB_NEXT,
        STATEMENT_JOB_INSERT,
        STATEMENT_JOB_STATE_INSERT,
        STATEMENT_JOB_STATE_UPDATE,
        STATEMENT_JOB_DELETE,
        STATEMENT_JOB_SELECT_ONE,
        STATEMENT_JOB_SELECT_KEY,
        STATEMENT_JOB_SELECT,
        STATEMENT_JOB_SELECT_TENANT,
        STATEMENT_JOB_SELECT_TASK,
        STATEMENT_JOB_SELECT_DEAD,
        STATEMENT_JOB_SELECT_OPEN,
        STATEMENT_JOB_SELECT_UNTOLD,
        STATEMENT_JOB_SELECT_EXPIRED,
        STATEMENT_JOB_COUNT_DEAD,
        STATEMENT_ATTEMPT_PUT,
        STATEMENT_ATTEMPT_SELECT,
        STATEMENT_ALERT_INSERT,
        STATEMENT_ALERT_UPDATE,
        STATEMENT_ALERT_DELETE,
        STATEMENT_ALERT_SELECT,
        STATEMENT_NOTIFICATION_INSERT,
        STATEMENT_NOTIFICATION_UPDATE,
        STATEMENT_NOTIFICATION_DELETE,
        STATEMENT_NOTIFICATION_SELECT,
        STATEMENT_HISTORY_PUT,
        STATEMENT_HISTORY_SELECT,
        STATEMENT_HISTORY_UNFOLDED,
        STATEMENT_HISTORY_TRIM,
        STATEMENT_TOTALS_PUT,
        STATEMENT_TOTALS_SELECT,
        STATEMENT_USAGE_INSERT,
        STATEMENT_USAGE_SELECT,
        STATEMENT_USAGE_SELECT_OF,
        STATEMENT_USAGE_TRIM,
        STATEMENT_USAGE_HOUR_ADD,
        STATEMENT_USAGE_HOUR_SELECT,
        STATEMENT_NETWORK_USE_PUT,
        STATEMENT_NETWORK_USE_SELECT,
        STATEMENT_DENIAL_INSERT,
        STATEMENT_DENIAL_TRIM,
        STATEMENT_DENIAL_SELECT,
        STATEMENT_LEARNED_ADD,
        STATEMENT_LEARNED_SELECT,
        STATEMENT_APPROVAL_INSERT,
        STATEMENT_APPROVAL_UPDATE,
        STATEMENT_APPROVAL_TRIM,
        STATEMENT_APPROVAL_SELECT,
        STATEMENT_APPROVAL_FIND,
        STATEMENT_APPROVAL_FIND_ASK,
        STATEMENT_APPROVAL_CLOSE,
        STATEMENT_GRANT_INSERT,
        STATEMENT_GRANT_SELECT,
        STATEMENT_SECRET_PUT,
        STATEMENT_SECRET_DELETE,
        STATEMENT_SECRET_FIND,
        STATEMENT_SECRET_SELECT,
        STATEMENT_SECRET_COUNT,
        STATEMENT_SECRET_CLEAR,
        STATEMENT_VAULT_SELECT,
        STATEMENT_VAULT_PUT,
        STATEMENT_VAULT_CLEAR,
        STATEMENT_GIVEN_ADD,
        STATEMENT_GIVEN_SELECT,
        STATEMENT_GIVEN_CLEAR,
        STATEMENT_SNAPSHOT_INSERT,
        STATEMENT_SNAPSHOT_UPDATE,
        STATEMENT_SNAPSHOT_DELETE,
        STATEMENT_SNAPSHOT_SELECT,
        STATEMENT_VOLUME_INSERT,
        STATEMENT_VOLUME_UPDATE,
        STATEMENT_VOLUME_DELETE,
        STATEMENT_VOLUME_SELECT,
        STATEMENT_IMAGE_PUT,
        STATEMENT_IMAGE_DELETE,
        STATEMENT_IMAGE_SELECT,
        STATEMENT_TEMPLATE_PUT,
        STATEMENT_TEMPLATE_DELETE,
        STATEMENT_TEMPLATE_SELECT,
        STATEMENT_LAYER_PUT,
        STATEMENT_LAYER_DELETE,
        STATEMENT_LAYER_SELECT,
        STATEMENT_LAYER_OF_SNAPSHOTS,
        STATEMENT_IMAGE_SNAPSHOT_PUT,
        STATEMENT_IMAGE_SNAPSHOT_DELETE,
        STATEMENT_IMAGE_SNAPSHOT_SELECT,
        STATEMENT_IMAGE_SNAPSHOT_FIND,
        STATEMENT_SNAPSHOT_OWNED,
        STATEMENT_CACHE_PUT,
        STATEMENT_CACHE_DELETE,
        STATEMENT_CACHE_SELECT,
        STATEMENT_MAKING_PUT,
        STATEMENT_MAKING_DELETE,
        STATEMENT_MAKING_SELECT,
        STATEMENT_BUILD_PUT,
        STATEMENT_BUILD_DELETE,
        STATEMENT_BUILD_SELECT,
        STATEMENT_SECRET_NOTE_PUT,
        STATEMENT_SECRET_NOTE_FIND,
        _STATEMENT_MAX,
} StatementId;

typedef struct Store {
        sqlite3 *db;
        sqlite3_stmt *statements[_STATEMENT_MAX];
        bool in_transaction;
        int failed; /* the first error in this transaction: it cannot be committed any more */
        uint64_t n_failures; /* of the machine */
        int last_failure;
        uint64_t serial_next, serial_reserved; /* of events; see event.c */
        usec_t began; /* the transaction, monotonic */
        StoreTiming timing;
        void *timing_data;
} Store;

/* SQLite's result as errno; says more at debug level. */
int sqlite_result(sqlite3 *db, int rc);

/* Words for what went wrong with the file. */
int sqlite_error(Error *reterr, int code, sqlite3 *db, const char *path);
#define DATABASE_DAMAGED                                                                                        \
        "'%s' is damaged, or is no database (%s): restore it from a backup, or move it and its -wal file away " \
        "to begin with nothing"

/* The first column of the first row. */
int sqlite_get(sqlite3 *db, const char *sql, int64_t *ret);

int statement_prepare_all(Store *s);
void statement_finalize_all(Store *s);

/* Runs to the end what has been bound, with rc the result of the binding. ret_value: the first column of the first row,
 * untouched when there is none. */
int statement_run(Store *s, StatementId id, int rc, int64_t *ret_value);

/* The first n fields of the row are the parameters. */
int statement_write(Store *s, StatementId id, const FieldTable *t, size_t n, const void *row);

/* One text is the parameter. */
int statement_write_text(Store *s, StatementId id, const char *text);

/* Calls for each row of what has been bound; what it returns below zero ends it. -EBUSY: called from within itself. */
int statement_each(Store *s, StatementId id, int rc, int (*each)(Store *s, sqlite3_stmt *st, void *userdata),
                void *userdata);

/* An error inside a transaction sticks, so that half of it is never committed: not by a caller who did not look, and not
 * statement by statement after SQLite, short of disk or memory, has undone the transaction by itself. Returns r. */
int transaction_failed(Store *s, int r);

/* For functions of more than one statement: joins the caller's transaction, or is one of its own. */
bool transaction_enter(Store *s);
int transaction_leave(Store *s, bool own, int r);
