/* Rows of keys and tenants. */
#include "core/rows.h"

#include <errno.h>

#include "store/driver.h"
#include "store/table.h"
#include "store/tables.h"

static const ShapeField key_table_fields[] = {
        FIELD("id",           chars,  Key, id),
        FIELD("name",         chars,  Key, name),
        FIELD("scope",        named,  Key, scope, .names = &scope_names),
        FIELD("tenant",       chars,  Key, tenant),
        FIELD("hash",         bytes,  Key, hash),
        FIELD("prefix",       chars,  Key, prefix),
        FIELD("created_at",   uint64, Key, created_at),
        FIELD("last_used_at", uint64, Key, last_used_at),
        FIELD("may_loosen",   bool,   Key, may_loosen),
        FIELD("profile",      chars,  Key, profile),
};
enum { KEY_ALL, KEY_USED };
static const char *const key_queries[] = {
        [KEY_ALL]  = "ORDER BY serial",
        [KEY_USED] = "UPDATE key SET last_used_at = ?2 WHERE id = ?1",
};
TABLE(key_table, Key, "key", 1, INSERTS | DELETES, QUERIES(key_queries));

int store_key_used(Store *s, const char *id, usec_t at) {
        return query_run(s, &key_table, KEY_USED, VALUES(TEXT(id), NUMBER(at)), /* ret_value= */ NULL);
}

static const ShapeField tenant_table_fields[] = {
        FIELD("name",             chars,  Tenant, name),
        FIELD("sandboxes_max",    uint64, Tenant, sandboxes_max),
        FIELD("cpu_milli_max",    uint64, Tenant, cpu_milli_max),
        FIELD("memory_bytes_max", uint64, Tenant, memory_bytes_max),
        FIELD("disk_bytes_max",   uint64, Tenant, disk_bytes_max),
        FIELD("created_at",       uint64, Tenant, created_at),
        FIELD("profile",          chars,  Tenant, profile),
};
TABLE(tenant_table, Tenant, "tenant", 1, PUTS | DELETES, IN_ORDER("name"));

int store_tenant_delete(Store *s, const char *name) {
        int r = store_delete_id(s, &tenant_table, name);

        return r == -ENOENT ? -EBUSY : r; /* SQLite has one word for both ends of a reference */
}
