/* migrations.h: how the schema came to be what it is.
 *
 * An ordered list, added to and never edited: a database remembers how many it has seen (user_version) and gets the rest,
 * each in one transaction. Includes sqlite3.h: for files of this folder, and for their test, only. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "base/error.h"

typedef struct Migrations {
        const char *const *sql;
        size_t n;
} Migrations;

extern const Migrations store_migrations;

/* -EMEDIUMTYPE: not one of ours. -EOPNOTSUPP: a later program has written it. */
int migrations_apply(const Migrations *m, sqlite3 *db, const char *path, Error *reterr);
