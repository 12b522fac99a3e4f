#include "store/field.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strv.h"

/* Text and bytes are bound without a copy: they are valid until after the step that follows. */

int field_bind_text(sqlite3_stmt *st, int parameter, const char *text) {
        return text ? sqlite3_bind_text(st, parameter, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, parameter);
}

/* An empty value is a blob too, and not NULL. */
int field_bind_blob(sqlite3_stmt *st, int parameter, const void *data, size_t size) {
        return size > 0 ? sqlite3_bind_blob64(st, parameter, data, size, SQLITE_STATIC) : sqlite3_bind_zeroblob(st, parameter, 0);
}

/* NULL for an SQL NULL. */
static int field_text(sqlite3_stmt *st, int column, const char **ret) {
        int type = sqlite3_column_type(st, column);
        const char *text = NULL;

        if (type == SQLITE_TEXT) {
                text = (const char *) sqlite3_column_text(st, column);
                if (!text)
                        return -ENOMEM;
                if (strlen(text) != (size_t) sqlite3_column_bytes(st, column))
                        return -EBADMSG;
        } else if (type != SQLITE_NULL)
                return -EBADMSG;
        *ret = text;
        return 0;
}

static int field_load_text(sqlite3_stmt *st, int column, char **member) {
        const char *text;
        int r = field_text(st, column, &text);

        return r < 0 ? r : shape_text_set(member, text);
}

static int field_load_chars(sqlite3_stmt *st, int column, const ShapeField *field, char *member) {
        const char *text;
        int r = field_text(st, column, &text);

        if (r < 0)
                return r;
        if (!text)
                text = "";
        if (strlen(text) >= field->size)
                return -EBADMSG;
        (void) strcpy(member, text);
        return 0;
}

static int field_load_bytes(sqlite3_stmt *st, int column, const ShapeField *field, void *member) {
        const void *data = sqlite3_column_type(st, column) == SQLITE_BLOB ? sqlite3_column_blob(st, column) : NULL;

        if (!data || (size_t) sqlite3_column_bytes(st, column) != field->size)
                return -EBADMSG;
        memcpy(member, data, field->size);
        return 0;
}

static size_t *field_count(const ShapeField *field, const void *row) {
        return (size_t *) (void *) ((char *) (uintptr_t) row + field->count);
}

/* Returns SQLite's own bytes, which are valid until the next row. */
static int field_load_view(sqlite3_stmt *st, int column, const ShapeField *field, void *row) {
        if (sqlite3_column_type(st, column) != SQLITE_BLOB)
                return -EBADMSG;
        *(const void **) shape_at(field, row) = sqlite3_column_blob(st, column);
        *field_count(field, row) = (size_t) sqlite3_column_bytes(st, column);
        return 0;
}

static int field_bind_strv(sqlite3_stmt *st, int parameter, const Strv *v) {
        size_t size = 0;
        char *data, *p;

        for (size_t i = 0; i < v->n; i++)
                size += strlen(v->items[i]) + 1;
        if (size == 0)
                return sqlite3_bind_zeroblob(st, parameter, 0);
        p = data = malloc(size);
        if (!data)
                return SQLITE_NOMEM;
        for (size_t i = 0; i < v->n; i++)
                p = stpcpy(p, v->items[i]) + 1;
        return sqlite3_bind_blob64(st, parameter, data, size, free); /* SQLite frees it, also on an error */
}

/* max: the room for strings that may be added later. */
static int field_load_strv(sqlite3_stmt *st, int column, size_t max, Strv *v) {
        const char *data, *end;

        if (sqlite3_column_type(st, column) != SQLITE_BLOB)
                return -EBADMSG;
        data = sqlite3_column_blob(st, column);
        end = data ? data + sqlite3_column_bytes(st, column) : NULL;
        v->max = SIZE_MAX;
        if (data && end[-1] != '\0')
                return -EBADMSG;
        for (const char *p = data; p < end; p += strlen(p) + 1) {
                int r = strv_push(v, p);
                if (r < 0)
                        return r;
        }
        v->max = MAX_OF(max, v->n);
        return 0;
}

/* A list of objects: a string for each of their members, which are texts or have names. */

static const char *field_word(const ShapeField *f, const void *item) {
        return f->kind == SHAPE_TEXT ? *(const char *const *) shape_at(f, item) : shape_name(f->names, (int) shape_get(f, item));
}

static int field_bind_list(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *row) {
        const Shape *of = field->shape;
        size_t n = *field_count(field, row);
        const char *items = *(const char *const *) shape_at(field, row);
        _cleanup_free_ char **words = calloc(n * of->n_fields + 1, sizeof(*words));
        Strv list = { .items = words, .n = n * of->n_fields };

        if (!words)
                return SQLITE_NOMEM;
        for (size_t i = 0; i < list.n; i++)
                words[i] = (char *) (uintptr_t) field_word(of->fields + i % of->n_fields, items + i / of->n_fields * of->size);
        return field_bind_strv(st, parameter, &list);
}

static int field_take_word(const ShapeField *f, void *item, const char *word) {
        if (f->kind == SHAPE_TEXT)
                return shape_text_set(shape_at(f, item), word);
        return shape_set(f, item, shape_value(f->names, word)) < 0 ? -EBADMSG : 0;
}

static int field_load_list(sqlite3_stmt *st, int column, const ShapeField *field, void *row) {
        _cleanup_(strv_done) Strv list = { 0 };
        const Shape *of = field->shape;
        int r = field_load_strv(st, column, /* max= */ 0, &list);
        char *items;

        if (r < 0 || list.n == 0)
                return r;
        if (list.n % of->n_fields != 0 || list.n / of->n_fields > (size_t) field->max)
                return -EBADMSG;
        items = calloc(list.n / of->n_fields, of->size);
        if (!items)
                return -ENOMEM;
        *(char **) shape_at(field, row) = items;
        *field_count(field, row) = list.n / of->n_fields; /* complete or not, it is freed with the object */
        for (size_t i = 0; r >= 0 && i < list.n; i++)
                r = field_take_word(of->fields + i % of->n_fields, items + i / of->n_fields * of->size, list.items[i]);
        return r;
}

static int field_load_number(sqlite3_stmt *st, int column, const ShapeField *field, void *row) {
        if (sqlite3_column_type(st, column) != SQLITE_INTEGER)
                return -EBADMSG;
        return shape_set(field, row, sqlite3_column_int64(st, column)) < 0 ? -EBADMSG : 0;
}

static int field_load_double(sqlite3_stmt *st, int column, double *member) {
        int type = sqlite3_column_type(st, column);

        if (type != SQLITE_FLOAT && type != SQLITE_NULL)
                return -EBADMSG;
        *member = type == SQLITE_NULL ? NAN : sqlite3_column_double(st, column);
        return 0;
}

static int field_load_name(sqlite3_stmt *st, int column, const ShapeField *field, void *row) {
        const char *text;
        int value, r = field_text(st, column, &text);

        if (r < 0)
                return r;
        value = shape_value(field->names, text);
        return value < 0 ? -EBADMSG : shape_set(field, row, value);
}

int field_bind(sqlite3_stmt *st, int parameter, const ShapeField *field, const void *row) {
        const void *at = shape_at(field, row);

        if (field->sql)
                return field->sql->bind(st, parameter, field, at);
        switch (field->kind) {
        case SHAPE_TEXT:
        case SHAPE_JSON:
        case SHAPE_BORROWED: return field_bind_text(st, parameter, *(const char *const *) at);
        case SHAPE_CHARS: return field_bind_text(st, parameter, *(const char *) at ? at : NULL);
        case SHAPE_BYTES: return sqlite3_bind_blob64(st, parameter, at, field->size, SQLITE_STATIC);
        case SHAPE_STRV:
        case SHAPE_ENV: return field_bind_strv(st, parameter, at);
        case SHAPE_DOUBLE: return sqlite3_bind_double(st, parameter, *(const double *) at); /* SQLite makes NULL of NAN */
        case SHAPE_VIEW: return field_bind_blob(st, parameter, *(const void *const *) at, *field_count(field, row));
        case SHAPE_LIST: return field_bind_list(st, parameter, field, row);
        case SHAPE_ENUM: return field_bind_text(st, parameter, shape_name(field->names, *(const int *) at));
        default: return shape_is_number(field) ? sqlite3_bind_int64(st, parameter, shape_get(field, row)) : SQLITE_MISUSE;
        }
}

int field_load(sqlite3_stmt *st, int column, const ShapeField *field, void *row) {
        void *at = shape_at(field, row);

        if (field->sql)
                return field->sql->load(st, column, field, at);
        switch (field->kind) {
        case SHAPE_TEXT:
        case SHAPE_JSON: return field_load_text(st, column, at);
        case SHAPE_BORROWED: return field_text(st, column, at); /* SQLite's own bytes, valid until the next row */
        case SHAPE_CHARS: return field_load_chars(st, column, field, at);
        case SHAPE_BYTES: return field_load_bytes(st, column, field, at);
        case SHAPE_STRV:
        case SHAPE_ENV: return field_load_strv(st, column, (size_t) field->max, at);
        case SHAPE_DOUBLE: return field_load_double(st, column, at);
        case SHAPE_VIEW: return field_load_view(st, column, field, row);
        case SHAPE_LIST: return field_load_list(st, column, field, row);
        case SHAPE_ENUM: return field_load_name(st, column, field, row);
        default: return field_load_number(st, column, field, row);
        }
}

static int field_given_load(sqlite3_stmt *st, int column, const ShapeField *field, void *member) {
        if (sqlite3_column_type(st, column) != SQLITE_INTEGER)
                return -EBADMSG;
        *(uint64_t *) member = (uint64_t) sqlite3_column_int64(st, column);
        return 0;
}

const ShapeSql field_given = { .load = field_given_load };
