/* reader.c: reads values from JSON, with complaints that name their position. */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/word.h"
#include "policy/internal.h"

#define FIELDS_MAX 32
#define EXACT_MAX 9007199254740992.0 /* 2^53: beyond it a double skips integers */

const char *policy_position(char buffer[static EGRESS_POSITION_MAX], const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(buffer, EGRESS_POSITION_MAX, format, ap);
        va_end(ap);
        return buffer;
}

void policy_complain(PolicyReader *r, const char *position, const char *format, ...) {
        char text[ERROR_TEXT_MAX + 512];
        va_list ap;
        int x;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        x = json_complain(r->complaints, position, "%s", text);
        if (x < 0)
                r->error = x;
}

void policy_complain_type(PolicyReader *r, const char *position, const char *wanted, json_t *found) {
        policy_complain(r, position, "must be %s, not %s", wanted, json_type_words(found));
}

const char *policy_nearest(const char *word, const char *const *names) {
        unsigned best = word_tolerance(word);
        const char *found = NULL;

        for (; *names; names++)
                if (word_is_nearer(word, *names, &best))
                        found = *names;
        return found;
}

void policy_complain_unknown(PolicyReader *r, const char *position, const char *field, const char *const *names) {
        const char *nearest = policy_nearest(field, names);
        char known[1024] = "";
        size_t n = 0;

        if (nearest) {
                policy_complain(r, position, "unknown field (did you mean '%s'?)", nearest);
                return;
        }
        for (size_t i = 0; names[i] && n < sizeof(known); i++)
                n += (size_t) snprintf(known + n, sizeof(known) - n, "%s%s", i > 0 ? ", " : "", names[i]);
        policy_complain(r, position, "unknown field (there are: %s)", known);
}

const char *policy_read_string(PolicyReader *r, const char *position, json_t *v) {
        const char *text = json_string_value(v);

        if (!text)
                policy_complain_type(r, position, "a string", v);
        else if (strlen(text) != json_string_length(v)) {
                policy_complain(r, position, "must not have a NUL byte");
                return NULL;
        }
        return text;
}

void policy_read_bool(PolicyReader *r, const char *position, json_t *v, bool *ret) {
        if (json_is_boolean(v))
                *ret = json_is_true(v);
        else
                policy_complain_type(r, position, "true or false", v);
}

bool policy_read_number(PolicyReader *r, const char *position, json_t *v, double min, double max, double *ret) {
        double x = json_number_value(v);

        if (!json_is_number(v))
                policy_complain_type(r, position, "a number", v);
        else if (!isfinite(x) || x < min || x > max)
                policy_complain(r, position, "%.15g is out of range (%.15g to %.15g)", x, min, max);
        else {
                *ret = x;
                return true;
        }
        return false;
}

void policy_read_whole(PolicyReader *r, const char *position, json_t *v, uint64_t min, uint64_t max, uint64_t *ret) {
        double x;

        if (!policy_read_number(r, position, v, (double) min, (double) max, &x))
                return;
        if (floor(x) < x)
                policy_complain(r, position, "%.15g is not a whole number", x);
        else
                *ret = (uint64_t) x;
}

void policy_read_time(PolicyReader *r, const char *position, json_t *v, usec_t unit, double min, double max, usec_t *ret) {
        double x;

        if (policy_read_number(r, position, v, min, max, &x))
                *ret = (usec_t) (x * (double) unit + 0.5);
}

void policy_read_size(PolicyReader *r, const char *position, json_t *v, uint64_t *ret) {
        const char *text;
        uint64_t size;

        if (json_is_number(v)) {
                policy_read_whole(r, position, v, 0, (uint64_t) EXACT_MAX, ret);
                return;
        }
        if (!json_is_string(v)) {
                policy_complain_type(r, position, "a number of bytes, or a size such as \"10MB\"", v);
                return;
        }
        text = policy_read_string(r, position, v);
        if (!text)
                return;
        if (parse_size(text, &size) < 0 || (double) size > EXACT_MAX)
                policy_complain(r, position, "'%.64s' is no size: as in \"10MB\", \"1GB\", or a number of bytes", text);
        else
                *ret = size;
}

bool policy_is_list(PolicyReader *r, const char *position, json_t *v, const char *what, const char *items, size_t max) {
        if (json_is_null(v))
                return false;
        if (!json_is_array(v))
                policy_complain_type(r, position, what, v);
        else if (json_array_size(v) > max)
                policy_complain(r, position, "has %zu %s, may have %zu", json_array_size(v), items, max);
        else
                return true;
        return false;
}

void policy_read_field(const PolicyField *f, void *reader, const char *position, json_t *v) {
        void *place = (char *) reader + f->offset;

        switch (f->kind) {
        case POLICY_BOOL:
                policy_read_bool(reader, position, v, place);
                break;
        case POLICY_SIZE:
                policy_read_size(reader, position, v, place);
                break;
        case POLICY_WHOLE:
                policy_read_whole(reader, position, v, (uint64_t) f->min, (uint64_t) f->max, place);
                break;
        case POLICY_TIME:
                policy_read_time(reader, position, v, f->unit, f->min, f->max, place);
                break;
        case POLICY_OTHER:
                f->read(reader, position, v);
                break;
        }
}

void policy_check_fields(PolicyReader *r, const char *prefix, const PolicyField *fields, size_t n, json_t *object) {
        const char *names[FIELDS_MAX + 1] = { 0 }, *key;
        char at[EGRESS_POSITION_MAX];
        json_t *v;

        assert(n <= FIELDS_MAX);
        for (size_t i = 0; i < n; i++)
                names[i] = fields[i].name;
        json_object_foreach(object, key, v) {
                size_t i = 0;

                while (i < n && strcmp(names[i], key) != 0)
                        i++;
                if (i == n)
                        policy_complain_unknown(r, policy_position(at, "%s.%.64s", prefix, key), key, names);
        }
}
