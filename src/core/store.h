/* store.h: the daemon's persistent store, as the rooms of the daemon use it.
 *
 * One handle and its transactions. Each room declares its rows in a rows.h of its own, in its own types; src/store
 * implements all of them. Every function is one transaction unless store_begin() was called. A commit survives the
 * death of the process at any moment; store_sync() makes the commits so far survive a crash of the machine too.
 *
 * Errors: -EEXIST: the row exists. -ENOENT: there is no row to update, or no parent row to refer to. Deleting a
 * missing row succeeds. -ENOSPC, -EIO, -EUCLEAN (damaged): failures of the machine. -EBADMSG, while reading: a
 * value that the store did not write.
 *
 * Callers must check the result of every write. A write that may be lost goes through store_may_lose().
 *
 * On a full disk, rows can still be changed and deleted, and events be added, in space that the store has reserved;
 * nothing new is begun.
 * Must not know: SQL, where the file is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/macro.h"

typedef struct Store Store;

/* An error in a transaction sticks, also one of its begin: every later call fails too, and store_commit() rolls
 * everything back and returns the first error. So a caller may check only the commit. Transactions do not nest. */
int store_begin(Store *s); /* 0 */
int store_commit(Store *s) _must_check_;
int store_end(Store *s, int r) _must_check_; /* commits; if r is an error, rolls back and returns r */
void store_rollback(Store *s); /* also after a failed commit, and without a transaction */
int store_sync(Store *s) _must_check_;

/* Changes to rows of running work (states, executions, events) are not written one by one: unwritten() is called for each
 * transaction of such changes alone, and store_flush_or_end() writes all of them. Until then nothing may leave the process
 * that depends on them, see core/settle.h. Any other transaction writes them too, before it returns. If they cannot be
 * written, which is no lack of room, the process ends. unwritten NULL, as at first: every transaction is written before
 * it returns. */
typedef void (*StoreUnwritten)(void *userdata);
void store_set_turn(Store *s, StoreUnwritten unwritten, void *userdata);
void store_flush_or_end(Store *s);

/* Called after each transaction with its duration; NULL: none. */
typedef void (*StoreTiming)(usec_t duration, void *userdata);
void store_set_timing(Store *s, StoreTiming timing, void *userdata);

/* Called before the insert of a row that begins new work: a sandbox, an execution, a key. False: the insert fails
 * with -ENOSPC. NULL: no check. */
typedef bool (*StoreRoom)(void *userdata);
void store_set_room(Store *s, StoreRoom room, void *userdata);

/* Logs the failure of a write that breaks no promise to a caller: the next write or the next start makes up for it. */
void store_may_lose(int r, const char *what);

/* The number of failures of the machine (-ENOSPC, -EIO, -EUCLEAN, -EROFS) since the store was opened, and the last
 * one. */
uint64_t store_failures(const Store *s, int *ret_last);

int store_counter_get(Store *s, const char *name, uint64_t *ret); /* 0 when it was never set */
int store_counter_set(Store *s, const char *name, uint64_t value) _must_check_;

/* Rows. A table is described in src/store; a room's rows.h declares it, and defines typed functions by the macros
 * below. If an object has two tables, insert writes both, and update the one with the state that changes. */
typedef struct StoreTable StoreTable;

int store_insert(Store *s, const StoreTable *t, const void *row) _must_check_;
int store_put(Store *s, const StoreTable *t, const void *row) _must_check_; /* inserts; if a row has this key, changes its variable columns */
int store_update(Store *s, const StoreTable *t, const void *row) _must_check_;
int store_delete(Store *s, const StoreTable *t, const void *row) _must_check_; /* the row with this key */
int store_delete_id(Store *s, const StoreTable *t, const char *id) _must_check_;

/* row() is called for each row and may take its members (by memcpy and memset); the rest is freed. Below zero:
 * stop. */
typedef struct StoreReader {
        int (*row)(struct StoreReader *reader, void *row);
        void (*each)(void); /* the caller's function; row() knows its type */
        void *userdata;
        size_t n; /* rows so far */
} StoreReader;

int store_each(Store *s, const StoreTable *t, StoreReader *reader);
void store_row_done(const StoreTable *t, void *row); /* frees texts and lists, and sets them to NULL */

/* int FUNCTION(Store *s, const TYPE *row), which is HOW: store_insert, store_put, store_update or store_delete. */
#define STORE_WRITE(function, how, table, type)                              \
        _must_check_ static inline int function(Store *s, const type *row) { \
                return how(s, &(table), row);                                \
        }                                                                    \
        _Static_assert(sizeof(type) > 0, "")

/* int FUNCTION(Store *s, const char *id) */
#define STORE_DELETE(function, table)                                       \
        _must_check_ static inline int function(Store *s, const char *id) { \
                return store_delete_id(s, &(table), id);                    \
        }                                                                   \
        _Static_assert(true, "")

/* void FUNCTION(TYPE *row) */
#define STORE_DONE(function, table, type)                                                                         \
        static inline void function(type *row) {                                                                  \
                store_row_done(&(table), row);                                                                    \
        }                                                                                                         \
        _Static_assert(sizeof(type) > 0, "")

/* A StoreReader's row() for int each(TYPE *row, void *userdata); TYPE is const if the callee may not take members. */
#define STORE_READER(function, type)                                                                              \
        static inline int function(StoreReader *reader, void *row) {                                              \
                return ((int (*)(type *, void *)) reader->each)(row, reader->userdata);                           \
        }                                                                                                         \
        _Static_assert(sizeof(type) > 0, "")

/* int FUNCTION(Store *s, int (*each)(TYPE *row, void *userdata), void *userdata) */
#define STORE_EACH(function, table, type)                                                                         \
        STORE_READER(function##_row, type);                                                                       \
        static inline int function(Store *s, int (*each)(type *row, void *userdata), void *userdata) {            \
                return store_each(s, &(table), &(StoreReader) { function##_row, (void (*)(void)) each, userdata }); \
        }                                                                                                         \
        _Static_assert(sizeof(type) > 0, "")
