/* Keys and tenants. */
#include <errno.h>

#include "store/statement.h"
#include "store/tables.h"

int store_key_insert(Store *s, const Key *key) {
        return statement_write(s, STATEMENT_KEY_INSERT, &key_table, table_columns(&key_table), key);
}

int store_key_used(Store *s, const char *id, usec_t at) {
        sqlite3_stmt *st = s->statements[STATEMENT_KEY_USED];
        int rc;

        rc = sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(st, 2, (sqlite3_int64) at);
        return statement_run(s, STATEMENT_KEY_USED, rc, /* ret_value= */ NULL);
}

int store_key_delete(Store *s, const char *id) {
        return statement_write_text(s, STATEMENT_KEY_DELETE, id);
}

typedef struct KeyEach {
        int (*each)(const Key *key, void *userdata);
        void *userdata;
} KeyEach;

static int key_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const KeyEach *e = userdata;
        Key row = { 0 };
        int r;

        r = table_load(&key_table, st, 0, &row);
        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_key_each(Store *s, int (*each)(const Key *key, void *userdata), void *userdata) {
        KeyEach e = { each, userdata };

        return statement_each(s, STATEMENT_KEY_SELECT, SQLITE_OK, key_row, &e);
}

int store_tenant_put(Store *s, const Tenant *tenant) {
        return statement_write(s, STATEMENT_TENANT_PUT, &tenant_table, table_columns(&tenant_table), tenant);
}

int store_tenant_delete(Store *s, const char *name) {
        int r = statement_write_text(s, STATEMENT_TENANT_DELETE, name);

        return r == -ENOENT ? -EBUSY : r; /* SQLite has one word for both ends of a reference */
}

typedef struct TenantEach {
        int (*each)(const Tenant *tenant, void *userdata);
        void *userdata;
} TenantEach;

static int tenant_row(Store *s, sqlite3_stmt *st, void *userdata) {
        const TenantEach *e = userdata;
        Tenant row = { 0 };
        int r;

        r = table_load(&tenant_table, st, 0, &row);
        return r < 0 ? r : e->each(&row, e->userdata);
}

int store_tenant_each(Store *s, int (*each)(const Tenant *tenant, void *userdata), void *userdata) {
        TenantEach e = { each, userdata };

        return statement_each(s, STATEMENT_TENANT_SELECT, SQLITE_OK, tenant_row, &e);
}
