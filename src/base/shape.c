#include "base/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strv.h"

static const double shape_scales[_SHAPE_UNIT_MAX] = {
        [SHAPE_PLAIN] = 1,
        [SHAPE_MEGABYTES] = 1 << 20,
        [SHAPE_SECONDS] = 1000000,
        [SHAPE_MILLISECONDS] = 1000,
        [SHAPE_SIZE] = 1,
        [SHAPE_CORES] = 1000,
        [SHAPE_TIME] = 1,
};

double shape_scale(ShapeUnit unit) {
        return shape_scales[unit];
}

const ShapeField *shape_find(const Shape *shape, const char *name) {
        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i, *within;

                if (f->name && strcmp(f->name, name) == 0)
                        return f;
                within = f->flags & SHAPE_BEARER ? shape_find(f->shape, name) : NULL;
                if (within)
                        return within;
        }
        return NULL;
}

const char *shape_name(const ShapeNames *names, int value) {
        return value >= 0 && value < names->max ? names->names[value] : NULL;
}

int shape_value(const ShapeNames *names, const char *name) {
        for (int i = 0; i < names->max; i++) {
                const char *known = names->names[i];

                if (name && known ? strcmp(known, name) == 0 : name == known)
                        return i;
        }
        return -EINVAL;
}

/* Numbers. */

bool shape_is_number(const ShapeField *f) {
        return f->kind >= SHAPE_BOOL && f->kind <= SHAPE_ENUM && f->kind != SHAPE_DOUBLE;
}

int64_t shape_get(const ShapeField *f, const void *object) {
        const void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_BOOL: /* a flag of a message may be a uint8_t, of any value */
        case SHAPE_UINT8: return *(const uint8_t *) at;
        case SHAPE_UINT16: return *(const uint16_t *) at;
        case SHAPE_UINT32: return *(const uint32_t *) at;
        case SHAPE_UINT64: return (int64_t) * (const uint64_t *) at;
        case SHAPE_INT64: return *(const int64_t *) at;
        case SHAPE_INT:
        case SHAPE_ENUM: return *(const int *) at;
        default: return 0;
        }
}

int shape_set(const ShapeField *f, void *object, int64_t value) {
        void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_BOOL: *(bool *) at = value == 1; return value == 0 || value == 1 ? 0 : -ERANGE;
        case SHAPE_UINT8: *(uint8_t *) at = (uint8_t) value; return (uint8_t) value == value ? 0 : -ERANGE;
        case SHAPE_UINT16: *(uint16_t *) at = (uint16_t) value; return (uint16_t) value == value ? 0 : -ERANGE;
        case SHAPE_UINT32: *(uint32_t *) at = (uint32_t) value; return (uint32_t) value == value ? 0 : -ERANGE;
        case SHAPE_UINT64: *(uint64_t *) at = (uint64_t) value; return 0;
        case SHAPE_INT64: *(int64_t *) at = value; return 0;
        case SHAPE_INT:
        case SHAPE_ENUM: *(int *) at = (int) value; return (int) value == value ? 0 : -ERANGE;
        default: return -EINVAL;
        }
}

bool shape_within(const ShapeField *f, double value) {
        bool any = f->min >= 0 && f->min <= 0 && f->max >= 0 && f->max <= 0;

        return any || (value >= f->min && (f->max <= 0 || value <= f->max));
}

/* What a caller has given. */

static uint64_t shape_bit(const Shape *shape, const ShapeField *field) {
        return UINT64_C(1) << (field - shape->fields);
}

static uint64_t *shape_bits(const Shape *shape, const void *object) {
        return shape->remembers ? (uint64_t *) (void *) ((char *) (uintptr_t) object + shape->said) : NULL;
}

void shape_said(const Shape *shape, void *object, const ShapeField *field) {
        uint64_t *bits = shape_bits(shape, object);

        if (bits)
                *bits |= shape_bit(shape, field);
}

bool shape_is_said(const Shape *shape, const void *object, const ShapeField *field) {
        const uint64_t *bits = shape_bits(shape, object);

        return bits && *bits & shape_bit(shape, field);
}

/* Copy, free, compare: member by member. */

static void *shape_item(const Shape *shape, const void *items, size_t i) {
        return (char *) (uintptr_t) items + i * shape->size;
}

static size_t *shape_count(const ShapeField *f, const void *object) {
        return (size_t *) (void *) ((char *) (uintptr_t) object + f->count);
}

static uint8_t *shape_small_count(const ShapeField *f, const void *object) {
        return (uint8_t *) ((char *) (uintptr_t) object + f->count);
}

static size_t shape_plain_size(const ShapeField *f) {
        switch (f->kind) {
        case SHAPE_BOOL: return sizeof(bool);
        case SHAPE_UINT8: return 1;
        case SHAPE_UINT16: return 2;
        case SHAPE_UINT32: return 4;
        case SHAPE_INT:
        case SHAPE_ENUM: return sizeof(int);
        case SHAPE_UINT64:
        case SHAPE_INT64: return 8;
        case SHAPE_DOUBLE: return sizeof(double);
        case SHAPE_BORROWED:
        case SHAPE_POINTER:
        case SHAPE_VIEW: return sizeof(void *);
        case SHAPE_CHARS:
        case SHAPE_BYTES: return f->size;
        default: return 0;
        }
}

static void shape_list_done(const ShapeField *f, void *object) {
        void **items = shape_at(f, object);
        size_t *n = shape_count(f, object);

        for (size_t i = 0; i < *n; i++)
                shape_done(f->shape, shape_item(f->shape, *items, i));
        free(*items);
        *items = NULL;
        *n = 0;
}

void shape_field_done(const ShapeField *f, void *object) {
        void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_CUSTOM: break;
        case SHAPE_TEXT:
        case SHAPE_JSON:
                free(*(char **) at);
                *(char **) at = NULL;
                break;
        case SHAPE_STRV:
        case SHAPE_ENV: strv_done(at); break;
        case SHAPE_OBJECT: shape_done(f->shape, at); break;
        case SHAPE_LIST: shape_list_done(f, object); break;
        case SHAPE_ARRAY:
                for (size_t i = 0; i < f->size / f->shape->size; i++)
                        shape_done(f->shape, shape_item(f->shape, at, i));
                *shape_small_count(f, object) = 0;
                break;
        default: memset(at, 0, shape_plain_size(f));
        }
}

void shape_done(const Shape *shape, void *object) {
        for (size_t i = 0; i < shape->n_fields; i++)
                if (!(shape->fields[i].flags & SHAPE_ALIAS))
                        shape_field_done(shape->fields + i, object);
}

void *shape_list_add(const ShapeField *f, void *object) {
        void **items = shape_at(f, object);
        size_t *n = shape_count(f, object);

        if (array_extend(items, *n, f->shape->size) < 0)
                return NULL;
        return memset(shape_item(f->shape, *items, (*n)++), 0, f->shape->size);
}

const ShapeField *shape_key(const Shape *shape) {
        for (size_t i = 0; i < shape->n_fields; i++)
                if (shape->fields[i].flags & SHAPE_KEY)
                        return shape->fields + i;
        return NULL;
}

bool shape_owns(const ShapeField *f) {
        return f->kind == SHAPE_TEXT || f->kind == SHAPE_JSON || f->kind == SHAPE_STRV || f->kind == SHAPE_ENV || f->kind == SHAPE_LIST;
}

int shape_text_set(char **at, const char *text) {
        char *copy = text ? strdup(text) : NULL;

        if (text && !copy)
                return -ENOMEM;
        free(*at);
        *at = copy;
        return 0;
}

static int shape_strv_copy(const Strv *from, Strv *to) {
        Strv copy = STRV_INIT(MAX_OF(from->max, from->n));
        int r = strv_extend(&copy, from);

        if (r < 0)
                strv_done(&copy);
        else
                *to = copy;
        return r;
}

static int shape_list_copy(const ShapeField *f, const void *from, void *to) {
        size_t n = *shape_count(f, from), *count = shape_count(f, to);
        const void *items = *(void *const *) shape_at(f, from);
        void **ret = shape_at(f, to);

        *count = 0;
        *ret = n > 0 ? calloc(n, f->shape->size) : NULL;
        if (n > 0 && !*ret)
                return -ENOMEM;
        for (; *count < n; ++*count) {
                int r = shape_copy(f->shape, shape_item(f->shape, items, *count), shape_item(f->shape, *ret, *count));

                if (r < 0)
                        return r;
        }
        return 0;
}

static int shape_array_copy(const ShapeField *f, const void *from, void *to) {
        uint8_t n = *shape_small_count(f, from);

        for (size_t i = 0; i < n; i++) {
                int r = shape_copy(f->shape, shape_item(f->shape, shape_at(f, from), i), shape_item(f->shape, shape_at(f, to), i));

                if (r < 0)
                        return r;
        }
        *shape_small_count(f, to) = n;
        return 0;
}

/* The target member must be zero. */
static int shape_member_copy(const ShapeField *f, const void *from, void *to) {
        const void *at = shape_at(f, from);
        void *ret = shape_at(f, to);

        switch (f->kind) {
        case SHAPE_CUSTOM: return 0;
        case SHAPE_TEXT:
        case SHAPE_JSON: return shape_text_set(ret, *(char *const *) at);
        case SHAPE_STRV:
        case SHAPE_ENV: return shape_strv_copy(at, ret);
        case SHAPE_OBJECT: return shape_copy(f->shape, at, ret);
        case SHAPE_LIST: return shape_list_copy(f, from, to);
        case SHAPE_ARRAY: return shape_array_copy(f, from, to);
        default:
                if (f->kind == SHAPE_VIEW)
                        *shape_count(f, to) = *shape_count(f, from);
                memcpy(ret, at, shape_plain_size(f));
                return 0;
        }
}

/* Makes a member zero without freeing what it points to. */
static void shape_member_blank(const ShapeField *f, void *object) {
        void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_CUSTOM: break;
        case SHAPE_TEXT:
        case SHAPE_JSON: *(char **) at = NULL; break;
        case SHAPE_STRV:
        case SHAPE_ENV: *(Strv *) at = (Strv) { 0 }; break;
        case SHAPE_LIST:
                *(void **) at = NULL;
                *shape_count(f, object) = 0;
                break;
        case SHAPE_ARRAY: memset(at, 0, f->size); break;
        case SHAPE_OBJECT:
                for (size_t i = 0; i < f->shape->n_fields; i++)
                        shape_member_blank(f->shape->fields + i, at);
                break;
        default: memset(at, 0, shape_plain_size(f));
        }
}

int shape_copy(const Shape *shape, const void *from, void *to) {
        for (size_t i = 0; i < shape->n_fields; i++)
                shape_member_blank(shape->fields + i, to);
        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;
                int r = f->flags & (SHAPE_ONCE | SHAPE_ALIAS) ? 0 : shape_member_copy(f, from, to);

                if (r < 0) {
                        shape_done(shape, to);
                        return r;
                }
        }
        return 0;
}

static bool shape_strv_equal(const Strv *a, const Strv *b) {
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (strcmp(a->items[i], b->items[i]) != 0)
                        return false;
        return true;
}

static bool shape_items_equal(const ShapeField *f, const void *a, size_t n_a, const void *b, size_t n_b) {
        if (n_a != n_b)
                return false;
        for (size_t i = 0; i < n_a; i++)
                if (!shape_equal(f->shape, shape_item(f->shape, a, i), shape_item(f->shape, b, i), /* flags= */ 0))
                        return false;
        return true;
}

static bool shape_text_equal(const char *a, const char *b) {
        return a == b || (a && b && strcmp(a, b) == 0);
}

static bool shape_member_equal(const ShapeField *f, const void *a, const void *b) {
        const void *x = shape_at(f, a), *y = shape_at(f, b);

        switch (f->kind) {
        case SHAPE_CUSTOM: return true;
        case SHAPE_TEXT:
        case SHAPE_JSON:
        case SHAPE_BORROWED: return shape_text_equal(*(char *const *) x, *(char *const *) y);
        case SHAPE_CHARS: return strncmp(x, y, f->size) == 0;
        case SHAPE_STRV:
        case SHAPE_ENV: return shape_strv_equal(x, y);
        case SHAPE_ARRAY: return shape_items_equal(f, x, *shape_small_count(f, a), y, *shape_small_count(f, b));
        case SHAPE_LIST: return shape_items_equal(f, *(void *const *) x, *shape_count(f, a), *(void *const *) y, *shape_count(f, b));
        case SHAPE_VIEW:
                return *shape_count(f, a) == *shape_count(f, b) &&
                                (*shape_count(f, a) == 0 || memcmp(*(void *const *) x, *(void *const *) y, *shape_count(f, a)) == 0);
        default: return memcmp(x, y, shape_plain_size(f)) == 0;
        }
}

bool shape_equal(const Shape *shape, const void *a, const void *b, unsigned flags) {
        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;

                if (f->kind == SHAPE_OBJECT) {
                        if (!shape_equal(f->shape, shape_at(f, a), shape_at(f, b), f->flags & flags ? 0 : flags))
                                return false;
                } else if ((flags == 0 || f->flags & flags) && !shape_member_equal(f, a, b))
                        return false;
        }
        return true;
}
