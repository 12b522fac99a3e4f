/* rows.h: rows of sandboxes, executions, events, keys and tenants, and footprints. As core/store.h. */
#pragma once

#include "core/access.h"
#include "core/events.h"
#include "core/execution.h"
#include "core/sandbox.h"
#include "core/store.h"

/* Sandboxes: insert writes all columns, update those that change (status, reason, times, guards_missing, id_base,
 * pid, …). */
extern const StoreTable sandbox_table;
STORE_WRITE(store_sandbox_insert, store_insert, sandbox_table, Sandbox);
STORE_WRITE(store_sandbox_update, store_update, sandbox_table, Sandbox);
int store_sandbox_update_all(Store *s, const Sandbox *sb) _must_check_; /* the spec too, for example for a new owner */
STORE_DELETE(store_sandbox_delete, sandbox_table); /* with executions, events and footprint */

/* In order of creation. The callee may take a row's members (spec by memcpy and memset); return < 0 to stop. */
STORE_EACH(store_sandbox_each, sandbox_table, Sandbox);

extern const StoreTable execution_table;
STORE_WRITE(store_execution_insert, store_insert, execution_table, Execution);
STORE_WRITE(store_execution_update, store_update, execution_table, Execution); /* status, reason, end, counters */
int store_execution_delete(Store *s, const char *sandbox_id, uint64_t number) _must_check_;
int store_execution_each(Store *s, int (*each)(const char *sandbox_id, Execution *row, void *userdata), void *userdata);

/* The footprint of a sandbox: its objects in the kernel and on disk. Written before they are made, deleted after
 * they are gone. */
typedef enum FootprintKind {
        FOOTPRINT_CGROUP,
        FOOTPRINT_PROCESS,
        FOOTPRINT_SOCKET,
        FOOTPRINT_DIRECTORY,
        FOOTPRINT_TREE,
        _FOOTPRINT_MAX,
} FootprintKind;

const char *footprint_kind_name(FootprintKind k);
int store_footprint_add(Store *s, const char *sandbox_id, FootprintKind kind, const char *name) _must_check_;
int store_footprint_remove(Store *s, const char *sandbox_id) _must_check_; /* all of it */
int store_footprint_each(Store *s, int (*each)(const char *sandbox_id, FootprintKind kind, const char *name, void *userdata),
                void *userdata);

int store_event_add(Store *s, const StoreEvent *event, uint64_t *ret_serial) _must_check_;
int store_event_each(Store *s, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata);

extern const StoreTable key_table, tenant_table;
STORE_WRITE(store_key_insert, store_insert, key_table, Key);
int store_key_used(Store *s, const char *id, usec_t at) _must_check_;
int store_key_rename(Store *s, const char *id, const char *name) _must_check_;
STORE_DELETE(store_key_delete, key_table);
STORE_EACH(store_key_each, key_table, const Key);
STORE_WRITE(store_tenant_put, store_put, tenant_table, Tenant);
int store_tenant_delete(Store *s, const char *name) _must_check_; /* with its usage figures. -EBUSY: it still has keys */
/* Counts the objects of a tenant of that name, by kind; also of a former tenant. */
int store_tenant_left(Store *s, const char *name, int (*each)(const char *what, uint64_t n, void *userdata), void *userdata);
STORE_EACH(store_tenant_each, tenant_table, const Tenant);
