#include "reaper/rows.h"

#include "base/macro.h"
#include "store/statement.h"
#include "store/tables.h"

int store_cleanup_add(Store *s, const CleanupRow *row, unsigned keep) {
        sqlite3_stmt *trim = s->statements[STATEMENT_CLEANUP_TRIM];
        bool own = transaction_enter(s);
        int r;

        r = statement_write(s, STATEMENT_CLEANUP_INSERT, &cleanup_table, table_columns(&cleanup_table), row);
        if (r >= 0)
                r = statement_run(s, STATEMENT_CLEANUP_TRIM, sqlite3_bind_int64(trim, 1, keep), /* ret_value= */ NULL);
        return transaction_leave(s, own, r);
}

typedef struct CleanupEach {
        int (*each)(const CleanupRow *row, void *userdata);
        void *userdata;
} CleanupEach;

static int cleanup_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const CleanupEach *e = userdata;
        CleanupRow row = { 0 };
        int r;

        r = table_load(&cleanup_table, st, 0, &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        table_done(&cleanup_table, &row);
        return r;
}

int store_cleanup_each(Store *s, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata) {
        CleanupEach e = { each, userdata };

        return statement_each(s, STATEMENT_CLEANUP_SELECT, sqlite3_bind_int64(s->statements[STATEMENT_CLEANUP_SELECT], 1, limit),
                        cleanup_row, &e);
}
