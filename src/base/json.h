/* json.h: writing JSON.
 *
 * Values are written in the order of the calls; the writer adds commas, indentation and escapes. Bytes that are not
 * UTF-8 are replaced. An error (no memory) sticks; json_finish() returns it.
 * Writing only, and by hand: the programs are linked with musl, which the distribution builds no JSON library for.
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef struct JsonWriter {
        Text out;
        unsigned depth;
        bool has_member; /* the innermost object or list is not empty */
        bool compact;    /* all on one line */
} JsonWriter;

/* A key of NULL is for members of lists, and for the outermost value. */
void json_begin_object(JsonWriter *w, const char *key);
void json_end_object(JsonWriter *w);
void json_begin_list(JsonWriter *w, const char *key);
void json_end_list(JsonWriter *w);

void json_write_string(JsonWriter *w, const char *key, const char *value); /* NULL is null */
void json_write_integer(JsonWriter *w, const char *key, int64_t value);
void json_write_null(JsonWriter *w, const char *key);
void json_write_bool(JsonWriter *w, const char *key, bool value);
void json_write_thousandths(JsonWriter *w, const char *key, uint64_t value); /* 1500 is 1.500 */

/* Writes it all with a newline and frees. */
int json_finish(JsonWriter *w, int fd);
void json_discard(JsonWriter *w); /* writes nothing */
