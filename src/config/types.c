/* types.c: numbers, times and sizes. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "config/schema.h"

#define EXACT_MAX    9007199254740992.0     /* 2^53: beyond it a double skips integers */
#define SECONDS_MOST (10 * 365 * 86400.0)   /* ten years */
#define CORES_LEAST  0.01
#define BYTES_MOST   1125899906842624.0     /* 2^50 */

const char *read_text(Reader *r, const Field *f, const YamlNode *v, const char *where) {
        if (v->kind == YAML_TEXT)
                return v->text;
        if (v->kind == YAML_EMPTY)
                reader_complain(r, v->key_place, "'%s' in %s has no value: %s is wanted", f->name, where, f->type->words);
        else
                reader_complain(r, v->place, "'%s' in %s must be %s, not a %s", f->name, where, f->type->words,
                                v->kind == YAML_LIST ? "list" : "map");
        return NULL;
}

static void types_complain(Reader *r, const Field *f, const YamlNode *v, const char *where) {
        reader_complain(r, v->place, "'%s' in %s must be %s, not '%.100s'%s", f->name, where, f->type->words, v->text,
                        v->quoted ? " in quotes" : "");
}

/* Units may differ between what is written and what is compared; the words are the type's. */
static bool within(Reader *r, const Field *f, const YamlNode *v, const char *where, double x, double most) {
        char min[32], max[32];

        if (f->max > 0)
                most = MIN_OF(f->max, most);
        if (x >= f->min && x <= most)
                return true;
        f->type->bound(f->min, min, sizeof(min));
        f->type->bound(most, max, sizeof(max));
        reader_complain(r, v->place, "'%s' in %s: %.100s is out of bounds: from %s to %s", f->name, where, v->text, min, max);
        return false;
}

static void bound_number(double bound, char *ret, size_t size) {
        (void) snprintf(ret, size, "%.15g", bound);
}

static void bound_duration(double seconds, char *ret, size_t size) {
        char text[32];

        format_duration((usec_t) (seconds * (double) USEC_PER_SEC + 0.5), text);
        (void) snprintf(ret, size, "%s", text);
}

static void bound_size(double bytes, char *ret, size_t size) {
        char text[32];

        format_size((uint64_t) bytes, text);
        (void) snprintf(ret, size, "%s", text);
}

/* Digits, perhaps a fraction and an exponent; nothing else that strtod would take. */
static bool types_read_number(Reader *r, const Field *f, const YamlNode *v, const char *where, double *ret) {
        const char *text = read_text(r, f, v, where);
        char *end;

        if (!text)
                return false;
        if (v->quoted || text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0') {
                types_complain(r, f, v, where);
                return false;
        }
        *ret = strtod(text, &end);
        if (*end != '\0' || end == text || !isfinite(*ret)) {
                types_complain(r, f, v, where);
                return false;
        }
        return true;
}

static bool types_read_whole(Reader *r, const Field *f, const YamlNode *v, const char *where, double most, uint64_t *ret) {
        double x;

        if (!types_read_number(r, f, v, where, &x))
                return false;
        if (floor(x) < x) {
                types_complain(r, f, v, where);
                return false;
        }
        if (!within(r, f, v, where, x, most))
                return false;
        *ret = (uint64_t) x;
        return true;
}

static void parse_uint(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        uint64_t x;

        if (types_read_whole(r, f, v, where, (double) INT32_MAX, &x))
                *(unsigned *) field_at(f, target) = (unsigned) x;
}

static json_t *show_uint(const Field *f, const void *target) {
        return json_integer((json_int_t) *(unsigned *) field_at(f, target));
}

static void parse_big(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        uint64_t x;

        if (types_read_whole(r, f, v, where, EXACT_MAX, &x))
                *(uint64_t *) field_at(f, target) = x;
}

static json_t *show_big(const Field *f, const void *target) {
        return json_integer((json_int_t) *(uint64_t *) field_at(f, target));
}

static void parse_real(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        double x;

        if (types_read_number(r, f, v, where, &x) && within(r, f, v, where, x, EXACT_MAX))
                *(double *) field_at(f, target) = x;
}

static json_t *show_number(double x) {
        return floor(x) < x || x > EXACT_MAX ? json_real(x) : json_integer((json_int_t) x);
}

static json_t *show_real(const Field *f, const void *target) {
        return show_number(*(double *) field_at(f, target));
}

static void parse_cores(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        double x;

        if (!types_read_number(r, f, v, where, &x) || !within(r, f, v, where, x, EXACT_MAX))
                return;
        if (x > 0 && x < CORES_LEAST) /* would become 0, which is no limit at all */
                reader_complain(r, v->place, "'%s' in %s: %s is less than %g", f->name, where, v->text, CORES_LEAST);
        else
                *(uint32_t *) field_at(f, target) = (uint32_t) (x * 1000 + 0.5);
}

static json_t *show_cores(const Field *f, const void *target) {
        return show_number(*(uint32_t *) field_at(f, target) / 1000.0);
}

static void parse_megabytes(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        double x;

        if (types_read_number(r, f, v, where, &x) && within(r, f, v, where, x, BYTES_MOST / (1 << 20)))
                *(uint64_t *) field_at(f, target) = (uint64_t) (x * (1 << 20) + 0.5);
}

static bool is_bare_number(const char *text) {
        return *text && text[strspn(text, "0123456789.")] == '\0';
}

static void read_duration(Reader *r, const Field *f, const YamlNode *v, const char *where, const char *unit, void *target) {
        const char *text = read_text(r, f, v, where);
        char with_unit[64];
        usec_t usec;
        int k;

        if (!text)
                return;
        if (is_bare_number(text) && strlen(text) < sizeof(with_unit) - 4) {
                (void) snprintf(with_unit, sizeof(with_unit), "%s%s", text, unit);
                text = with_unit;
        }
        k = parse_duration(text, &usec);
        if (k == -ERANGE)
                usec = USEC_INFINITY; /* bounds will say it */
        else if (k < 0) {
                types_complain(r, f, v, where);
                return;
        }
        if (within(r, f, v, where, (double) usec / (double) USEC_PER_SEC, SECONDS_MOST))
                *(usec_t *) field_at(f, target) = usec;
}

static void types_parse_time(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        read_duration(r, f, v, where, "s", target);
}

static void parse_milliseconds(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        read_duration(r, f, v, where, "ms", target);
}

static json_t *show_time(const Field *f, const void *target) {
        char text[32];

        format_duration(*(usec_t *) field_at(f, target), text);
        return json_string(text);
}

static void parse_bytes(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        const char *text = read_text(r, f, v, where);
        uint64_t bytes;
        int k;

        if (!text)
                return;
        k = parse_size(text, &bytes);
        if (k == -ERANGE)
                bytes = UINT64_MAX;
        else if (k < 0) {
                types_complain(r, f, v, where);
                return;
        }
        if (within(r, f, v, where, (double) bytes, BYTES_MOST))
                *(uint64_t *) field_at(f, target) = bytes;
}

static json_t *show_bytes(const Field *f, const void *target) {
        char text[32];

        format_size(*(uint64_t *) field_at(f, target), text);
        return json_string(text);
}

static void parse_truth(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
        const char *text = read_text(r, f, v, where);

        if (!text)
                return;
        for (size_t i = 0; i < ELEMENTSOF(words) && !v->quoted; i++)
                if (strcasecmp(text, words[i]) == 0) {
                        *(bool *) field_at(f, target) = i % 2 == 1;
                        return;
                }
        types_complain(r, f, v, where);
}

static json_t *show_truth(const Field *f, const void *target) {
        return json_boolean(*(bool *) field_at(f, target));
}

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

/* The largest unit that says it exactly. */
void format_duration(usec_t usec, char ret[static 32]) {
        size_t i = 0;

        if (usec == 0) {
                (void) snprintf(ret, 32, "0");
                return;
        }
        while (usec % duration_units[i].usec != 0)
                i++;
        (void) snprintf(ret, 32, "%llu%s", (unsigned long long) (usec / duration_units[i].usec), duration_units[i].name);
}

void format_size(uint64_t bytes, char ret[static 32]) {
        static const char *const units[] = { "", "KB", "MB", "GB", "TB" };
        size_t i = 0;

        while (bytes > 0 && bytes % 1024 == 0 && i + 1 < ELEMENTSOF(units)) {
                bytes /= 1024;
                i++;
        }
        (void) snprintf(ret, 32, "%llu%s", (unsigned long long) bytes, units[i]);
}

const FieldType type_bool = { "true or false", parse_truth, show_truth, NULL };
const FieldType type_uint = { "a whole number", parse_uint, show_uint, bound_number };
const FieldType type_uint64 = { "a whole number", parse_big, show_big, bound_number };
const FieldType type_number = { "a number", parse_real, show_real, bound_number };
const FieldType type_cores = { "a number of cores, as in 1.5", parse_cores, show_cores, bound_number };
const FieldType type_megabytes = { "a number of megabytes", parse_megabytes, show_bytes, bound_number };
const FieldType type_duration = { "a time, as in 90s, 5m, 24h or a number of seconds", types_parse_time, show_time, bound_duration };
const FieldType type_milliseconds = { "a time, as in 90s, 5m, 24h or a number of milliseconds", parse_milliseconds, show_time, bound_duration };
const FieldType type_size = { "a size, as in 64MB, 1G or a number of bytes", parse_bytes, show_bytes, bound_size };
