#include "wire/codec.h"

#include <string.h>

/* Checks for room for `width` or `size` bytes; if there is none, the writer fails. */
static bool writer_has(WireWriter *w, size_t size) {
        if (!w->failed && (size_t) (w->end - w->p) < size)
                w->failed = true;
        return !w->failed;
}

static bool reader_has(WireReader *r, size_t size) {
        if (!r->failed && (size_t) (r->end - r->p) < size)
                r->failed = true;
        return !r->failed;
}

void wire_put_uint(WireWriter *w, uint64_t value, size_t width) {
        if (!writer_has(w, width))
                return;
        for (size_t i = 0; i < width; i++)
                *w->p++ = (uint8_t) (value >> (8 * i));
}

static void put_raw(WireWriter *w, const void *data, size_t size) {
        if (!writer_has(w, size))
                return;
        if (size > 0)
                memcpy(w->p, data, size);
        w->p += size;
}

void wire_put_string(WireWriter *w, const char *text, size_t max) {
        size_t n = strnlen(text, max - 1);

        if (n > UINT16_MAX)
                w->failed = true;
        wire_put_uint(w, n, 2);
        put_raw(w, text, n);
}

void wire_put_bytes(WireWriter *w, const void *data, size_t size) {
        if (size > UINT32_MAX)
                w->failed = true;
        wire_put_uint(w, size, 4);
        put_raw(w, data, size);
}

uint64_t wire_get_uint(WireReader *r, size_t width) {
        uint64_t value = 0;

        if (!reader_has(r, width))
                return 0;
        for (size_t i = 0; i < width; i++)
                value |= (uint64_t) *r->p++ << (8 * i);
        return value;
}

void wire_get_string(WireReader *r, char *ret, size_t max) {
        size_t n = (size_t) wire_get_uint(r, 2);

        if (!reader_has(r, n))
                return;
        if (n >= max || memchr(r->p, 0, n)) {
                r->failed = true;
                return;
        }
        memcpy(ret, r->p, n);
        ret[n] = '\0';
        r->p += n;
}

void wire_get_bytes(WireReader *r, const uint8_t **ret, size_t *ret_size) {
        size_t n = (size_t) wire_get_uint(r, 4);

        if (!reader_has(r, n))
                return;
        *ret = r->p;
        *ret_size = n;
        r->p += n;
}

bool wire_reader_at_end(const WireReader *r) {
        return !r->failed && r->p == r->end;
}
