/* shape-show.c: objects as JSON trees in the notation of the file, for print.c and for comparisons. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/shape.h"
#include "json/shape.h"

#define EXACT_MAX 9007199254740992.0 /* 2^53: beyond it a double skips integers */

static const struct {
        usec_t usec;
        const char *name;
} duration_units[] = {
        { 86400 * USEC_PER_SEC, "d" },
        { 3600 * USEC_PER_SEC, "h" },
        { 60 * USEC_PER_SEC, "m" },
        { USEC_PER_SEC, "s" },
        { USEC_PER_MSEC, "ms" },
        { 1, "us" },
};

/* Uses the largest unit that is exact. */
void format_duration(usec_t usec, char ret[static BOUND_MAX]) {
        size_t i = 0;

        if (usec == 0) {
                (void) snprintf(ret, BOUND_MAX, "0");
                return;
        }
        while (usec % duration_units[i].usec != 0)
                i++;
        (void) snprintf(ret, BOUND_MAX, "%llu%s", (unsigned long long) (usec / duration_units[i].usec), duration_units[i].name);
}

void format_size(uint64_t bytes, char ret[static BOUND_MAX]) {
        static const char *const units[] = { "", "KB", "MB", "GB", "TB" };
        size_t i = 0;

        while (bytes > 0 && bytes % 1024 == 0 && i + 1 < ELEMENTSOF(units)) {
                bytes /= 1024;
                i++;
        }
        (void) snprintf(ret, BOUND_MAX, "%llu%s", (unsigned long long) bytes, units[i]);
}

static json_t *yaml_show_number(double x) {
        return floor(x) < x || x > EXACT_MAX ? json_real(x) : json_integer((json_int_t) x);
}

static json_t *yaml_show_integer(const ShapeField *f, const void *object) {
        int64_t value = shape_get(f, object);
        char text[BOUND_MAX];

        switch (f->unit) {
        case SHAPE_PLAIN: return json_integer(value);
        case SHAPE_CORES: return yaml_show_number((double) value / shape_scale(f->unit));
        case SHAPE_SECONDS:
        case SHAPE_MILLISECONDS: format_duration((usec_t) value, text); break;
        default: format_size((uint64_t) value, text);
        }
        return json_string(text);
}

static json_t *yaml_show_text(const ShapeField *f, const char *text) {
        return text && *text ? f->flags & SHAPE_SECRET ? json_string(SECRET_SHOWN) : json_text_or_null(text) : NULL;
}

/* Shows items as a map by their names, or as a list. */
static json_t *yaml_show_items(const ShapeField *f, const void *object) {
        const ShapeField *key = shape_key(f->shape);
        const char *items = *(char **) shape_at(f, object);
        size_t n = *(const size_t *) (const void *) ((const char *) object + f->count);
        json_t *all = key ? json_object() : json_array();

        for (size_t i = 0; i < n; i++) {
                const void *item = items + i * f->shape->size;

                if (key)
                        (void) json_object_set_new(all, shape_at(key, item), yaml_show(f->shape, item));
                else
                        (void) json_array_append_new(all, yaml_show(f->shape, item));
        }
        return all;
}

static json_t *yaml_show_field(const ShapeField *f, const void *object) {
        const void *at = shape_at(f, object);

        if (f->yaml && f->yaml->show)
                return f->yaml->show(f, object);
        if (f->names)
                return json_string(shape_name(f->names, (int) shape_get(f, object)));
        switch (f->kind) {
        case SHAPE_BOOL: return json_boolean(*(const bool *) at);
        case SHAPE_DOUBLE: return yaml_show_number(*(const double *) at);
        case SHAPE_TEXT: return yaml_show_text(f, *(char *const *) at);
        case SHAPE_CHARS: return yaml_show_text(f, at);
        case SHAPE_STRV: return json_strings(at);
        case SHAPE_ENV: return json_env(at);
        case SHAPE_OBJECT: return yaml_show(f->shape, at);
        case SHAPE_LIST: return yaml_show_items(f, object);
        default: return yaml_show_integer(f, object);
        }
}

/* Shows only the fields that were set, if the object records that, unless `all`. */
static json_t *yaml_show_fields(const Shape *shape, const void *object, bool all) {
        json_t *map = json_object();

        for (const ShapeField *f = shape->fields; f < shape->fields + shape->n_fields && map; f++) {
                json_t *value;

                if (!f->name || f->flags & SHAPE_ALIAS || (shape->remembers && !all && !shape_is_said(shape, object, f)))
                        continue;
                value = yaml_show_field(f, object);
                if (json_object_set_new(map, f->name, value ? value : json_null()) < 0) {
                        json_decref(map);
                        return NULL;
                }
        }
        return map;
}

json_t *yaml_show(const Shape *shape, const void *object) {
        return yaml_show_fields(shape, object, /* all= */ false);
}

json_t *yaml_show_fresh(const ShapeField *f) {
        void *item = calloc(1, f->shape->size);
        json_t *shown = NULL;

        if (item && yaml_fresh(f, item) >= 0)
                shown = yaml_show_fields(f->shape, item, /* all= */ true);
        if (item)
                shape_done(f->shape, item);
        free(item);
        return shown;
}
