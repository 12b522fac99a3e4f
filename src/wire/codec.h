/* codec.h: the byte encoding of all messages: little-endian numbers, strings as length and bytes.
 *
 * A writer or reader that has failed stays failed and does nothing more: the caller puts or gets field by field and
 * checks once, at the end. A reader never reads beyond its bounds, even of hostile bytes.
 * Allocates nothing. Must not know: any message. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WireWriter {
        uint8_t *p, *end;
        bool failed;
} WireWriter;

typedef struct WireReader {
        const uint8_t *p, *end;
        bool failed;
} WireReader;

void wire_put_uint(WireWriter *w, uint64_t value, size_t width);
void wire_put_string(WireWriter *w, const char *text, size_t max); /* up to max - 1 bytes of it, u16 length */
void wire_put_bytes(WireWriter *w, const void *data, size_t size); /* u32 length */

uint64_t wire_get_uint(WireReader *r, size_t width);
void wire_get_string(WireReader *r, char *ret, size_t max);                   /* refuses a NUL inside */
void wire_get_bytes(WireReader *r, const uint8_t **ret, size_t *ret_size);    /* points into the message */

/* All fields were present, and no bytes are left. */
bool wire_reader_at_end(const WireReader *r);
