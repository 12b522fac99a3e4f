/* database.h: the file of the store.
 *
 * Makes it, opens it, locks it, brings its schema up to date, shrinks it. What cannot be read is refused with words, and
 * never replaced by something empty.
 * Must not know: what is in it. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>

#include "base/error.h"
#include "store/migrations.h"

/* Makes the file when there is none. -EUCLEAN: damaged. -EBUSY: somebody else's. More in migrations.h. */
int database_open(const char *path, const Migrations *migrations, sqlite3 **ret, Error *reterr);
