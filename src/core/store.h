/* store.h: what outlives the daemon, as the rooms of the daemon see it.
 *
 * One handle and its transactions. Each room declares the rows that it keeps in a rows.h of its own, in its own types; src/store
 * implements all of them. Every function is one transaction unless store_begin() was called. Commits survive the death of the process
 * at any moment; store_sync() makes what is committed survive the machine's too.
 *
 * Errors: -EEXIST: there is one. -ENOENT: there is no such row to update, or nothing that the row would hang on. Deletes of what
 * is not there succeed. -ENOSPC, -EIO, -EUCLEAN (damaged): the machine's. -EBADMSG, while reading: not written by us.
 *
 * Who writes looks at what has become of it. What may be lost is said to be so, by store_may_lose().
 *
 * On a full disk rows can still be changed and removed, and events be told, out of room that the store has for itself; nothing is begun.
 * Must not know: SQL, where the file is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/macro.h"

typedef struct Store Store;

/* What fails in a transaction sticks, its begin included: everything after it fails too, and store_commit() undoes the
 * whole and returns the first error. So a caller may look at the commit only. They do not nest. */
int store_begin(Store *s); /* 0 */
int store_commit(Store *s) _must_check_;
int store_end(Store *s, int r) _must_check_; /* commits; if r is an error, undoes it and returns that */
void store_rollback(Store *s); /* also after a commit that failed, and when there is none */
int store_sync(Store *s) _must_check_;

/* Told after each transaction how long it took; NULL: nobody wants to know. */
typedef void (*StoreTiming)(usec_t duration, void *userdata);
void store_set_timing(Store *s, StoreTiming timing, void *userdata);

/* Asked before a row is inserted that is the beginning of something: a sandbox, an execution, a key. False: -ENOSPC. NULL: there always is. */
typedef bool (*StoreRoom)(void *userdata);
void store_set_room(Store *s, StoreRoom room, void *userdata);

/* A write whose failure changes nothing that anybody was promised, and will be made good by the next one or by the next start. Says so in the log. */
void store_may_lose(int r, const char *what);

/* How often the machine has failed us (-ENOSPC, -EIO, -EUCLEAN, -EROFS) since it was opened, and how the last time. */
uint64_t store_failures(const Store *s, int *ret_last);

int store_counter_get(Store *s, const char *name, uint64_t *ret); /* 0 when it was never set */
int store_counter_set(Store *s, const char *name, uint64_t value) _must_check_;

/* Rows. A table is described in src/store; a room's rows.h names it and gives each function that the room needs its types, by the macros
 * below. Where a table keeps an object in two halves, insert writes both and update the one that changes in a life. */
typedef struct StoreTable StoreTable;

int store_insert(Store *s, const StoreTable *t, const void *row) _must_check_;
int store_put(Store *s, const StoreTable *t, const void *row) _must_check_; /* made; or, of the one with this key, changed what may change */
int store_update(Store *s, const StoreTable *t, const void *row) _must_check_;
int store_delete(Store *s, const StoreTable *t, const void *row) _must_check_; /* the one with this key */
int store_delete_id(Store *s, const StoreTable *t, const char *id) _must_check_;

/* Calls row() for each row, whose members it may take (by memcpy and memset); below zero ends it. What is left is freed. */
typedef struct StoreReader {
        int (*row)(struct StoreReader *reader, void *row);
        void (*each)(void); /* the caller's function, which row() knows the type of */
        void *userdata;
        size_t n; /* rows so far */
} StoreReader;

int store_each(Store *s, const StoreTable *t, StoreReader *reader);
void store_row_done(const StoreTable *t, void *row); /* frees texts and lists; they are NULL then */

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

/* A StoreReader's row() for int each(TYPE *row, void *userdata); TYPE is const where the callee may not take anything. */
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
