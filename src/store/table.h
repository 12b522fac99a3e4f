/* table.h: the description of a table: its columns, its key, and its own queries.
 *
 * The SQL to insert, update, delete and select, the binding of parameters and the loading of rows are generated from
 * the columns. To keep another member of an object, add one line to its table and a migration.
 * Must not know: which tables there are. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/store.h"
#include "store/field.h"

/* Short names of the kinds, for FIELD(). */
#define FIELD_KIND_text     SHAPE_TEXT
#define FIELD_KIND_borrowed SHAPE_BORROWED /* a loaded value is SQLite's, valid until the next row; likewise a view */
#define FIELD_KIND_chars    SHAPE_CHARS
#define FIELD_KIND_bytes    SHAPE_BYTES
#define FIELD_KIND_view     SHAPE_VIEW
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
/* The columns of an embedded object, as its own room describes them. */
#define FIELDS(of, type, member, ...) { .kind = SHAPE_OBJECT, .shape = &(of), SHAPE_AT(type, member), ##__VA_ARGS__ }
/* A number that the database chooses. */
#define FIELD_GIVEN(name, type, member) FIELD(name, custom, type, member, .sql = &field_given)

/* The operations of store_insert(), store_put(), …; a table has statements only for those that are used. */
typedef enum TableOp {
        TABLE_INSERT,
        TABLE_PUT,
        TABLE_UPDATE,
        TABLE_DELETE,
        _TABLE_OP_MAX,
} TableOp;
#define INSERTS (1U << TABLE_INSERT)
#define PUTS    (1U << TABLE_PUT)
#define UPDATES (1U << TABLE_UPDATE)
#define DELETES (1U << TABLE_DELETE)

struct StoreTable {
        unsigned number; /* TABLE_SYMBOL, see tables.h */
        const char *name;
        const ShapeField *fields;
        size_t n_fields;
        size_t size;    /* of the struct */
        size_t n_keys;  /* this many first columns are the key */
        size_t n_fixed; /* this many first columns are written once: neither update nor put changes them. 0: the keys */
        unsigned does;
        const char *conflict;     /* what a put does with an existing row; NULL: changes its columns */
        const StoreTable *state;  /* the other half of the object, which changes during its life; it has the same key */
        const void *blank;        /* value of a row before it is loaded; NULL: zeroes */
        const char *const *queries; /* one that begins with WHERE or ORDER selects the columns, and those of the state. The first is store_each()'s */
        size_t n_queries;
        bool waits; /* a change may be written at the end of the turn of the loop, see store_set_turn() */
        bool grows; /* a row begins new work: it is not inserted on a full disk, see store_set_room() */
};

#define TABLE(symbol, type, table_name, keys, ops, ...)                                                           \
        const StoreTable symbol = { TABLE_##symbol, (table_name), symbol##_fields, ELEMENTSOF(symbol##_fields),   \
                                    sizeof(type), (keys), .does = (ops), ##__VA_ARGS__ }
#define QUERIES(list)   .queries = (list), .n_queries = ELEMENTSOF(list)
#define IN_ORDER(words) .queries = (const char *const[]) { "ORDER BY " words }, .n_queries = 1

/* The columns, those of embedded objects included. */
typedef struct TableColumn {
        const ShapeField *field;
        size_t base; /* the field's offset counts from here */
} TableColumn;

typedef struct TableLayout {
        const StoreTable *table;
        TableColumn *columns;
        size_t n;
} TableLayout;

int table_layout(const StoreTable *t, TableLayout *ret);
void table_layout_done(TableLayout *l);

/* Parameters ?1 … ?n are the columns; binds those that the operation needs. Returns SQLite's result. */
int table_bind(const TableLayout *l, TableOp op, sqlite3_stmt *st, const void *row);

/* Loads from the columns first, first + 1, …. -EBADMSG: a value that the store did not write. The caller frees the row
 * also after a failure. */
int table_load(const TableLayout *l, sqlite3_stmt *st, int first, void *row);

/* SQL; the caller frees it. NULL: out of memory. */
char *table_sql(const TableLayout *l, TableOp op);
char *table_query_sql(const TableLayout *l, const TableLayout *state, const char *query);
