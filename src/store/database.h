/* database.h: the file of the store.
 *
 * Makes it, opens it, locks it, brings its schema up to date, shrinks it. What cannot be read is refused with words, and
 * never replaced by something empty.
 *
 * Every write goes to the log (FILE-wal) first, and only there. The log has its room on the disk before anything is written to it,
 * and keeps it, also while no daemon runs: so on a full disk rows can still be changed and removed, and nobody can take that room first.
 * Must not know: what is in it. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>

#include "base/error.h"
#include "store/migrations.h"

/* Makes the file when there is none. -EUCLEAN: damaged. -EBUSY: somebody else's. More in migrations.h. */
int database_open(const char *path, const Migrations *migrations, sqlite3 **ret, Error *reterr);

/* Gives the log its room, where it does not have it. -ENOSPC: the disk is full already. */
int database_reserve(const char *path);

/* With a log that has nothing in it, and its room; or as SQLite closes, where what the log has cannot be moved into the file. */
void database_close(const char *path, sqlite3 *db);
