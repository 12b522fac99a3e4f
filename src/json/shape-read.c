/* shape-read.c: parses requests by their shapes. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strv.h"
#include "json/shape.h"

#define NAME_MAX_BYTES 512
#define STRING_MAX     (128 * 1024) /* of an argument or a variable: the kernel's MAX_ARG_STRLEN */
#define LIST_MAX       65536
#define EXACT_MAX      9007199254740992.0 /* 2^53: beyond it a double skips integers */

/* Strings. */

static bool shape_string_has_nul(json_t *v) {
        return strlen(json_string_value(v)) != json_string_length(v);
}

/* 1: a string within the bounds; 0: complained. `room`: what the member holds, 0: any. */
static int shape_read_string(const ShapeField *f, json_t *v, const char *name, size_t room, JsonComplaints *c) {
        size_t n = json_string_length(v);
        double max = f->max > 0 || room == 0 ? f->max : (double) (room - 1);

        if (!json_is_string(v))
                return json_complain_type(c, name, "a string", v);
        if (shape_string_has_nul(v))
                return json_complain(c, name, "must not have a NUL byte");
        if ((double) n < f->min)
                return n == 0 ? json_complain(c, name, "must not be empty")
                              : json_complain(c, name, "has %zu bytes, must have at least %.0f", n, f->min);
        if (max > 0 && (double) n > max)
                return json_complain(c, name, "has %zu bytes, may have %.0f", n, max);
        return 1;
}

static int shape_read_text(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        int r = shape_read_string(f, v, name, /* room= */ 0, c);

        return r > 0 ? shape_text_set(shape_at(f, object), json_string_value(v)) : r;
}

static int shape_read_chars(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        int r = shape_read_string(f, v, name, f->size, c);

        if (r > 0)
                memcpy(shape_at(f, object), json_string_value(v), MIN_OF(json_string_length(v) + 1, f->size));
        return r < 0 ? r : 0;
}

static int shape_read_bool(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        if (!json_is_boolean(v))
                return json_complain_type(c, name, "true or false", v);
        return shape_set(f, object, json_is_true(v));
}

static int shape_complain_choice(const ShapeField *f, const char *name, JsonComplaints *c) {
        char known[512] = "";
        size_t used = 0;

        for (int i = 0; i < f->names->max && used < sizeof(known); i++)
                used += (size_t) snprintf(known + used, sizeof(known) - used, "%s'%s'", i == 0 ? "" : i + 1 < f->names->max ? ", " : " or ",
                                shape_name(f->names, i));
        return json_complain(c, name, "must be %s", known);
}

static int shape_read_enum(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        int value = json_is_string(v) && !shape_string_has_nul(v) ? shape_value(f->names, json_string_value(v)) : -EINVAL;

        return value < 0 ? shape_complain_choice(f, name, c) : shape_set(f, object, value);
}

/* Numbers. A whole number may be written as 5, 5.0 or 5e0: they are the same in JSON. */

static int shape_complain_range(JsonComplaints *c, const char *name, double value, double min, double max) {
        if (max > 0)
                return json_complain(c, name, "%.15g is out of range (%.15g to %.15g)", value, min, max);
        return json_complain(c, name, "%.15g is out of range (%.15g or more)", value, min);
}

/* 1: a number within the field's bounds; 0: complained. */
static int shape_read_number(const ShapeField *f, json_t *v, const char *name, double most, JsonComplaints *c, double *ret) {
        double x, max = f->max > 0 && f->max < most ? f->max : most, min = f->min > 0 ? f->min : 0;

        if (!json_is_number(v))
                return f->unit == SHAPE_CORES ? json_complain(c, name, "must be a number of cores, such as 1.5")
                                              : json_complain_type(c, name, "a number", v);
        x = json_number_value(v);
        if (!isfinite(x) || x < min || x > max)
                return shape_complain_range(c, name, x, min, f->max > 0 ? f->max : 0);
        *ret = x;
        return 1;
}

static double shape_widest(const ShapeField *f) {
        switch (f->kind) {
        case SHAPE_UINT8: return UINT8_MAX;
        case SHAPE_UINT16: return UINT16_MAX;
        case SHAPE_UINT32: return UINT32_MAX;
        case SHAPE_INT: return INT32_MAX;
        default: return (double) INT64_MAX;
        }
}

static int shape_read_whole(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        double x = 0;
        int r = shape_read_number(f, v, name, shape_widest(f), c, &x);

        if (r <= 0)
                return r;
        if (json_is_integer(v))
                return shape_set(f, object, json_integer_value(v));
        if (x > EXACT_MAX || floor(x) < x)
                return json_complain(c, name, "%.15g is not a whole number", x);
        return shape_set(f, object, (int64_t) x);
}

static int shape_read_scaled(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        double x = 0, unit = shape_scale(f->unit);
        int r = shape_read_number(f, v, name, MIN_OF(EXACT_MAX, shape_widest(f)) / unit, c, &x);

        return r > 0 ? shape_set(f, object, (int64_t) (x * unit + 0.5)) : r;
}

static int shape_read_double(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        double x = 0;
        int r = shape_read_number(f, v, name, EXACT_MAX, c, &x);

        if (r > 0)
                *(double *) shape_at(f, object) = x;
        return r < 0 ? r : 0;
}

/* Lists of strings. */

static int shape_complain_string(JsonComplaints *c, const char *name, const char *item, json_t *v) {
        char full[NAME_MAX_BYTES];

        (void) snprintf(full, sizeof(full), "%s%s", name, item);
        if (!json_is_string(v))
                return json_complain_type(c, full, "a string", v);
        if (shape_string_has_nul(v))
                return json_complain(c, full, "must not have a NUL byte");
        return json_complain(c, full, "has %zu bytes, may have %d", json_string_length(v), STRING_MAX - 1);
}

static bool shape_is_good_string(json_t *v, size_t more) {
        return json_is_string(v) && !shape_string_has_nul(v) && json_string_length(v) + more < STRING_MAX;
}

/* The bound is that of the existing list, or of the field. */
static Strv shape_list_like(const ShapeField *f, void *object) {
        const Strv *at = shape_at(f, object);
        size_t max = f->max > 0 ? (size_t) f->max : LIST_MAX;

        return (Strv) STRV_INIT(at->max > 0 && at->max < max ? at->max : max);
}

static void shape_list_replace(const ShapeField *f, void *object, Strv *list) {
        Strv *at = shape_at(f, object);

        strv_done(at);
        *at = *list;
        *list = (Strv) { 0 };
}

static int shape_read_strings(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        _cleanup_(strv_done) Strv list = shape_list_like(f, object);
        json_t *item;
        size_t i;
        int r = 0;

        if (!json_is_array(v))
                return json_complain_type(c, name, "a list of strings", v);
        if (json_array_size(v) > list.max)
                return json_complain(c, name, "has %zu entries, may have %zu", json_array_size(v), list.max);
        json_array_foreach(v, i, item) {
                char place[32];

                (void) snprintf(place, sizeof(place), "[%zu]", i);
                r = shape_is_good_string(item, 0) ? strv_push(&list, json_string_value(item))
                                            : shape_complain_string(c, name, place, item);
                if (r < 0)
                        return r;
        }
        shape_list_replace(f, object, &list);
        return 0;
}

/* A name may be any that a program can receive and look up: not empty, without "=", and without invisible
 * characters. */
static bool shape_is_good_name(const char *name) {
        for (const char *p = name; *p; p++)
                if ((unsigned char) *p <= 0x20 || *p == '=' || *p == 0x7f)
                        return false;
        return *name;
}

static int shape_push_assignment(Strv *list, const char *name, const char *value) {
        _cleanup_free_ char *text = NULL;
        int r;

        if (asprintf(&text, "%s=%s", name, value) < 0) {
                text = NULL;
                return -ENOMEM;
        }
        r = strv_push_take(list, text);
        if (r >= 0)
                TAKE_PTR(text);
        return r;
}

static int shape_read_env(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        _cleanup_(strv_done) Strv list = shape_list_like(f, object);
        const char *key;
        json_t *item;
        int r = 0;

        if (!json_is_object(v))
                return json_complain_type(c, name, "an object of strings", v);
        if (json_object_size(v) > list.max)
                return json_complain(c, name, "has %zu variables, may have %zu", json_object_size(v), list.max);
        json_object_foreach(v, key, item) {
                char place[NAME_MAX_BYTES];

                (void) snprintf(place, sizeof(place), ".%s", key);
                if (!shape_is_good_name(key))
                        r = json_complain(c, name, "'%.100s' is no name of a variable", key);
                else if (!shape_is_good_string(item, strlen(key) + 1))
                        r = shape_complain_string(c, name, place, item);
                else
                        r = shape_push_assignment(&list, key, json_string_value(item));
                if (r < 0)
                        return r;
        }
        shape_list_replace(f, object, &list);
        return 0;
}

/* Objects. */

static int shape_read_json(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        _cleanup_free_ char *text = NULL;
        char **at = shape_at(f, object);

        if (!json_is_object(v))
                return json_complain_type(c, name, "an object", v);
        text = json_dumps(v, JSON_COMPACT);
        if (!text)
                return -ENOMEM;
        if (f->max > 0 && (double) strlen(text) > f->max)
                return json_complain(c, name, "has %zu bytes as JSON, may have %.0f", strlen(text), f->max);
        free(*at);
        *at = TAKE_PTR(text);
        return 0;
}

static int shape_read_object(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        return shape_read(v, name, f->shape, shape_at(f, object), c);
}

static int shape_read_never(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        return json_complain(c, name, "cannot be set");
}

int shape_parse(const ShapeField *f, json_t *v, const char *name, void *object, JsonComplaints *c) {
        static int (*const readers[_SHAPE_KIND_MAX])(const ShapeField *, json_t *, const char *, void *, JsonComplaints *) = {
                [SHAPE_CUSTOM] = shape_read_never, [SHAPE_BOOL] = shape_read_bool,      [SHAPE_INT] = shape_read_whole,    [SHAPE_UINT8] = shape_read_whole,
                [SHAPE_UINT16] = shape_read_whole, [SHAPE_UINT32] = shape_read_whole,   [SHAPE_UINT64] = shape_read_whole, [SHAPE_INT64] = shape_read_whole,
                [SHAPE_DOUBLE] = shape_read_double, [SHAPE_ENUM] = shape_read_enum,     [SHAPE_TEXT] = shape_read_text,    [SHAPE_BORROWED] = shape_read_never,
                [SHAPE_CHARS] = shape_read_chars,  [SHAPE_BYTES] = shape_read_never,    [SHAPE_VIEW] = shape_read_never,   [SHAPE_STRV] = shape_read_strings,
                [SHAPE_ENV] = shape_read_env,      [SHAPE_JSON] = shape_read_json,      [SHAPE_OBJECT] = shape_read_object, [SHAPE_ARRAY] = shape_read_never,
                [SHAPE_LIST] = shape_read_never,
        };

        if (shape_is_number(f) && f->unit != SHAPE_PLAIN)
                return shape_read_scaled(f, v, name, object, c);
        return readers[f->kind](f, v, name, object, c);
}

static void shape_join_name(const char *prefix, const char *name, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s%s%.200s", prefix, *prefix ? "." : "", name);
}

/* The field that a name leads to, through bearers. */
typedef struct ShapePlace {
        const Shape *shape;
        const ShapeField *field;
        void *object;
} ShapePlace;

static bool shape_is_for_callers(const ShapeField *f) {
        return f->name && !(f->flags & SHAPE_READ_ONLY);
}

static bool shape_find_place(const Shape *shape, void *object, const char *name, ShapePlace *ret) {
        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;

                if (f->flags & SHAPE_BEARER) {
                        if (shape_find_place(f->shape, shape_at(f, object), name, ret))
                                return true;
                } else if (shape_is_for_callers(f) && strcmp(f->name, name) == 0) {
                        *ret = (ShapePlace) { shape, f, object };
                        return true;
                }
        }
        return false;
}

/* "a, b, c" */
static size_t shape_list_names(const Shape *shape, char *ret, size_t size, size_t used) {
        for (size_t i = 0; i < shape->n_fields && used < size; i++) {
                const ShapeField *f = shape->fields + i;

                if (f->flags & SHAPE_BEARER)
                        used = shape_list_names(f->shape, ret, size, used);
                else if (shape_is_for_callers(f))
                        used += (size_t) snprintf(ret + used, size - used, "%s%s", used > 0 ? ", " : "", f->name);
        }
        return used;
}

static int shape_complain_unknown(const Shape *shape, const char *name, JsonComplaints *c) {
        char known[1024] = "";

        (void) shape_list_names(shape, known, sizeof(known), /* used= */ 0);
        return json_complain(c, name, "unknown field (there are: %s)", known);
}

static bool shape_is_given(const ShapeField *f, json_t *v) {
        return v && !(json_is_null(v) && f->flags & SHAPE_NULLABLE);
}

static int shape_read_member(const ShapePlace *at, json_t *v, const char *name, JsonComplaints *c) {
        const ShapeField *f = at->field;
        size_t complaints = json_array_size(c->list);
        int r;

        if (!shape_is_given(f, v))
                return 0;
        r = f->json && f->json->parse ? f->json->parse(f, v, name, at->object, c) : shape_parse(f, v, name, at->object, c);
        if (r >= 0 && json_array_size(c->list) == complaints)
                shape_said(at->shape, at->object, f);
        return r;
}

static int shape_complain_missing(json_t *object, const char *prefix, const Shape *shape, JsonComplaints *c) {
        char name[NAME_MAX_BYTES];

        for (size_t i = 0; i < shape->n_fields; i++) {
                const ShapeField *f = shape->fields + i;
                int r = 0;

                if (f->flags & SHAPE_BEARER)
                        r = shape_complain_missing(object, prefix, f->shape, c);
                else if (f->flags & SHAPE_MANDATORY && shape_is_for_callers(f) && !shape_is_given(f, json_object_get(object, f->name))) {
                        shape_join_name(prefix, f->name, name, sizeof(name));
                        r = json_complain(c, name, "must be given");
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

int shape_read(json_t *value, const char *prefix, const Shape *shape, void *object, JsonComplaints *c) {
        char name[NAME_MAX_BYTES];
        const char *key;
        json_t *v;

        if (!json_is_object(value))
                return json_complain_type(c, prefix, "an object", value);
        json_object_foreach(value, key, v) {
                ShapePlace at;
                int r;

                shape_join_name(prefix, key, name, sizeof(name));
                r = shape_find_place(shape, object, key, &at) ? shape_read_member(&at, v, name, c) : shape_complain_unknown(shape, name, c);
                if (r < 0)
                        return r;
        }
        return shape_complain_missing(value, prefix, shape, c);
}

static bool shape_is_blank(const char *text, size_t size) {
        for (size_t i = 0; i < size; i++)
                if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
                        return false;
        return true;
}

int json_read(const char *text, size_t size, const Shape *shape, void *object, JsonComplaints *c, Error *reterr) {
        _cleanup_json_ json_t *document = NULL;
        json_error_t error;

        if (json_count_values(text, size) > JSON_VALUES_MAX)
                return error_set(reterr, -EBADMSG, "the body has more than %d values", JSON_VALUES_MAX);
        if (shape_is_blank(text, size))
                document = json_object();
        else
                document = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
        if (!document && shape_is_blank(text, size))
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!document)
                return error_set(reterr, -EBADMSG, "the body is not JSON: %s (line %d, column %d)", error.text, error.line,
                                error.column);
        if (!json_is_object(document))
                return error_set(reterr, -EBADMSG, "the body must be a JSON object, not %s", json_type_words(document));
        return shape_read(document, "", shape, object, c);
}
