/* field.h: rows, by base/shape.h.
 *
 * A FieldTable lists the columns of one table and where in a struct each has its value; from it come the SQL to insert and
 * update, the binding of parameters and the loading of rows. A member that shall be kept is one line in tables.c and a
 * migration.
 * Must not know: which tables there are. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

#include "base/shape.h"

/* What a column does that its kind cannot say. */
typedef struct ShapeSql {
        int (*bind)(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *member); /* SQLite's result */
        int (*load)(sqlite3_stmt *st, int column, const ShapeField *field, void *member);          /* errno */
} ShapeSql;

extern const ShapeSql field_owner; /* Sandbox *: the sandbox's id; not loaded */

/* The kinds by the words that tables use. Text that is empty, in an array, is NULL; a Strv is every string with its NUL, one after the
 * other, and so are the members of a list of objects; a uint64 beyond INT64_MAX is negative; NAN is NULL; an enum is its name. */
#define FIELD_KIND_text     SHAPE_TEXT
#define FIELD_KIND_borrowed SHAPE_BORROWED /* loaded, it is SQLite's and good until the next row */
#define FIELD_KIND_chars    SHAPE_CHARS
#define FIELD_KIND_bytes    SHAPE_BYTES
#define FIELD_KIND_strv     SHAPE_STRV
#define FIELD_KIND_bool     SHAPE_BOOL
#define FIELD_KIND_int      SHAPE_INT
#define FIELD_KIND_uint8    SHAPE_UINT8
#define FIELD_KIND_uint16   SHAPE_UINT16
#define FIELD_KIND_uint32   SHAPE_UINT32
#define FIELD_KIND_uint64   SHAPE_UINT64
#define FIELD_KIND_double   SHAPE_DOUBLE
#define FIELD_KIND_named    SHAPE_ENUM
#define FIELD_KIND_custom   SHAPE_CUSTOM

#define FIELD(name, of, type, member, ...) { .column = (name), .kind = FIELD_KIND_##of, SHAPE_AT(type, member), ##__VA_ARGS__ }
/* The columns of an object within, as its own room describes them. */
#define FIELDS(of, type, member, ...) { .kind = SHAPE_OBJECT, .shape = &(of), SHAPE_AT(type, member), ##__VA_ARGS__ }

typedef struct FieldTable {
        const char *name;
        const ShapeField *fields;
        size_t n_fields;
        size_t n_keys; /* the first ones tell which row */
} FieldTable;

size_t table_columns(const FieldTable *t);

/* Parameters ?1 … ?n are the first n columns. */
int table_bind(const FieldTable *t, sqlite3_stmt *st, size_t n, const void *row);

/* From the columns first, first + 1, …; -EBADMSG: what is there was not written by us. What was loaded before the failure
 * has to be freed as well. */
int table_load(const FieldTable *t, sqlite3_stmt *st, int first, void *row);
void table_done(const FieldTable *t, void *row); /* frees texts and lists; the rest stays */

/* SQL; the caller frees. NULL: no memory. */
char *table_insert_sql(const FieldTable *t, const char *tail);
char *table_update_sql(const FieldTable *t);
char *table_delete_sql(const FieldTable *t);
char *table_select_sql(const FieldTable *t, const FieldTable *joined /* by its key; may be NULL */, const char *tail);

/* How tables are written down. */
#define NAMES(prefix, type) SHAPE_NAMES(static, prefix, type, 0)

#define TABLE(symbol, table_name, keys)                                                                    \
        const FieldTable symbol = { (table_name), symbol##_fields, ELEMENTSOF(symbol##_fields), (keys) }
