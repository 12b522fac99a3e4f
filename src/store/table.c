#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/field.h"

int table_bind(const FieldTable *t, sqlite3_stmt *st, size_t n, const void *row) {
        for (size_t i = 0; i < n; i++) {
                const StoreField *f = &t->fields[i];
                int rc = f->kind->bind(st, (int) i + 1, f, (const char *) row + f->offset);

                if (rc != SQLITE_OK)
                        return rc;
        }
        return SQLITE_OK;
}

int table_load(const FieldTable *t, sqlite3_stmt *st, int first, void *row) {
        for (size_t i = 0; i < t->n_fields; i++) {
                const StoreField *f = &t->fields[i];
                int r = f->kind->load(st, first + (int) i, f, (char *) row + f->offset);

                if (r < 0)
                        return r;
        }
        return 0;
}

void table_done(const FieldTable *t, void *row) {
        for (size_t i = 0; i < t->n_fields; i++)
                if (t->fields[i].kind->done)
                        t->fields[i].kind->done((char *) row + t->fields[i].offset);
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
        StoreTableText text;
        FILE *f = text_begin(&text);

        if (!f)
                return NULL;
        fprintf(f, "INSERT INTO %s (", t->name);
        for (size_t i = 0; i < t->n_fields; i++)
                fprintf(f, "%s%s", i > 0 ? ", " : "", t->fields[i].column);
        fprintf(f, ") VALUES (");
        for (size_t i = 0; i < t->n_fields; i++)
                fprintf(f, "%s?%zu", i > 0 ? ", " : "", i + 1);
        fprintf(f, ") %s", tail ? tail : "");
        return text_end(&text);
}

static void store_table_print_key(FILE *f, const FieldTable *t) {
        for (size_t i = 0; i < t->n_keys; i++)
                fprintf(f, "%s%s = ?%zu", i > 0 ? " AND " : " WHERE ", t->fields[i].column, i + 1);
}

char *table_update_sql(const FieldTable *t) {
        StoreTableText text;
        FILE *f = text_begin(&text);

        if (!f)
                return NULL;
        fprintf(f, "UPDATE %s SET ", t->name);
        for (size_t i = t->n_keys; i < t->n_fields; i++)
                fprintf(f, "%s%s = ?%zu", i > t->n_keys ? ", " : "", t->fields[i].column, i + 1);
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
        for (size_t i = 0; i < t->n_fields; i++)
                fprintf(f, "%s%s.%s", first && i == 0 ? "" : ", ", t->name, t->fields[i].column);
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
