/* json.h: the only interface to jansson: complaints about documents, and JSON values for callers. shape.h reads and
 * shows whole objects.
 *
 * Reading a document collects every complaint, not only the first: wrong types, values out of bounds, unknown fields
 * by name, missing mandatory fields.
 * Must not know: routes, sandboxes, HTTP. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/error.h"
#include "base/macro.h"

#define _cleanup_json_ _cleanup_(json_decrefp) /* jansson's own */

/* An upper bound for the number of values in a JSON text: counts '{', '[' and ',' outside of strings. A value of two
 * characters takes about a hundred bytes of memory after parsing, so a reader of long untrusted texts checks this
 * first. */
#define JSON_VALUES_MAX 500000
size_t json_count_values(const char *text, size_t size);

/* Complaints about one document. */
typedef struct JsonComplaints {
        json_t *list; /* of {field, message} */
} JsonComplaints;

void json_complaints_done(JsonComplaints *c);
int json_complain(JsonComplaints *c, const char *field, const char *format, ...) _printf_(3, 4);
static inline bool json_has_complaints(const JsonComplaints *c) {
        return c->list && json_array_size(c->list) > 0;
}

/* "an object", "a number" … */
const char *json_type_words(json_t *value);
/* "must be WANTED, not a list" */
int json_complain_type(JsonComplaints *c, const char *name, const char *wanted, json_t *value);

/* Bytes as a JSON string; NULL if they are not valid UTF-8, or on lack of memory. */
json_t *json_utf8(const void *data, size_t size);
json_t *json_base64(const void *data, size_t size);
json_t *json_time(uint64_t usec); /* ISO-8601, milliseconds, Z; 0: null */
json_t *json_text_or_null(const char *text);
json_t *json_signal(int number); /* "SIGKILL"; 0: null */

/* Appends j, compact, without a newline. A failure sticks to the text. */
int json_put(Text *t, json_t *j);
/* Compact, with a newline; the caller frees. */
char *json_print(json_t *j, size_t *ret_size);
