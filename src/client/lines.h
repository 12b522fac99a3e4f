/* lines.h: splits bytes that arrive in any portions into lines.
 *
 * A line that arrives whole is passed on in place; only an incomplete line is copied.
 * Must not know: what the lines say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct LineReader {
        int (*line)(void *userdata, const char *line, size_t size); /* without its newline; a negative result ends the reading */
        void *userdata;
        size_t max; /* limit for a line, in bytes; a longer one is -EFBIG */
        char *kept;
        size_t size, room;
} LineReader;

void line_reader_done(LineReader *r);
#define _cleanup_lines_ _cleanup_(line_reader_done)

/* An HttpBody for a LineReader. */
int line_reader_feed(void *reader, const void *data, size_t size);

/* Passes on the text after the last newline as a line, unless it is empty. */
int line_reader_end(LineReader *r);
