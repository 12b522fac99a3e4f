/* lines.h: lines out of bytes that come in any portions.
 *
 * A line that comes whole is handed on where it lies; only the beginning of one that has no end yet is kept.
 * Must not know: what the lines say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct LineReader {
        int (*line)(void *userdata, const char *line, size_t size); /* without its newline; a negative answer ends the reading with it */
        void *userdata;
        size_t max; /* bytes of a line; a longer one is -EFBIG */
        char *kept;
        size_t size, room;
} LineReader;

void line_reader_done(LineReader *r);
#define _cleanup_lines_ _cleanup_(line_reader_done)

/* An HttpBody with a LineReader. */
int line_reader_feed(void *reader, const void *data, size_t size);

/* What is left behind the last newline, as a line; nothing: none. */
int line_reader_end(LineReader *r);
