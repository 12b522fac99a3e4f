/* json.h: wraps jansson for the client.
 *
 * Reads the daemon's answers and tolerates members that are missing or of another type; builds requests.
 * Builders take input from people: text that JSON cannot represent (invalid UTF-8) is an error, as is lack of
 * memory. The first error is kept in the builder and reported at the end.
 * Must not know: the API. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

static inline void json_unrefp(json_t **j) {
        json_decref(*j);
}
#define _cleanup_json_ _cleanup_(json_unrefp)

/* Parses any value. NULL: not JSON; see reterr. */
json_t *json_parse(const char *text, size_t size, Error *reterr);

/* Members of an object, which may be NULL or not an object. */
const char *json_get_text(const json_t *object, const char *key);                     /* NULL: no text */
const char *json_get_text_or(const json_t *object, const char *key, const char *otherwise);
int64_t json_get_integer(const json_t *object, const char *key, int64_t otherwise);
long long json_count(const json_t *object, const char *key); /* an integer for printf; missing: 0 */
double json_get_number(const json_t *object, const char *key, double otherwise);
bool json_get_bool(const json_t *object, const char *key);
bool json_has(const json_t *object, const char *key);                                 /* present, and not null */
const char *json_text_of(const json_t *value);                                        /* NULL: no text */

const json_t *json_at(const json_t *object, const char *path);                        /* "limits.memoryMB"; NULL: not present */

typedef struct JsonBuilder {
        json_t *object;
        int error; /* the first one */
        const char *where;
} JsonBuilder;

void json_builder_done(JsonBuilder *b);
#define _cleanup_builder_ _cleanup_(json_builder_done)

/* Each creates the object if needed. A key may be a path: "limits.memoryMB" is a member of a member. */
void json_put_text(JsonBuilder *b, const char *key, const char *value); /* value NULL: adds nothing */
void json_put_integer(JsonBuilder *b, const char *key, int64_t value);
void json_put_number(JsonBuilder *b, const char *key, double value); /* whole numbers are written as integers */
void json_put_bool(JsonBuilder *b, const char *key, bool value);
void json_put_true(JsonBuilder *b, const char *key);
void json_put_words(JsonBuilder *b, const char *key, char *const *words, size_t n);
size_t json_add_text(JsonBuilder *b, const char *key, const char *value); /* appends to a list; returns its new length */
size_t json_put_assignments(JsonBuilder *b, const char *key, char *const *assignments, size_t n); /* NAME=value; returns how many */
void json_put_value(JsonBuilder *b, const char *key, json_t *value); /* takes ownership of value */

/* Returns the document, which the caller frees. An empty builder gives {}. */
char *json_builder_print(JsonBuilder *b, Error *reterr);

char *client_json_print(const json_t *value, bool pretty); /* NULL: out of memory; the caller frees */

/* Prints a line: a key, padded to width, and its value. "-": no value. */
void human_member(const char *indent, int width, const char *key, const json_t *value);

/* A value for people: a text as it is, anything else as JSON; both cleaned. The caller frees. NULL: out of
 * memory. */
char *human_value(const json_t *value);
