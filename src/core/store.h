/* store.h: what outlives the daemon, as the rooms of the daemon see it.
 *
 * One handle and its transactions. Each room declares the rows that it keeps in a rows.h of its own, in its own types; src/store
 * implements all of them. Every function is one transaction unless store_begin() was called. Commits survive the death of the process
 * at any moment; store_sync() makes what is committed survive the machine's too.
 *
 * Errors: -EEXIST: there is one. -ENOENT: there is no such row to update, or nothing that the row would hang on. Deletes of what
 * is not there succeed. -ENOSPC, -EIO, -EUCLEAN (damaged): the machine's. -EBADMSG, while reading: not written by us.
 * Must not know: SQL, where the file is. */
#pragma once

#include <stdint.h>

#include "base/clock.h"

typedef struct Store Store;

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

int store_counter_get(Store *s, const char *name, uint64_t *ret); /* 0 when it was never set */
int store_counter_set(Store *s, const char *name, uint64_t value);
