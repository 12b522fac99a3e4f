/* json-fields.c: what callers send, read by tables. */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "base/clock.h"
#include "base/strv.h"

#define NAME_MAX_BYTES  512
#define COMPLAINTS_MAX  64
#define STRING_MAX      (128 * 1024) /* of an argument or a variable: the kernel's MAX_ARG_STRLEN */
#define LIST_MAX        65536
#define EXACT_MAX       9007199254740992.0 /* 2^53: beyond it a double skips integers */
#define BYTES_PER_MB    1048576.0

void json_complaints_done(JsonComplaints *c) {
        json_decref(c->list);
        c->list = NULL;
}

int json_complain(JsonComplaints *c, const char *field, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        json_t *entry;
        va_list ap;
        int n;

        if (!c->list)
                c->list = json_array();
        if (!c->list)
                return -ENOMEM;
        if (json_array_size(c->list) >= COMPLAINTS_MAX)
                return 0;
        va_start(ap, format);
        n = vasprintf(&message, format, ap);
        va_end(ap);
        if (n < 0) {
                message = NULL;
                return -ENOMEM;
        }
        entry = json_object();
        if (!entry || json_object_set_new(entry, "field", json_text_or_null(field)) < 0 ||
                        json_object_set_new(entry, "message", json_text_or_null(message)) < 0) {
                json_decref(entry);
                return -ENOMEM;
        }
        return json_array_append_new(c->list, entry) < 0 ? -ENOMEM : 0;
}

static const char *json_fields_type_words(json_t *v) {
        switch (json_typeof(v)) {
        case JSON_OBJECT: return "an object";
        case JSON_ARRAY: return "a list";
        case JSON_STRING: return "a string";
        case JSON_INTEGER:
        case JSON_REAL: return "a number";
        case JSON_TRUE: return "true";
        case JSON_FALSE: return "false";
        default: return "null";
        }
}

static int json_fields_complain_type(JsonComplaints *c, const char *name, const char *wanted, json_t *v) {
        return json_complain(c, name, "must be %s, not %s", wanted, json_fields_type_words(v));
}

static void *target_at(const JsonField *f, void *target) {
        return (char *) target + f->offset;
}

/* Strings. */

static bool has_nul(json_t *v) {
        return strlen(json_string_value(v)) != json_string_length(v);
}

int json_field_string(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        char **at = target_at(f, target), *copy;
        size_t n = json_string_length(v);

        if (!json_is_string(v))
                return json_fields_complain_type(c, name, "a string", v);
        if (has_nul(v))
                return json_complain(c, name, "must not have a NUL byte");
        if ((double) n < f->min)
                return n == 0 ? json_complain(c, name, "must not be empty")
                              : json_complain(c, name, "has %zu bytes, must have at least %.0f", n, f->min);
        if (f->max > 0 && (double) n > f->max)
                return json_complain(c, name, "has %zu bytes, may have %.0f", n, f->max);
        copy = strdup(json_string_value(v));
        if (!copy)
                return -ENOMEM;
        free(*at);
        *at = copy;
        return 0;
}

int json_field_bool(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        if (!json_is_boolean(v))
                return json_fields_complain_type(c, name, "true or false", v);
        *(bool *) target_at(f, target) = json_is_true(v);
        return 0;
}

/* Numbers. A whole number may be written as 5, 5.0 or 5e0: they are the same in JSON. */

static int complain_range(JsonComplaints *c, const char *name, double value, double min, double max) {
        if (max > 0)
                return json_complain(c, name, "%.15g is out of range (%.15g to %.15g)", value, min, max);
        return json_complain(c, name, "%.15g is out of range (%.15g or more)", value, min);
}

/* 1: a number within the field's bounds; 0: complained. */
static int json_fields_read_number(const JsonField *f, json_t *v, const char *name, double most, JsonComplaints *c, double *ret) {
        double x, max = f->max > 0 && f->max < most ? f->max : most, min = f->min > 0 ? f->min : 0;

        if (!json_is_number(v))
                return json_fields_complain_type(c, name, "a number", v);
        x = json_number_value(v);
        if (!isfinite(x) || x < min || x > max)
                return complain_range(c, name, x, min, f->max > 0 ? f->max : 0);
        *ret = x;
        return 1;
}

static int json_fields_read_whole(const JsonField *f, json_t *v, const char *name, uint64_t most, JsonComplaints *c, uint64_t *ret) {
        double x = 0;
        int r = json_fields_read_number(f, v, name, (double) most, c, &x);

        if (r <= 0)
                return r;
        if (json_is_integer(v))
                *ret = (uint64_t) json_integer_value(v);
        else if (x > EXACT_MAX || floor(x) < x)
                return json_complain(c, name, "%.15g is not a whole number", x);
        else
                *ret = (uint64_t) x;
        return 1;
}

int json_field_uint64(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        uint64_t x = 0;
        int r = json_fields_read_whole(f, v, name, INT64_MAX, c, &x);

        if (r > 0)
                *(uint64_t *) target_at(f, target) = x;
        return r < 0 ? r : 0;
}

int json_field_uint32(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        uint64_t x = 0;
        int r = json_fields_read_whole(f, v, name, UINT32_MAX, c, &x);

        if (r > 0)
                *(uint32_t *) target_at(f, target) = (uint32_t) x;
        return r < 0 ? r : 0;
}

int json_field_uint16(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        uint64_t x = 0;
        int r = json_fields_read_whole(f, v, name, UINT16_MAX, c, &x);

        if (r > 0)
                *(uint16_t *) target_at(f, target) = (uint16_t) x;
        return r < 0 ? r : 0;
}

static int read_scaled(const JsonField *f, json_t *v, const char *name, void *target, double unit, JsonComplaints *c) {
        double x = 0;
        int r = json_fields_read_number(f, v, name, EXACT_MAX / unit, c, &x);

        if (r > 0)
                *(uint64_t *) target_at(f, target) = (uint64_t) (x * unit + 0.5);
        return r < 0 ? r : 0;
}

int json_field_megabytes(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        return read_scaled(f, v, name, target, BYTES_PER_MB, c);
}

int json_field_seconds(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        return read_scaled(f, v, name, target, (double) USEC_PER_SEC, c);
}

/* Lists of strings. */

static int complain_string(JsonComplaints *c, const char *name, const char *item, json_t *v) {
        char full[NAME_MAX_BYTES];

        (void) snprintf(full, sizeof(full), "%s%s", name, item);
        if (!json_is_string(v))
                return json_fields_complain_type(c, full, "a string", v);
        if (has_nul(v))
                return json_complain(c, full, "must not have a NUL byte");
        return json_complain(c, full, "has %zu bytes, may have %d", json_string_length(v), STRING_MAX - 1);
}

static bool is_good_string(json_t *v, size_t more) {
        return json_is_string(v) && !has_nul(v) && json_string_length(v) + more < STRING_MAX;
}

/* The ceiling is that of the list which is there, or of the field. */
static Strv list_like(const JsonField *f, void *target) {
        const Strv *at = target_at(f, target);
        size_t max = f->max > 0 ? (size_t) f->max : LIST_MAX;

        return (Strv) STRV_INIT(at->max > 0 && at->max < max ? at->max : max);
}

static void list_replace(const JsonField *f, void *target, Strv *list) {
        Strv *at = target_at(f, target);

        strv_done(at);
        *at = *list;
        *list = (Strv) { 0 };
}

int json_field_strings(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        _cleanup_(strv_done) Strv list = list_like(f, target);
        json_t *item;
        size_t i;
        int r = 0;

        if (!json_is_array(v))
                return json_fields_complain_type(c, name, "a list of strings", v);
        if (json_array_size(v) > list.max)
                return json_complain(c, name, "has %zu entries, may have %zu", json_array_size(v), list.max);
        json_array_foreach(v, i, item) {
                char place[32];

                (void) snprintf(place, sizeof(place), "[%zu]", i);
                r = is_good_string(item, 0) ? strv_push(&list, json_string_value(item))
                                            : complain_string(c, name, place, item);
                if (r < 0)
                        return r;
        }
        list_replace(f, target, &list);
        return 0;
}

/* A name may be anything that a program can be given and find again: not empty, no "=", nothing that cannot be seen. */
static bool is_good_name(const char *name) {
        for (const char *p = name; *p; p++)
                if ((unsigned char) *p <= 0x20 || *p == '=' || *p == 0x7f)
                        return false;
        return *name;
}

static int push_assignment(Strv *list, const char *name, const char *value) {
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

int json_field_env(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        _cleanup_(strv_done) Strv list = list_like(f, target);
        const char *key;
        json_t *item;
        int r = 0;

        if (!json_is_object(v))
                return json_fields_complain_type(c, name, "an object of strings", v);
        if (json_object_size(v) > list.max)
                return json_complain(c, name, "has %zu variables, may have %zu", json_object_size(v), list.max);
        json_object_foreach(v, key, item) {
                char place[NAME_MAX_BYTES];

                (void) snprintf(place, sizeof(place), ".%s", key);
                if (!is_good_name(key))
                        r = json_complain(c, name, "'%.100s' is no name of a variable", key);
                else if (!is_good_string(item, strlen(key) + 1))
                        r = complain_string(c, name, place, item);
                else
                        r = push_assignment(&list, key, json_string_value(item));
                if (r < 0)
                        return r;
        }
        list_replace(f, target, &list);
        return 0;
}

/* Objects. */

int json_field_text(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        char **at = target_at(f, target), *text;

        if (!json_is_object(v))
                return json_fields_complain_type(c, name, "an object", v);
        text = json_dumps(v, JSON_COMPACT);
        if (!text)
                return -ENOMEM;
        if (f->max > 0 && (double) strlen(text) > f->max) {
                int r = json_complain(c, name, "has %zu bytes as JSON, may have %.0f", strlen(text), f->max);

                free(text);
                return r;
        }
        free(*at);
        *at = text;
        return 0;
}

static const JsonField *find_field(const JsonField *fields, size_t n, const char *name) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(fields[i].name, name) == 0)
                        return fields + i;
        return NULL;
}

static void join_name(const char *prefix, const char *name, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s%s%.200s", prefix, *prefix ? "." : "", name);
}

/* "a, b, c" */
static void json_fields_list_names(const JsonField *fields, size_t n, char *ret, size_t size) {
        size_t used = 0;

        ret[0] = '\0';
        for (size_t i = 0; i < n && used < size; i++)
                used += (size_t) snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "", fields[i].name);
}

static int json_fields_complain_unknown(const JsonField *fields, size_t n, const char *name, JsonComplaints *c) {
        char known[1024];

        json_fields_list_names(fields, n, known, sizeof(known));
        return json_complain(c, name, "unknown field (there are: %s)", known);
}

static int json_fields_read_object(json_t *object, const char *prefix, const JsonField *fields, size_t n, void *target,
                JsonComplaints *c) {
        char name[NAME_MAX_BYTES];
        const char *key;
        json_t *v;
        int r;

        json_object_foreach(object, key, v) {
                const JsonField *f = find_field(fields, n, key);

                join_name(prefix, key, name, sizeof(name));
                if (!f)
                        r = json_fields_complain_unknown(fields, n, name, c);
                else if (json_is_null(v) && (f->flags & JSON_NULLABLE))
                        r = 0;
                else
                        r = f->parse(f, v, name, target, c);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < n; i++) {
                v = json_object_get(object, fields[i].name);
                if (!(fields[i].flags & JSON_MANDATORY) || (v && !(json_is_null(v) && (fields[i].flags & JSON_NULLABLE))))
                        continue;
                join_name(prefix, fields[i].name, name, sizeof(name));
                r = json_complain(c, name, "must be given");
                if (r < 0)
                        return r;
        }
        return 0;
}

int json_field_object(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        if (!json_is_object(v))
                return json_fields_complain_type(c, name, "an object", v);
        return json_fields_read_object(v, name, f->fields, f->n_fields, target_at(f, target), c);
}

static bool json_fields_is_blank(const char *text, size_t size) {
        for (size_t i = 0; i < size; i++)
                if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
                        return false;
        return true;
}

int json_read(const char *text, size_t size, const JsonField *fields, size_t n, void *target, JsonComplaints *c,
                Error *reterr) {
        _cleanup_json_ json_t *document = NULL;
        json_error_t error;

        if (json_count_values(text, size) > JSON_VALUES_MAX)
                return error_set(reterr, -EBADMSG, "the body has more than %d values", JSON_VALUES_MAX);
        if (json_fields_is_blank(text, size))
                document = json_object();
        else
                document = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
        if (!document && json_fields_is_blank(text, size))
                return error_set(reterr, -ENOMEM, "out of memory");
        if (!document)
                return error_set(reterr, -EBADMSG, "the body is not JSON: %s (line %d, column %d)", error.text, error.line,
                                error.column);
        if (!json_is_object(document))
                return error_set(reterr, -EBADMSG, "the body must be a JSON object, not %s", json_fields_type_words(document));
        return json_fields_read_object(document, "", fields, n, target, c);
}
