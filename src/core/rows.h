/* rows.h: rows of sandboxes, executions, events, keys and tenants, and the ledger. As core/store.h. */
#pragma once

#include "core/access.h"
#include "core/events.h"
#include "core/execution.h"
#include "core/sandbox.h"
#include "core/store.h"

/* Sandboxes: insert writes all, update what changes in a life (status, reason, times, guards_missing, id_base, pid, …). */
int store_sandbox_insert(Store *s, const Sandbox *sb);
int store_sandbox_update(Store *s, const Sandbox *sb);
int store_sandbox_update_all(Store *s, const Sandbox *sb); /* what was asked for as well: it has another owner */
int store_sandbox_delete(Store *s, const char *id); /* with executions, events and ledger rows */

/* In order of creation. The row is the callee's to take from (spec by memcpy and memset); return < 0 to stop. */
int store_sandbox_each(Store *s, int (*each)(Sandbox *row, void *userdata), void *userdata);

int store_execution_insert(Store *s, const Execution *x);
int store_execution_update(Store *s, const Execution *x); /* status, reason, end, counters */
int store_execution_delete(Store *s, const char *sandbox_id, uint64_t number);
int store_execution_each(Store *s, int (*each)(const char *sandbox_id, Execution *row, void *userdata), void *userdata);

/* What exists in the kernel and on disk on our behalf: written before it is made, removed after it is gone. */
typedef enum LedgerKind {
        LEDGER_CGROUP,
        LEDGER_PROCESS,
        LEDGER_SOCKET,
        LEDGER_DIRECTORY,
        LEDGER_TREE,
        _LEDGER_MAX,
} LedgerKind;

const char *ledger_kind_name(LedgerKind k);
int store_ledger_add(Store *s, const char *sandbox_id, LedgerKind kind, const char *name);
int store_ledger_remove(Store *s, const char *sandbox_id); /* all of it */
int store_ledger_each(Store *s, int (*each)(const char *sandbox_id, LedgerKind kind, const char *name, void *userdata),
                void *userdata);

int store_event_add(Store *s, const StoreEvent *event, uint64_t *ret_serial);
int store_event_each(Store *s, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata);

int store_key_insert(Store *s, const Key *key);
int store_key_used(Store *s, const char *id, usec_t at);
int store_key_delete(Store *s, const char *id);
int store_key_each(Store *s, int (*each)(const Key *key, void *userdata), void *userdata);
int store_tenant_put(Store *s, const Tenant *tenant);
int store_tenant_delete(Store *s, const char *name); /* -EBUSY: keys of it are left */
int store_tenant_each(Store *s, int (*each)(const Tenant *tenant, void *userdata), void *userdata);
