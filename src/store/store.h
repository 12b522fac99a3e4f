/* store.h: what must outlive the daemon.
 *
 * SQLite behind one door; one writer. Rows in, rows out: the store has no opinion about them. Every function is one
 * transaction unless store_begin() was called. Commits survive the death of the process at any moment; store_sync() makes
 * what is committed survive the machine's too.
 * Must not know: what the fields mean, the loop, processes. */
#pragma once

#include "core/access.h"
#include "core/execution.h"
#include "core/sandbox.h"

typedef struct Store Store;

int store_open(const char *path, Store **ret, Error *reterr);
Store *store_close(Store *s);

/* What fails in a transaction sticks, its begin included: everything after it fails too, and store_commit() undoes the
 * whole and returns the first error. So a caller may look at the commit only. They do not nest. */
int store_begin(Store *s); /* 0 */
int store_commit(Store *s);
void store_rollback(Store *s); /* also after a commit that failed, and when there is none */
int store_sync(Store *s);

/* Told after each transaction how long it took; NULL: nobody wants to know. */
typedef void (*StoreTiming)(usec_t duration, void *userdata);
void store_set_timing(Store *s, StoreTiming timing, void *userdata);

/* How often the machine has failed us (-ENOSPC, -EIO, -EUCLEAN, -EROFS) since it was opened, and how the last time. */
uint64_t store_failures(const Store *s, int *ret_last);

/* -EEXIST: there is one. -ENOENT: there is no such row to update, or nothing that the row would hang on. Deletes of what
 * is not there succeed. -ENOSPC, -EIO, -EUCLEAN (damaged): the machine's. -EBADMSG, while reading: not written by us. */

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

/* What happened, for /logs and for people: bounded per sandbox, the oldest go. */
typedef struct StoreEvent {
        uint64_t serial; /* grows; never used twice; given by the store */
        usec_t at;       /* wall clock */
        const char *sandbox_id, *type, *execution_id /* may be NULL */, *text /* may be NULL */;
} StoreEvent;

int store_event_add(Store *s, const StoreEvent *event, uint64_t *ret_serial);
int store_event_each(Store *s, const char *sandbox_id, uint64_t after_serial, usec_t since,
                int (*each)(const StoreEvent *event, void *userdata), void *userdata);

int store_counter_get(Store *s, const char *name, uint64_t *ret); /* 0 when it was never set */
int store_counter_set(Store *s, const char *name, uint64_t value);

int store_key_insert(Store *s, const Key *key);
int store_key_used(Store *s, const char *id, usec_t at);
int store_key_delete(Store *s, const char *id);
int store_key_each(Store *s, int (*each)(const Key *key, void *userdata), void *userdata);
int store_tenant_put(Store *s, const Tenant *tenant);
int store_tenant_delete(Store *s, const char *name); /* -EBUSY: keys of it are left */
int store_tenant_each(Store *s, int (*each)(const Tenant *tenant, void *userdata), void *userdata);
