/* field.h: one column, described by base/shape.h.
 *
 * An empty text in a char array is stored as NULL; a Strv as its strings with their NULs, one after the other, and the
 * members of a list of objects likewise; a uint64 beyond INT64_MAX as a negative number; NAN as NULL; an enum as its
 * name. Loading fails with -EBADMSG for a value that the store did not write: one of another type, a number out of
 * range, an unknown name, a text or a list that is too long.
 * Must not know: which tables there are. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "base/shape.h"

/* How a column is bound and loaded if its kind does not decide that. */
typedef struct ShapeSql {
        int (*bind)(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *member); /* SQLite's result. NULL: never written */
        int (*load)(sqlite3_stmt *st, int column, const ShapeField *field, void *member);          /* errno */
} ShapeSql;

extern const ShapeSql field_given; /* uint64_t: the database chooses the value */

int field_bind(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *row); /* SQLite's result */
int field_bind_text(sqlite3_stmt *st, int parameter, const char *text);                    /* NULL: NULL */
int field_bind_blob(sqlite3_stmt *st, int parameter, const void *data, size_t size);
int field_load(sqlite3_stmt *st, int column, const ShapeField *field, void *row);          /* errno */
