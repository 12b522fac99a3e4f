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
enum { KEY_ALL, KEY_USED, KEY_RENAME };
static const char *const key_queries[] = {
        [KEY_ALL]  = "ORDER BY serial",
        [KEY_USED] = "UPDATE key SET last_used_at = ?2 WHERE id = ?1",
        [KEY_RENAME] = "UPDATE key SET name = ?2 WHERE id = ?1",
};
TABLE(key_table, Key, "key", 1, INSERTS | DELETES, .grows = true, QUERIES(key_queries));

int store_key_used(Store *s, const char *id, usec_t at) {
        return query_run(s, &key_table, KEY_USED, VALUES(TEXT(id), NUMBER(at)), /* ret_value= */ NULL);
}

int store_key_rename(Store *s, const char *id, const char *name) {
        return query_run(s, &key_table, KEY_RENAME, VALUES(TEXT(id), TEXT(name)), /* ret_value= */ NULL);
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
/* A new table with objects of tenants must be added here; test/unit/test-store-file.c checks that. */
enum { TENANT_ALL, TENANT_FORGET_USAGE, TENANT_FORGET_HOURS, TENANT_FORGET_NOTES, TENANT_LEFT };
#define LEFT(table) "SELECT count(*) FROM " table " WHERE tenant = ?1"
static const char *const tenant_queries[] = {
        [TENANT_ALL]          = "ORDER BY name",
        [TENANT_FORGET_USAGE] = "DELETE FROM usage WHERE tenant = ?1",
        [TENANT_FORGET_HOURS] = "DELETE FROM usage_hour WHERE tenant = ?1",
        [TENANT_FORGET_NOTES] = "DELETE FROM secret_note WHERE tenant = ?1",
        [TENANT_LEFT]         = LEFT("sandbox"),
        LEFT("snapshot"), LEFT("volume"), LEFT("template"), LEFT("build"), LEFT("build_cache"), LEFT("making"), LEFT("job"), LEFT("artifact"), LEFT("secret"),
        LEFT("approval"), LEFT("network_grant"),
};
static const char *const left_words[] = {
        "sandboxes", "snapshots", "volumes", "templates", "builds of E2B templates", "cached steps of builds", "pulls and builds", "agent executions", "artifacts", "secrets",
        "approvals", "grants",
};
_Static_assert(ELEMENTSOF(left_words) == ELEMENTSOF(tenant_queries) - TENANT_LEFT, "a word for each");
TABLE(tenant_table, Tenant, "tenant", 1, PUTS | DELETES, QUERIES(tenant_queries));

int store_tenant_left(Store *s, const char *name, int (*each)(const char *what, uint64_t n, void *userdata), void *userdata) {
        int r = 0;

        for (unsigned i = 0; i < ELEMENTSOF(left_words) && r >= 0; i++) {
                int64_t n = 0;

                r = query_run(s, &tenant_table, TENANT_LEFT + i, VALUES(TEXT(name)), &n);
                if (r >= 0 && n > 0)
                        r = each(left_words[i], (uint64_t) n, userdata);
        }
        return r;
}

int store_tenant_delete(Store *s, const char *name) {
        int r = store_delete_id(s, &tenant_table, name);

        for (unsigned i = TENANT_FORGET_USAGE; i < TENANT_LEFT && r >= 0; i++)
                r = query_run(s, &tenant_table, i, VALUES(TEXT(name)), /* ret_value= */ NULL);
        return r == -ENOENT ? -EBUSY : r; /* SQLite has the same error for both ends of a reference */
}
