/* database.h: the database file of the store.
 *
 * Creates, opens, locks and shrinks the file, and brings its schema up to date. A file that cannot be read is refused
 * with an error, and never replaced by an empty one.
 *
 * Every write goes to the log (FILE-wal) first, and only there. The blocks of the log are allocated before anything is
 * written to it and stay allocated, also while no daemon runs: no other writer can take that space, so rows can be
 * changed and removed also on a full disk.
 * Must not know: what the tables hold. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "store/migrations.h"

/* Creates the file when there is none. -EUCLEAN: damaged. -EBUSY: another process has it open. More in migrations.h. */
int database_open(const char *path, const Migrations *migrations, sqlite3 **ret, Error *reterr);

/* Allocates the blocks of the log that are missing. -ENOSPC: the disk is full already. *ret_sure: up to this offset
 * the log can always be written; 0 where the file system does not use blocks again. */
int database_reserve(const char *path, uint64_t *ret_sure);

/* Leaves an empty log with its blocks allocated. If the log cannot be copied into the file, closes as SQLite does. */
void database_close(const char *path, sqlite3 *db);
