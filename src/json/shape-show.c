/* shape-show.c: shows objects as JSON, as callers see them. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strv.h"
#include "json/shape.h"

#define BYTES_PER_MB 1048576.0

json_t *json_rounded(double value, double digits) {
        value = round(value * digits) / digits;
        return floor(value) < value ? json_real(value) : json_integer((json_int_t) value);
}

json_t *json_number(double value) {
        return json_rounded(value, 1000);
}

json_t *json_megabytes(uint64_t bytes) {
        return json_number((double) bytes / BYTES_PER_MB);
}

json_t *json_milliseconds(uint64_t usec) {
        return json_number((double) usec / 1000);
}

json_t *json_strings(const Strv *list) {
        json_t *array = json_array();

        for (size_t i = 0; array && i < list->n; i++)
                if (json_array_append_new(array, json_text_or_null(list->items[i])) < 0) {
                        json_decref(array);
                        return NULL;
                }
        return array;
}

static int shape_env_put(json_t *map, const char *assignment) {
        size_t n = strcspn(assignment, "=");
        _cleanup_free_ char *name = strndup(assignment, n);
        _cleanup_json_ json_t *key = json_text_or_null(name); /* UTF-8, as far as it is */

        return key ? json_object_set_new(map, json_string_value(key), json_text_or_null(assignment[n] ? assignment + n + 1 : "")) : -ENOMEM;
}

json_t *json_env(const Strv *env) {
        json_t *map = json_object();

        for (size_t i = 0; map && i < env->n; i++)
                if (shape_env_put(map, env->items[i]) < 0) {
                        json_decref(map);
                        return NULL;
                }
        return map;
}

static json_t *shape_show_text(const char *text) {
        return json_text_or_null(text && *text ? text : NULL);
}

static json_t *shape_show_object_text(const char *text) {
        json_t *j = text && strcmp(text, "{}") != 0 ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

        return j ? j : json_object();
}

static json_t *shape_show_integer(const ShapeField *f, const void *object) {
        int64_t value = shape_get(f, object);

        if (value == 0 && f->flags & SHAPE_ZERO_NULL)
                return json_null();
        if (f->unit == SHAPE_TIME)
                return json_time((uint64_t) value);
        if (f->unit == SHAPE_PLAIN)
                return json_integer(value);
        return json_number((double) value / shape_scale(f->unit));
}

static json_t *shape_show_items(const ShapeField *f, const void *items, size_t n) {
        json_t *array = json_array();

        for (size_t i = 0; array && i < n; i++)
                if (json_array_append_new(array, shape_show(f->shape, (const char *) items + i * f->shape->size)) < 0) {
                        json_decref(array);
                        return NULL;
                }
        return array;
}

static json_t *shape_show_member(const ShapeField *f, const void *object) {
        const void *at = shape_at(f, object);

        switch (f->kind) {
        case SHAPE_BOOL: return json_boolean(*(const bool *) at);
        case SHAPE_DOUBLE: return isfinite(*(const double *) at) ? json_number(*(const double *) at) : json_null();
        case SHAPE_ENUM: return shape_show_text(shape_name(f->names, *(const int *) at));
        case SHAPE_TEXT:
        case SHAPE_BORROWED: return shape_show_text(*(const char *const *) at);
        case SHAPE_CHARS: return shape_show_text(at);
        case SHAPE_JSON: return shape_show_object_text(*(const char *const *) at);
        case SHAPE_STRV: return json_strings(at);
        case SHAPE_ENV: return json_env(at);
        case SHAPE_OBJECT:
        case SHAPE_POINTER: return shape_inner(f, object) ? shape_show(f->shape, shape_inner(f, object)) : json_null();
        case SHAPE_ARRAY: return shape_show_items(f, at, *((const uint8_t *) object + f->count));
        case SHAPE_LIST: return shape_show_items(f, *(const void *const *) at, *(const size_t *) (const void *) ((const char *) object + f->count));
        case SHAPE_CUSTOM:
        case SHAPE_BYTES:
        case SHAPE_VIEW: return json_null();
        default: return shape_show_integer(f, object);
        }
}

json_t *shape_show_made(const ShapeField *f, const void *object) {
        json_t *value = *(json_t *const *) shape_at(f, object);

        return value ? json_incref(value) : json_null();
}

static bool shape_is_known(const ShapeField *f, const void *object) {
        return !(f->flags & SHAPE_MEASURED) || *(const bool *) ((const char *) object + f->count);
}

static int shape_show_field(json_t *into, const ShapeField *f, const void *object) {
        json_t *value;

        if (!shape_is_known(f, object))
                value = json_null();
        else
                value = f->json && f->json->show ? f->json->show(f, object) : shape_show_member(f, object);

        if (json_is_null(value) && f->flags & SHAPE_SPARSE)
                return 0;
        return json_object_set_new_nocheck(into, f->name, value);
}

int shape_show_into(json_t *into, const Shape *shape, const void *object) {
        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;
                int r = 0;

                if (f->flags & SHAPE_BEARER)
                        r = shape_show_into(into, f->shape, shape_inner(f, object));
                else if (f->name && !(f->flags & (SHAPE_WRITE_ONLY | SHAPE_SECRET | SHAPE_ALIAS)))
                        r = shape_show_field(into, f, object);
                if (r < 0)
                        return -ENOMEM;
        }
        return 0;
}

json_t *shape_show(const Shape *shape, const void *object) {
        json_t *j = json_object();

        if (j && shape_show_into(j, shape, object) < 0) {
                json_decref(j);
                return NULL;
        }
        return j;
}
