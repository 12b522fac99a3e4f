/* field.h: one column, by base/shape.h.
 *
 * Text that is empty, in an array, is NULL; a Strv is every string with its NUL, one after the other, and so are the members of a list of
 * objects; a uint64 beyond INT64_MAX is negative; NAN is NULL; an enum is its name. What was not written by us is refused with -EBADMSG: a
 * value of another type, a number that does not fit, a name that is none, a text or a list that is too long.
 * Must not know: which tables there are. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "base/shape.h"

/* What a column does that its kind cannot say. */
typedef struct ShapeSql {
        int (*bind)(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *member); /* SQLite's result. NULL: never written */
        int (*load)(sqlite3_stmt *st, int column, const ShapeField *field, void *member);          /* errno */
} ShapeSql;

extern const ShapeSql field_given; /* uint64_t: the database gives it */

int field_bind(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *row); /* SQLite's result */
int field_bind_text(sqlite3_stmt *st, int parameter, const char *text);                    /* NULL: NULL */
int field_bind_blob(sqlite3_stmt *st, int parameter, const void *data, size_t size);
int field_load(sqlite3_stmt *st, int column, const ShapeField *field, void *row);          /* errno */
