/* wal.h: SQLite's write-ahead log, with many writes gathered into one.
 *
 * SQLite writes two pieces per page to the log, one after the other. A file system of SQLite's (a "VFS") that lies
 * between it and the real one keeps pieces that follow each other, and writes them by one call. What is kept is read back
 * from here, so that SQLite does not notice.
 *
 *      the log    ─ written ─────────┬─ gathered ──────────┬─ with room on the disk ─┐ … without
 *                                    at                    at + n                    limit
 *
 * Only pieces below the limit are gathered, which have blocks of their own on the disk: their writing cannot fail for
 * want of room. All others are written at once, as without this file, and SQLite reports the failure to the caller.
 *
 * Must not know: transactions. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define WAL_VFS "cove" /* for sqlite3_open_v2(), after wal_register() */

int wal_register(void); /* SQLite's result */

typedef struct StoreWal StoreWal;

StoreWal *wal_of(sqlite3 *db); /* NULL: the database has no log */

void wal_set_limit(StoreWal *l, uint64_t bytes); /* 0, as at first: nothing is gathered any more */
bool wal_waits(const StoreWal *l);               /* whether there is anything to flush */
int wal_flush(StoreWal *l);                      /* SQLite's result. After a failure everything is still here */
int wal_sync(StoreWal *l);                       /* flushes, then fdatasync(2) */
