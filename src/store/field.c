#include "store/field.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/strv.h"
#include "core/sandbox.h"

/* Text and bytes are bound without a copy: they outlive the step that follows. */

static int field_bind_text(sqlite3_stmt *st, int parameter, const char *text) {
        return text ? sqlite3_bind_text(st, parameter, text, -1, SQLITE_STATIC) : sqlite3_bind_null(st, parameter);
}

static int text_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        return field_bind_text(st, parameter, *(const char *const *) member);
}

static int text_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        const char *text = (const char *) sqlite3_column_text(st, column);
        char *copy;

        if (!text)
                return sqlite3_column_type(st, column) == SQLITE_NULL ? 0 : -ENOMEM;
        copy = strdup(text);
        if (!copy)
                return -ENOMEM;
        *(char **) member = copy;
        return 0;
}

static void field_text_done(void *member) {
        char **text = member;

        free(*text);
        *text = NULL;
}

const FieldKind field_text = { text_bind, text_load, field_text_done };

static int borrowed_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        *(const char **) member = (const char *) sqlite3_column_text(st, column);
        return 0;
}

const FieldKind field_borrowed = { text_bind, borrowed_load, NULL };

static int chars_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        const char *text = member;

        return field_bind_text(st, parameter, *text ? text : NULL);
}

static int chars_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        const char *text = (const char *) sqlite3_column_text(st, column);
        size_t n = text ? strlen(text) : 0;

        if (n >= field->size)
                return -EBADMSG;
        if (n > 0)
                memcpy(member, text, n);
        ((char *) member)[n] = '\0';
        return 0;
}

const FieldKind field_chars = { chars_bind, chars_load, NULL };

static int bytes_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        return sqlite3_bind_blob64(st, parameter, member, field->size, SQLITE_STATIC);
}

static int bytes_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        const void *data = sqlite3_column_blob(st, column);

        if (!data || (size_t) sqlite3_column_bytes(st, column) != field->size)
                return -EBADMSG;
        memcpy(member, data, field->size);
        return 0;
}

const FieldKind field_bytes = { bytes_bind, bytes_load, NULL };

static int strv_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        const Strv *v = member;
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
        return sqlite3_bind_blob64(st, parameter, data, size, free); /* freed in every case */
}

static int strv_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        const char *data = sqlite3_column_blob(st, column);
        const char *end = data ? data + sqlite3_column_bytes(st, column) : NULL;
        Strv *v = member;

        v->max = SIZE_MAX;
        if (data && end[-1] != '\0')
                return -EBADMSG;
        for (const char *p = data; p < end; p += strlen(p) + 1) {
                int r = strv_push(v, p);
                if (r < 0)
                        return r;
        }
        v->max = MAX_OF(field->ceiling, v->n);
        return 0;
}

static void strv_member_done(void *member) {
        strv_done(member);
}

const FieldKind field_strv = { strv_bind, strv_load, strv_member_done };

/* Volumes: four strings each. */

#define VOLUME_WORDS 4

static int volumes_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        const SandboxSpec *spec = member;
        char *words[SANDBOX_VOLUMES_MAX * VOLUME_WORDS + 1] = { 0 };
        Strv list = { .items = words, .n = spec->n_volumes * VOLUME_WORDS };

        for (size_t i = 0; i < spec->n_volumes; i++) {
                const SandboxVolume *v = spec->volumes + i;
                char *four[VOLUME_WORDS] = { v->name, v->tree, v->target, (char *) (uintptr_t) (v->writable ? "rw" : "ro") };

                memcpy(words + i * VOLUME_WORDS, four, sizeof(four));
        }
        return strv_bind(st, parameter, field, &list);
}

static int field_volumes_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        Strv list = { 0 };
        int r = strv_load(st, column, field, &list);

        if (r >= 0 && list.n % VOLUME_WORDS != 0)
                r = -EBADMSG;
        for (size_t i = 0; r >= 0 && i < list.n; i += VOLUME_WORDS)
                r = sandbox_spec_add_volume(member, list.items[i], list.items[i + 1], list.items[i + 2], strcmp(list.items[i + 3], "rw") == 0);
        strv_done(&list);
        return r;
}

static void volumes_member_done(void *member) {
        sandbox_volumes_done(member);
}

const FieldKind field_volumes = { volumes_bind, field_volumes_load, volumes_member_done };

#define INTEGER_KIND(name, type)                                                                                   \
        static int name##_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) { \
                return sqlite3_bind_int64(st, parameter, (sqlite3_int64) *(const type *) member);                  \
        }                                                                                                          \
        static int name##_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {          \
                sqlite3_int64 value = sqlite3_column_int64(st, column);                                            \
                if ((sqlite3_int64) (type) value != value)                                                         \
                        return -EBADMSG;                                                                           \
                *(type *) member = (type) value;                                                                   \
                return 0;                                                                                          \
        }                                                                                                          \
        const FieldKind field_##name = { name##_bind, name##_load, NULL }

INTEGER_KIND(bool, bool);
INTEGER_KIND(int, int);
INTEGER_KIND(uint8, uint8_t);
INTEGER_KIND(uint16, uint16_t);
INTEGER_KIND(uint32, uint32_t);
INTEGER_KIND(uint64, uint64_t);

static int double_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        return sqlite3_bind_double(st, parameter, *(const double *) member); /* SQLite makes NULL of NAN */
}

static int double_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        *(double *) member = sqlite3_column_type(st, column) == SQLITE_NULL ? NAN : sqlite3_column_double(st, column);
        return 0;
}

const FieldKind field_double = { double_bind, double_load, NULL };

static int named_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        return field_bind_text(st, parameter, field->names->name(*(const int *) member));
}

static int named_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        int value = field->names->value((const char *) sqlite3_column_text(st, column));

        if (value < 0)
                return -EBADMSG;
        *(int *) member = value;
        return 0;
}

const FieldKind field_named = { named_bind, named_load, NULL };

static int owner_bind(sqlite3_stmt *st, int parameter, const StoreField *field, const void *member) {
        const Sandbox *owner = *(const Sandbox *const *) member;

        return field_bind_text(st, parameter, owner->id);
}

static int owner_load(sqlite3_stmt *st, int column, const StoreField *field, void *member) {
        return 0;
}

const FieldKind field_owner = { owner_bind, owner_load, NULL };
