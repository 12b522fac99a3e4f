/* What exists on our behalf. */
#include <errno.h>
#include <string.h>

#include "store/statement.h"
#include "store/tables.h"

static const char *const kinds[_LEDGER_MAX] = {
        [LEDGER_CGROUP]    = "cgroup",
        [LEDGER_PROCESS]   = "process",
        [LEDGER_SOCKET]    = "socket",
        [LEDGER_DIRECTORY] = "directory",
        [LEDGER_TREE]      = "tree",
};

const char *ledger_kind_name(LedgerKind k) {
        return k < _LEDGER_MAX ? kinds[k] : NULL;
}

int ledger_kind_from_name(const char *name) {
        for (int i = 0; name && i < _LEDGER_MAX; i++)
                if (strcmp(kinds[i], name) == 0)
                        return i;
        return -EINVAL;
}

int store_ledger_add(Store *s, const char *sandbox_id, LedgerKind kind, const char *name) {
        LedgerRow row = { sandbox_id, (int) kind, name };
        return statement_write(s, STATEMENT_LEDGER_INSERT, &ledger_table, table_columns(&ledger_table), &row);
}

int store_ledger_remove(Store *s, const char *sandbox_id) {
        return statement_write_text(s, STATEMENT_LEDGER_DELETE, sandbox_id);
}

typedef struct LedgerEach {
        int (*each)(const char *sandbox_id, LedgerKind kind, const char *name, void *userdata);
        void *userdata;
} LedgerEach;

static int ledger_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const LedgerEach *e = userdata;
        LedgerRow row = { 0 };
        int r;

        r = table_load(&ledger_table, st, 0, &row);
        return r < 0 ? r : e->each(row.sandbox, (LedgerKind) row.kind, row.name, e->userdata);
}

int store_ledger_each(Store *s, int (*each)(const char *sandbox_id, LedgerKind kind, const char *name, void *userdata),
                void *userdata) {
        LedgerEach e = { each, userdata };

        return statement_each(s, STATEMENT_LEDGER_SELECT, SQLITE_OK, ledger_row, &e);
}
