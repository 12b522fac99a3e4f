/* Rows of sandboxes and of their executions. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/statement.h"
#include "store/tables.h"

/* Halves of a record that go in together. */
static int insert_both(Store *s, StatementId first, const FieldTable *t, StatementId second, const FieldTable *state,
                const void *row) {
        bool own = transaction_enter(s);
        int r;

        r = statement_write(s, first, t, table_columns(t), row);
        if (r >= 0)
                r = statement_write(s, second, state, table_columns(state), row);
        return transaction_leave(s, own, r);
}

/* An update of what is not there is an error, also to the transaction it is part of. */
static int update_state(Store *s, StatementId id, const FieldTable *state, const void *row) {
        int r = statement_write(s, id, state, table_columns(state), row);

        if (r < 0)
                return r;
        return sqlite3_changes(s->db) > 0 ? 0 : transaction_failed(s, -ENOENT);
}

int store_sandbox_insert(Store *s, const Sandbox *sb) {
        return insert_both(s, STATEMENT_SANDBOX_INSERT, &sandbox_table, STATEMENT_SANDBOX_STATE_INSERT,
                        &sandbox_state_table, sb);
}

int store_sandbox_update(Store *s, const Sandbox *sb) {
        return update_state(s, STATEMENT_SANDBOX_STATE_UPDATE, &sandbox_state_table, sb);
}

int store_sandbox_update_all(Store *s, const Sandbox *sb) {
        bool own = transaction_enter(s);
        int r;

        r = update_state(s, STATEMENT_SANDBOX_UPDATE, &sandbox_table, sb);
        if (r >= 0)
                r = update_state(s, STATEMENT_SANDBOX_STATE_UPDATE, &sandbox_state_table, sb);
        return transaction_leave(s, own, r);
}

int store_sandbox_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_SANDBOX_DELETE, id);
}

typedef struct SandboxEach {
        int (*each)(Sandbox *row, void *userdata);
        void *userdata;
} SandboxEach;

static int sandbox_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const SandboxEach *e = userdata;
        Sandbox row = { 0 };
        int r;

        r = table_load(&sandbox_table, st, 0, &row);
        if (r >= 0)
                r = table_load(&sandbox_state_table, st, (int) table_columns(&sandbox_table), &row);
        if (r >= 0)
                r = e->each(&row, e->userdata);
        table_done(&sandbox_table, &row);
        table_done(&sandbox_state_table, &row);
        return r;
}

int store_sandbox_each(Store *s, int (*each)(Sandbox *row, void *userdata), void *userdata) {
        SandboxEach e = { each, userdata };

        return statement_each(s, STATEMENT_SANDBOX_SELECT, SQLITE_OK, sandbox_row, &e);
}

int store_execution_insert(Store *s, const Execution *x) {
        return insert_both(s, STATEMENT_EXECUTION_INSERT, &execution_table, STATEMENT_EXECUTION_STATE_INSERT,
                        &execution_state_table, x);
}

int store_execution_update(Store *s, const Execution *x) {
        return update_state(s, STATEMENT_EXECUTION_STATE_UPDATE, &execution_state_table, x);
}

int store_execution_delete(Store *s, const char *sandbox_id, uint64_t number) {
        sqlite3_stmt *st = s->statements[STATEMENT_EXECUTION_DELETE];
        int rc;

        rc = sqlite3_bind_text(st, 1, sandbox_id, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, (sqlite3_int64) number);
        return statement_run(s, STATEMENT_EXECUTION_DELETE, rc, /* ret_value= */ NULL);
}

typedef struct ExecutionEach {
        int (*each)(const char *sandbox_id, Execution *row, void *userdata);
        void *userdata;
} ExecutionEach;

static int execution_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const ExecutionEach *e = userdata;
        Execution row = { 0 };
        int r;

        r = table_load(&execution_table, st, 0, &row);
        if (r >= 0)
                r = table_load(&execution_state_table, st, (int) table_columns(&execution_table), &row);
        (void) snprintf(row.id, sizeof(row.id), "e%" PRIu64, row.number);
        if (r >= 0)
                r = e->each((const char *) sqlite3_column_text(st, 0), &row, e->userdata);
        table_done(&execution_table, &row);
        table_done(&execution_state_table, &row);
        return r;
}

int store_execution_each(Store *s, int (*each)(const char *sandbox_id, Execution *row, void *userdata), void *userdata) {
        ExecutionEach e = { each, userdata };

        return statement_each(s, STATEMENT_EXECUTION_SELECT, SQLITE_OK, execution_row, &e);
}
