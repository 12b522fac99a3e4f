/* json.h: the one door to jansson: reading what callers send by tables, and building answers.
 *
 * A table names each field, its type, its bounds and where it goes. Reading collects every complaint, not only the first:
 * wrong types, values out of bounds, unknown fields by name, missing mandatory ones.
 * Must not know: routes, sandboxes, HTTP. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/text.h"
#include "base/error.h"
#include "base/macro.h"

#define _cleanup_json_ _cleanup_(json_decrefp) /* jansson's own */

/* How many values a text has, at most: what stands between them is counted, outside of strings. One of two letters is a hundred bytes when it was parsed, so
 * whoever takes long texts from strangers looks before. */
#define JSON_VALUES_MAX 500000
size_t json_count_values(const char *text, size_t size);

typedef enum JsonFieldFlags {
        JSON_MANDATORY = 1 << 0,
        JSON_NULLABLE = 1 << 1, /* null is as good as absent */
} JsonFieldFlags;

/* Complaints about one document. */
typedef struct JsonComplaints {
        json_t *list; /* of {field, message} */
} JsonComplaints;

void json_complaints_done(JsonComplaints *c);
int json_complain(JsonComplaints *c, const char *field, const char *format, ...) _printf_(3, 4);
static inline bool json_has_complaints(const JsonComplaints *c) {
        return c->list && json_array_size(c->list) > 0;
}

typedef struct JsonField JsonField;

/* value is never NULL. Complaints go to c, by the full name of the field ("limits.memoryMB"). Returns a negative errno for our own
 * failures only. */
typedef int (*JsonFieldParse)(const JsonField *field, json_t *value, const char *name, void *target, JsonComplaints *c);

struct JsonField {
        const char *name;
        JsonFieldParse parse;
        size_t offset; /* in the target */
        unsigned flags;
        double min, max; /* of numbers; of strings: bytes */
        const JsonField *fields; /* of an object within */
        size_t n_fields;
};

/* Ready-made parsers. Strings are allocated into a char* at the offset; an older value is freed. */
int json_field_string(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);  /* no NUL inside */
int json_field_bool(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);
int json_field_uint64(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);
int json_field_uint32(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);
int json_field_uint16(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);
int json_field_megabytes(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* uint64_t bytes; fractions are fine */
int json_field_seconds(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* usec_t; fractions are fine */
int json_field_object(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);    /* by f->fields, at the offset */
int json_field_env(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);       /* {"K":"V"} to a Strv of K=V */
int json_field_strings(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* ["…"] to a Strv */
int json_field_text(const JsonField *f, json_t *v, const char *name, void *target, JsonComplaints *c);      /* an object, as compact JSON text into a char*; max bytes */

/* Parses and checks a whole document (which must be one object; empty input counts as {}). -EBADMSG: no JSON, the error's text
 * says where. 0 also when there are complaints. */
int json_read(const char *text, size_t size, const JsonField *fields, size_t n, void *target, JsonComplaints *c, Error *reterr);

/* Bytes as a JSON string, or NULL when they are not UTF-8 (or contain what JSON cannot say). */
json_t *json_utf8(const void *data, size_t size);
json_t *json_base64(const void *data, size_t size);
json_t *json_time(uint64_t usec); /* ISO-8601, milliseconds, Z; 0: null */
json_t *json_text_or_null(const char *text);

/* Appends it, compact, without a newline. A failure sticks to the text. */
int json_put(Text *t, json_t *j);
/* Compact, with a newline; the caller frees. */
char *json_print(json_t *j, size_t *ret_size);
