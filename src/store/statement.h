/* statement.h: the prepared statements of the store, and its transactions.
 *
 * All statements are prepared when the store is opened, so that a schema that does not fit the program fails there and
 * not in the middle of a request. SQLite's results are translated to errno here.
 * Must not know: what rows mean. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/store.h"
#include "store/table.h"
#include "store/tables.h"

typedef enum TransactionStatement {
        TRANSACTION_BEGIN,
        TRANSACTION_COMMIT,
        TRANSACTION_ROLLBACK,
        _TRANSACTION_MAX,
} TransactionStatement;

typedef struct StoreTableUse {
        TableLayout layout;
        sqlite3_stmt *ops[_TABLE_OP_MAX];
        sqlite3_stmt **queries;
} StoreTableUse;

typedef struct Store {
        sqlite3 *db;
        char *path;
        bool reserved; /* the log's blocks are allocated */
        uint64_t sure; /* up to this offset the log can always be written */
        StoreUnwritten unwritten; /* see store_set_turn() */
        void *unwritten_data;
        bool urgent; /* the transaction has changed a table that does not wait */
        uint64_t n_commits;
        StoreRoom room;
        void *room_data;
        sqlite3_stmt *transaction[_TRANSACTION_MAX];
        StoreTableUse tables[_TABLE_MAX];
        bool in_transaction;
        int failed; /* the first error in this transaction: it cannot be committed any more */
        uint64_t n_failures; /* of the machine: see store_failures() */
        int last_failure;
        uint64_t serial_next, serial_reserved; /* of events; see event.c */
        usec_t began; /* start of the transaction, monotonic */
        StoreTiming timing;
        void *timing_data;
} Store;

/* SQLite's result as errno; logs the details at debug level. */
int sqlite_result(sqlite3 *db, int rc);

/* Sets an error about the file, with its cure. */
int sqlite_error(Error *reterr, int code, sqlite3 *db, const char *path);
#define DATABASE_DAMAGED                                                                                        \
        "'%s' is damaged, or is no database (%s): restore it from a backup, or move it and its -wal file away " \
        "to begin with nothing"

/* The first column of the first row. */
int sqlite_get(sqlite3 *db, const char *sql, int64_t *ret);

int statement_prepare_all(Store *s);
void statement_finalize_all(Store *s);

/* Runs a bound statement to its end; rc is the result of the binding. ret_value: the first column of the first row,
 * untouched when there is no row. */
int statement_run(Store *s, sqlite3_stmt *st, int rc, int64_t *ret_value);

/* Records an error of the current transaction, which sticks, so that half of a transaction is never committed: neither
 * by a caller that ignores the error, nor statement by statement after SQLite, out of disk or memory, has rolled the
 * transaction back itself. Returns r. */
int transaction_failed(Store *s, int r);

/* After each transaction: what it has written is flushed, or waits for the end of the turn. */
void store_committed(Store *s);

/* For functions of more than one statement: joins the caller's transaction, or begins and ends one of its own. */
bool transaction_enter(Store *s);
int transaction_leave(Store *s, bool own, int r);
