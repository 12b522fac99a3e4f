#include "store/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"

/* The flags that select the columns of an inner object; 0: all columns. */
static unsigned table_within(const ShapeField *f, unsigned only) {
        return f->only ? f->only : f->flags & only ? 0 : only;
}

static bool table_is_column(const ShapeField *f, unsigned only) {
        return f->column && (only == 0 || f->flags & only);
}

/* ret NULL: only counts. */
static size_t table_flatten(const ShapeField *fields, size_t n, unsigned only, size_t base, TableColumn *ret, size_t used) {
        for (size_t i = 0; i < n; i++) {
                const ShapeField *f = fields + i;

                if (f->kind == SHAPE_OBJECT)
                        used = table_flatten(f->shape->fields, f->shape->n_fields, table_within(f, only), base + f->offset, ret, used);
                else if (table_is_column(f, only)) {
                        if (ret)
                                ret[used] = (TableColumn) { f, base };
                        used++;
                }
        }
        return used;
}

int table_layout(const StoreTable *t, TableLayout *ret) {
        size_t n = table_flatten(t->fields, t->n_fields, /* only= */ 0, /* base= */ 0, /* ret= */ NULL, /* used= */ 0);

        *ret = (TableLayout) { t, calloc(n, sizeof(TableColumn)), n };
        if (!ret->columns)
                return -ENOMEM;
        (void) table_flatten(t->fields, t->n_fields, 0, 0, ret->columns, 0);
        return 0;
}

void table_layout_done(TableLayout *l) {
        free(l->columns);
        *l = (TableLayout) { 0 };
}

/* Whether an operation has a parameter for a column. */
static bool table_has_parameter(const TableLayout *l, TableOp op, size_t column) {
        const ShapeSql *sql = l->columns[column].field->sql;

        if (op == TABLE_DELETE || op == TABLE_UPDATE)
                if (column < l->table->n_keys)
                        return true;
        return op != TABLE_DELETE && (op != TABLE_UPDATE || column >= l->table->n_fixed) && (!sql || sql->bind);
}

int table_bind(const TableLayout *l, TableOp op, sqlite3_stmt *st, const void *row) {
        int rc = SQLITE_OK;

        for (size_t i = 0; rc == SQLITE_OK && i < l->n; i++)
                if (table_has_parameter(l, op, i))
                        rc = field_bind(st, (int) i + 1, l->columns[i].field, (const char *) row + l->columns[i].base);
        return rc;
}

int table_load(const TableLayout *l, sqlite3_stmt *st, int first, void *row) {
        for (size_t i = 0; i < l->n; i++) {
                int r = field_load(st, first + (int) i, l->columns[i].field, (char *) row + l->columns[i].base);

                if (r < 0) {
                        log_debug("store: cannot load '%s' of table '%s': %s", l->columns[i].field->column, l->table->name, strerror(-r));
                        return r;
                }
        }
        return 0;
}

static void table_done_fields(const ShapeField *fields, size_t n, unsigned only, void *object) {
        for (size_t i = 0; i < n; i++) {
                const ShapeField *f = fields + i;

                if (f->kind == SHAPE_OBJECT)
                        table_done_fields(f->shape->fields, f->shape->n_fields, table_within(f, only), shape_at(f, object));
                else if (shape_owns(f) && table_is_column(f, only))
                        shape_done(&(const Shape) { .fields = f, .n_fields = 1 }, object);
        }
}

void store_row_done(const StoreTable *t, void *row) {
        for (; t; t = t->state)
                table_done_fields(t->fields, t->n_fields, /* only= */ 0, row);
}

/* Names of tables and columns are literals of cove: nothing has to be quoted. */

static const char *column_name(const TableLayout *l, size_t i) {
        return l->columns[i].field->column;
}

static void print_key(FILE *f, const TableLayout *l) {
        for (size_t i = 0; i < l->table->n_keys; i++)
                fprintf(f, "%s%s = ?%zu", i > 0 ? " AND " : " WHERE ", column_name(l, i), i + 1);
}

static void print_insert(FILE *f, const TableLayout *l) {
        const char *comma = "";

        fprintf(f, "INSERT INTO %s (", l->table->name);
        for (size_t i = 0; i < l->n; i++)
                if (table_has_parameter(l, TABLE_INSERT, i)) {
                        fprintf(f, "%s%s", comma, column_name(l, i));
                        comma = ", ";
                }
        comma = ") VALUES (";
        for (size_t i = 0; i < l->n; i++)
                if (table_has_parameter(l, TABLE_INSERT, i)) {
                        fprintf(f, "%s?%zu", comma, i + 1);
                        comma = ", ";
                }
        fputs(")", f);
}

static size_t table_n_fixed(const StoreTable *t) {
        return t->n_fixed > 0 ? t->n_fixed : t->n_keys;
}

static void print_conflict(FILE *f, const TableLayout *l) {
        const StoreTable *t = l->table;

        fputs(" ON CONFLICT ", f);
        if (t->conflict) {
                fputs(t->conflict, f);
                return;
        }
        for (size_t i = 0; i < t->n_keys; i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "(", column_name(l, i));
        for (size_t i = table_n_fixed(t); i < l->n; i++)
                fprintf(f, "%s%s = excluded.%s", i > table_n_fixed(t) ? ", " : ") DO UPDATE SET ", column_name(l, i), column_name(l, i));
}

static void print_update(FILE *f, const TableLayout *l) {
        const char *comma = "";

        fprintf(f, "UPDATE %s SET ", l->table->name);
        for (size_t i = table_n_fixed(l->table); i < l->n; i++)
                if (table_has_parameter(l, TABLE_UPDATE, i)) {
                        fprintf(f, "%s%s = ?%zu", comma, column_name(l, i), i + 1);
                        comma = ", ";
                }
        print_key(f, l);
}

char *table_sql(const TableLayout *l, TableOp op) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        if (op == TABLE_UPDATE)
                print_update(f, l);
        else if (op == TABLE_DELETE) {
                fprintf(f, "DELETE FROM %s", l->table->name);
                print_key(f, l);
        } else
                print_insert(f, l);
        if (op == TABLE_PUT)
                print_conflict(f, l);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

static void print_columns(FILE *f, const TableLayout *l, const char *before) {
        for (size_t i = 0; i < l->n; i++)
                fprintf(f, "%s%s.%s", i > 0 ? ", " : before, l->table->name, column_name(l, i));
}

/* LEFT: a row whose other half is missing fails to load, instead of being left out. */
static void print_join(FILE *f, const TableLayout *l, const TableLayout *state) {
        const char *name = l->table->name, *other = state->table->name;

        fprintf(f, " LEFT JOIN %s", other);
        for (size_t i = 0; i < state->table->n_keys; i++)
                fprintf(f, " %s %s.%s = %s.%s", i > 0 ? "AND" : "ON", other, column_name(state, i), name, column_name(l, i));
}

char *table_query_sql(const TableLayout *l, const TableLayout *state, const char *query) {
        char *text = NULL;
        size_t size;
        FILE *f;

        if (strncmp(query, "WHERE ", 6) != 0 && strncmp(query, "ORDER ", 6) != 0)
                return strdup(query);
        f = open_memstream(&text, &size);
        if (!f)
                return NULL;
        print_columns(f, l, "SELECT ");
        if (state)
                print_columns(f, state, ", ");
        fprintf(f, " FROM %s", l->table->name);
        if (state)
                print_join(f, l, state);
        fprintf(f, " %s", query);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}
