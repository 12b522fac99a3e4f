/* migrations.h: the steps that lead to the current schema.
 *
 * An ordered list; entries are only added, never edited. A database keeps the number of steps that it has had
 * (user_version), and each of the rest is applied in one transaction. Includes sqlite3.h: for files of this folder and
 * their test only. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "base/error.h"

typedef struct Migrations {
        const char *const *sql;
        size_t n;
} Migrations;

extern const Migrations store_migrations;

/* -EMEDIUMTYPE: a database of another program. -EOPNOTSUPP: written by a later version of cove. */
int migrations_apply(const Migrations *m, sqlite3 *db, const char *path, Error *reterr);
