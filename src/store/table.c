#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/field-internal.h"
#include "store/field.h"

#define COLUMNS_MAX 64

/* A column, found through the objects within. */
typedef struct TableColumn {
        const ShapeField *field;
        size_t base; /* what the field's offset is counted from */
} TableColumn;

static size_t table_flatten(const ShapeField *fields, size_t n, unsigned only, size_t base, TableColumn *ret, size_t used) {
        for (size_t i = 0; i < n; i++) {
                const ShapeField *f = fields + i;

                if (f->kind == SHAPE_OBJECT)
                        used = table_flatten(f->shape->fields, f->shape->n_fields, f->only ? f->only : f->flags & only ? 0 : only, base + f->offset, ret, used);
                else if (f->column && (only == 0 || f->flags & only) && used < COLUMNS_MAX)
                        ret[used++] = (TableColumn) { f, base };
        }
        return used;
}

static size_t table_list(const FieldTable *t, TableColumn ret[static COLUMNS_MAX]) {
        return table_flatten(t->fields, t->n_fields, /* only= */ 0, /* base= */ 0, ret, /* used= */ 0);
}

size_t table_columns(const FieldTable *t) {
        TableColumn columns[COLUMNS_MAX];

        return table_list(t, columns);
}

int table_bind(const FieldTable *t, sqlite3_stmt *st, size_t n, const void *row) {
        TableColumn columns[COLUMNS_MAX];

        (void) table_list(t, columns);
        for (size_t i = 0; i < n; i++) {
                int rc = field_bind(st, (int) i + 1, columns[i].field, (const char *) row + columns[i].base);

                if (rc != SQLITE_OK)
                        return rc;
        }
        return SQLITE_OK;
}

int table_load(const FieldTable *t, sqlite3_stmt *st, int first, void *row) {
        TableColumn columns[COLUMNS_MAX];
        size_t n = table_list(t, columns);

        for (size_t i = 0; i < n; i++) {
                int r = field_load(st, first + (int) i, columns[i].field, (char *) row + columns[i].base);

                if (r < 0)
                        return r;
        }
        return 0;
}

void table_done(const FieldTable *t, void *row) {
        TableColumn columns[COLUMNS_MAX];
        size_t n = table_list(t, columns);

        for (size_t i = 0; i < n; i++)
                if (shape_owns(columns[i].field))
                        shape_done(&(const Shape) { .fields = columns[i].field, .n_fields = 1 }, (char *) row + columns[i].base);
}

/* Names of tables and columns are our own literals: nothing has to be quoted. */

typedef struct StoreTableText {
        char *data;
        size_t size;
        FILE *file;
} StoreTableText;

static FILE *text_begin(StoreTableText *text) {
        *text = (StoreTableText) { 0 };
        text->file = open_memstream(&text->data, &text->size);
        return text->file;
}

static char *text_end(StoreTableText *text) {
        if (fclose(text->file) == 0)
                return text->data;
        free(text->data);
        return NULL;
}

char *table_insert_sql(const FieldTable *t, const char *tail) {
        TableColumn columns[COLUMNS_MAX];
        size_t n = table_list(t, columns);
        StoreTableText text;
        FILE *f = text_begin(&text);

        if (!f)
                return NULL;
        fprintf(f, "INSERT INTO %s (", t->name);
        for (size_t i = 0; i < n; i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "", columns[i].field->column);
        fprintf(f, ") VALUES (");
        for (size_t i = 0; i < n; i++)
                fprintf(f, "%s?%zu", i > 0 ? ", " : "", i + 1);
        fprintf(f, ") %s", tail ? tail : "");
        return text_end(&text);
}

static void store_table_print_key(FILE *f, const FieldTable *t) {
        for (size_t i = 0; i < t->n_keys; i++)
                fprintf(f, "%s%s = ?%zu", i > 0 ? " AND " : " WHERE ", t->fields[i].column, i + 1);
}

char *table_update_sql(const FieldTable *t) {
        TableColumn columns[COLUMNS_MAX];
        size_t n = table_list(t, columns);
        StoreTableText text;
        FILE *f = text_begin(&text);

        if (!f)
                return NULL;
        fprintf(f, "UPDATE %s SET ", t->name);
        for (size_t i = t->n_keys; i < n; i++)
                fprintf(f, "%s%s = ?%zu", i > t->n_keys ? ", " : "", columns[i].field->column, i + 1);
        store_table_print_key(f, t);
        return text_end(&text);
}

char *table_delete_sql(const FieldTable *t) {
        StoreTableText text;
        FILE *f = text_begin(&text);

        if (!f)
                return NULL;
        fprintf(f, "DELETE FROM %s", t->name);
        store_table_print_key(f, t);
        return text_end(&text);
}

static void print_columns(FILE *f, const FieldTable *t, bool first) {
        TableColumn columns[COLUMNS_MAX];
        size_t n = table_list(t, columns);

        for (size_t i = 0; i < n; i++)
                fprintf(f, "%s%s.%s", first && i == 0 ? "" : ", ", t->name, columns[i].field->column);
}

/* LEFT: a row whose other half is missing shall fail to load, not be left out. */
static void print_join(FILE *f, const FieldTable *t, const FieldTable *joined) {
        fprintf(f, " LEFT JOIN %s", joined->name);
        for (size_t i = 0; i < joined->n_keys; i++)
                fprintf(f, " %s %s.%s = %s.%s", i > 0 ? "AND" : "ON", joined->name, joined->fields[i].column, t->name,
                                t->fields[i].column);
}

char *table_select_sql(const FieldTable *t, const FieldTable *joined, const char *tail) {
        StoreTableText text;
        FILE *f = text_begin(&text);

        if (!f)
                return NULL;
        fprintf(f, "SELECT ");
        print_columns(f, t, true);
        if (joined)
                print_columns(f, joined, false);
        fprintf(f, " FROM %s", t->name);
        if (joined)
                print_join(f, t, joined);
        fprintf(f, " %s", tail ? tail : "");
        return text_end(&text);
}
