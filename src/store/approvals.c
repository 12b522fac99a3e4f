/* Rows of approvals. */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "gatekeeper/rows.h"
#include "store/statement.h"
#include "store/tables.h"

static const ShapeField approval_fields[] = {
        FIELD("id",          chars,  StoreApproval, id),
        FIELD("ask",         chars,  StoreApproval, ask),
        FIELD("sandbox",     chars,  StoreApproval, sandbox),
        FIELD("tenant",      text,   StoreApproval, tenant),
        FIELD("profile",     text,   StoreApproval, profile),
        FIELD("object",      text,   StoreApproval, object),
        FIELD("rule",        text,   StoreApproval, rule),
        FIELD("status",      chars,  StoreApproval, status),
        FIELD("asked_at",    uint64, StoreApproval, asked_at),
        FIELD("expires_at",  uint64, StoreApproval, expires_at),
        FIELD("answered_at", uint64, StoreApproval, answered_at),
        FIELD("scope",       chars,  StoreApproval, scope),
        FIELD("answered_by", text,   StoreApproval, by),
};
const FieldTable approval_table = { "approval", approval_fields, ELEMENTSOF(approval_fields), 1 };

void store_approval_done(StoreApproval *a) {
        table_done(&approval_table, a);
}

int store_approval_add(Store *s, const StoreApproval *a, unsigned keep) {
        sqlite3_stmt *trim = s->statements[STATEMENT_APPROVAL_TRIM];
        bool own = transaction_enter(s);
        int r;

        r = statement_write(s, STATEMENT_APPROVAL_INSERT, &approval_table, table_columns(&approval_table), a);
        if (r >= 0)
                r = statement_run(s, STATEMENT_APPROVAL_TRIM, sqlite3_bind_int64(trim, 1, keep), /* ret_value= */ NULL);
        return transaction_leave(s, own, r);
}

int store_approval_update(Store *s, const StoreApproval *a) {
        return statement_write(s, STATEMENT_APPROVAL_UPDATE, &approval_table, table_columns(&approval_table), a);
}

typedef struct ApprovalEach {
        int (*each)(StoreApproval *row, void *userdata);
        void *userdata;
} ApprovalEach;

static int approval_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const ApprovalEach *e = userdata;
        StoreApproval row = { 0 };
        int r;

        r = table_load(&approval_table, st, 0, &row);
        row.serial = (uint64_t) sqlite3_column_int64(st, (int) table_columns(&approval_table));
        if (r >= 0)
                r = e->each(&row, e->userdata);
        store_approval_done(&row);
        return r;
}

static int bind_or_null(sqlite3_stmt *st, int parameter, const char *text) {
        return text ? sqlite3_bind_text(st, parameter, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, parameter);
}

int store_approval_each(Store *s, const char *tenant, const char *status, uint64_t before, unsigned limit,
                int (*each)(StoreApproval *row, void *userdata), void *userdata) {
        sqlite3_stmt *st = s->statements[STATEMENT_APPROVAL_SELECT];
        ApprovalEach e = { each, userdata };
        int rc;

        rc = bind_or_null(st, 1, tenant);
        if (rc == SQLITE_OK)
                rc = bind_or_null(st, 2, status);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 3, before > 0 && before < INT64_MAX ? (sqlite3_int64) before : INT64_MAX);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 4, limit);
        return statement_each(s, STATEMENT_APPROVAL_SELECT, rc, approval_row, &e);
}

static int approvals_take_row(StoreApproval *row, void *userdata) {
        *(StoreApproval *) userdata = *row;
        *row = (StoreApproval) { 0 };
        return 0;
}

static int approvals_find(Store *s, StatementId statement, const char *key, StoreApproval *ret) {
        sqlite3_stmt *st = s->statements[statement];
        StoreApproval found = { 0 };
        ApprovalEach e = { approvals_take_row, &found };
        int r = statement_each(s, statement, sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC), approval_row, &e);

        if (r < 0)
                return r;
        if (found.id[0] == '\0')
                return -ENOENT;
        *ret = found;
        return 0;
}

int store_approval_get(Store *s, const char *id, StoreApproval *ret) {
        return approvals_find(s, STATEMENT_APPROVAL_FIND, id, ret);
}

int store_approval_get_ask(Store *s, const char *ask, StoreApproval *ret) {
        return approvals_find(s, STATEMENT_APPROVAL_FIND_ASK, ask, ret);
}

int store_approval_close(Store *s, const char *sandbox, const char *status, usec_t due, usec_t now) {
        sqlite3_stmt *st = s->statements[STATEMENT_APPROVAL_CLOSE];
        int rc, r;

        rc = bind_or_null(st, 1, sandbox);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_text(st, 2, status, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 3, (sqlite3_int64) MIN_OF(now, (usec_t) INT64_MAX));
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 4, (sqlite3_int64) MIN_OF(due, (usec_t) INT64_MAX));
        r = statement_run(s, STATEMENT_APPROVAL_CLOSE, rc, /* ret_value= */ NULL);
        return r < 0 ? r : sqlite3_changes(s->db);
}
