#include "store/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "store/tables.h"

/* For a result that is not listed, its low byte, the primary code, is looked up; if that is not listed either,
 * it is an I/O error. */
static const struct {
        int rc, code;
} results[] = {
        { SQLITE_CONSTRAINT_PRIMARYKEY, -EEXIST    },
        { SQLITE_CONSTRAINT_UNIQUE,     -EEXIST    },
        { SQLITE_CONSTRAINT_FOREIGNKEY, -ENOENT    }, /* the referenced row does not exist */
        { SQLITE_IOERR_NOMEM,           -ENOMEM    },
        { SQLITE_CONSTRAINT,            -EINVAL    },
        { SQLITE_BUSY,                  -EBUSY     },
        { SQLITE_LOCKED,                -EBUSY     },
        { SQLITE_NOMEM,                 -ENOMEM    },
        { SQLITE_FULL,                  -ENOSPC    },
        { SQLITE_CORRUPT,               -EUCLEAN   },
        { SQLITE_NOTADB,                -EUCLEAN   },
        { SQLITE_READONLY,              -EROFS     },
        { SQLITE_PERM,                  -EACCES    },
        { SQLITE_TOOBIG,                -E2BIG     },
        { SQLITE_RANGE,                 -EINVAL    },
        { SQLITE_MISMATCH,              -EBADMSG   },
};

static int result_code(sqlite3 *db, int rc) {
        int error = db && (rc & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(db) : 0;

        if (error > 0)
                return -error;
        for (size_t i = 0; i < ELEMENTSOF(results); i++)
                if (results[i].rc == rc)
                        return results[i].code;
        for (size_t i = 0; i < ELEMENTSOF(results); i++)
                if (results[i].rc == (rc & 0xff))
                        return results[i].code;
        return -EIO;
}

int sqlite_result(sqlite3 *db, int rc) {
        int code;

        if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
                return 0;
        code = result_code(db, rc);
        log_debug("store: %s (%d): %s", sqlite3_errstr(rc), rc, db ? sqlite3_errmsg(db) : "no database");
        return code;
}

int sqlite_error(Error *reterr, int code, sqlite3 *db, const char *path) {
        switch (code) {
        case -EBUSY:
                return error_set(reterr, code,
                                "'%s' is in use by another process: stop it, or use another state directory", path);
        case -EUCLEAN:
                return error_set(reterr, code, DATABASE_DAMAGED, path, sqlite3_errmsg(db));
        case -EROFS:
                return error_set(reterr, code,
                                "'%s' cannot be written: see who owns it, and how its file system is mounted", path);
        default:
                return error_set(reterr, code, "cannot open database '%s': %m (%s)", path, sqlite3_errmsg(db));
        }
}

int sqlite_get(sqlite3 *db, const char *sql, int64_t *ret) {
        sqlite3_stmt *st = NULL;
        int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

        if (rc == SQLITE_OK)
                rc = sqlite3_step(st);
        if (rc == SQLITE_ROW)
                *ret = sqlite3_column_int64(st, 0);
        (void) sqlite3_finalize(st);
        return sqlite_result(db, rc == SQLITE_DONE ? SQLITE_ERROR : rc);
}

#define TABLE_DECLARE(symbol) extern const StoreTable symbol;
#define TABLE_POINTER(symbol) &(symbol),
STORE_TABLES(TABLE_DECLARE)
static const StoreTable *const tables[_TABLE_MAX] = { STORE_TABLES(TABLE_POINTER) };

static const char *const transaction_texts[_TRANSACTION_MAX] = {
        [TRANSACTION_BEGIN]    = "BEGIN IMMEDIATE",
        [TRANSACTION_COMMIT]   = "COMMIT",
        [TRANSACTION_ROLLBACK] = "ROLLBACK",
};

/* sql is NULL if there was no memory. */
static int statement_prepare(Store *s, const char *sql, sqlite3_stmt **ret) {
        return sql ? sqlite_result(s->db, sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL)) : -ENOMEM;
}

static int table_prepare(Store *s, const StoreTable *t) {
        StoreTableUse *use = s->tables + t->number;
        const TableLayout *state = t->state ? &s->tables[t->state->number].layout : NULL;
        int r = 0;

        use->queries = calloc(t->n_queries + 1, sizeof(*use->queries));
        if (!use->queries)
                return -ENOMEM;
        for (TableOp op = 0; r >= 0 && op < _TABLE_OP_MAX; op++)
                if (t->does & 1U << op) {
                        _cleanup_free_ char *sql = table_sql(&use->layout, op);

                        r = statement_prepare(s, sql, use->ops + op);
                }
        for (size_t i = 0; r >= 0 && i < t->n_queries; i++) {
                _cleanup_free_ char *sql = table_query_sql(&use->layout, state, t->queries[i]);

                r = statement_prepare(s, sql, use->queries + i);
        }
        return r;
}

int statement_prepare_all(Store *s) {
        int r = 0;

        for (unsigned i = 0; r >= 0 && i < _TRANSACTION_MAX; i++)
                r = statement_prepare(s, transaction_texts[i], s->transaction + i);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(tables); i++)
                r = table_layout(tables[i], &s->tables[i].layout);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(tables); i++)
                r = table_prepare(s, tables[i]);
        return r;
}

void statement_finalize_all(Store *s) {
        for (unsigned i = 0; i < _TRANSACTION_MAX; i++)
                (void) sqlite3_finalize(s->transaction[i]);
        for (size_t i = 0; i < ELEMENTSOF(tables); i++) {
                StoreTableUse *use = s->tables + i;

                for (TableOp op = 0; op < _TABLE_OP_MAX; op++)
                        (void) sqlite3_finalize(use->ops[op]);
                for (size_t k = 0; use->queries && k < tables[i]->n_queries; k++)
                        (void) sqlite3_finalize(use->queries[k]);
                free(use->queries);
                table_layout_done(&use->layout);
        }
}

int statement_run(Store *s, sqlite3_stmt *st, int rc, int64_t *ret_value) {
        bool has_value = false, alone = s->timing && !s->in_transaction && !sqlite3_stmt_readonly(st);
        usec_t began = alone ? clock_usec() : 0;
        int64_t value = 0;

        if (s->failed < 0)
                return s->failed;
        if (rc == SQLITE_OK)
                while ((rc = sqlite3_step(st)) == SQLITE_ROW)
                        if (!has_value) {
                                value = sqlite3_column_int64(st, 0);
                                has_value = true;
                        }
        (void) sqlite3_reset(st);
        if (rc != SQLITE_DONE)
                return transaction_failed(s, sqlite_result(s->db, rc));
        if (!s->in_transaction)
                store_committed(s);
        if (alone)
                s->timing(clock_usec() - began, s->timing_data);
        if (has_value && ret_value)
                *ret_value = value;
        return 0;
}
