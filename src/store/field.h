/* field.h: a member of a struct as a column of a table.
 *
 * A Table lists the columns of one table and where in a struct each has its value; from it come the SQL to insert and
 * update, the binding of parameters and the loading of rows. A member that shall be kept is one line in tables.c and a
 * migration.
 * Must not know: which tables there are. Includes sqlite3.h: for files of this folder only. */
#pragma once

#include <sqlite3.h>
#include <stddef.h>

typedef struct StoreField StoreField;

typedef struct FieldKind {
        int (*bind)(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member); /* SQLite's result */
        int (*load)(sqlite3_stmt *st, int column, const StoreField *field, void *member);          /* errno */
        void (*done)(void *member); /* frees what load made; NULL: nothing */
} FieldKind;

extern const FieldKind field_text;     /* char *, owned; NULL is NULL */
extern const FieldKind field_borrowed; /* const char *; loaded, it is SQLite's and good until the next row */
extern const FieldKind field_chars;    /* char[size]; "" is NULL */
extern const FieldKind field_bytes;    /* uint8_t[size] */
extern const FieldKind field_strv;     /* Strv: every string with the NUL that ends it, one after the other */
extern const FieldKind field_bool;
extern const FieldKind field_int;
extern const FieldKind field_uint8;
extern const FieldKind field_uint16;
extern const FieldKind field_uint32;
extern const FieldKind field_uint64; /* also usec_t; what is beyond INT64_MAX is negative in SQL */
extern const FieldKind field_double; /* NAN is NULL */
extern const FieldKind field_named;  /* an enum that fits an int, as its name */
extern const FieldKind field_volumes; /* SandboxSpec: of each its name, tree, target and "rw" or "ro", as a list of strings */
extern const FieldKind field_owner;  /* Sandbox *: the sandbox's id; not loaded */

typedef struct FieldNames {
        const char *(*name)(int value);
        int (*value)(const char *name); /* -EINVAL: none has it */
} FieldNames;

struct StoreField {
        const char *column;
        const FieldKind *kind;
        size_t offset, size;
        const FieldNames *names; /* field_named */
        size_t ceiling;          /* field_strv: how many strings may be there, later on */
};

#define FIELD(name, of, type, member, ...)                                                                              \
        { .column = (name), .kind = &field_##of, .offset = offsetof(type, member), .size = sizeof(((type *) 0)->member), \
          ##__VA_ARGS__ }

typedef struct FieldTable {
        const char *name;
        const StoreField *fields;
        size_t n_fields;
        size_t n_keys; /* the first ones tell which row */
} FieldTable;

/* Parameters ?1 … ?n are the first n fields. */
int table_bind(const FieldTable *t, sqlite3_stmt *st, size_t n, const void *row);

/* From the columns first, first + 1, …; -EBADMSG: what is there was not written by us. What was loaded before the failure
 * has to be freed as well. */
int table_load(const FieldTable *t, sqlite3_stmt *st, int first, void *row);
void table_done(const FieldTable *t, void *row);

/* SQL; the caller frees. NULL: no memory. */
char *table_insert_sql(const FieldTable *t, const char *tail);
char *table_update_sql(const FieldTable *t);
char *table_delete_sql(const FieldTable *t);
char *table_select_sql(const FieldTable *t, const FieldTable *joined /* by its key; may be NULL */, const char *tail);

/* How tables are written down. The names of an enum are what it has PREFIX_name() and PREFIX_from_name() for. */
#define NAMES(prefix, type)                                                    \
        static const char *prefix##_text(int value) {                          \
                return prefix##_name((type) value);                            \
        }                                                                      \
        static int prefix##_value(const char *name) {                          \
                return (int) prefix##_from_name(name);                         \
        }                                                                      \
        static const FieldNames prefix##_names = { prefix##_text, prefix##_value }

#define TABLE(symbol, table_name, keys)                                                                    \
        const FieldTable symbol = { (table_name), symbol##_fields, ELEMENTSOF(symbol##_fields), (keys) }
