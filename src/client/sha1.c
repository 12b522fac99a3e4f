#include "client/sha1.h"

#include <assert.h>
#include <string.h>

#define BLOCK 64

static uint32_t rotate(uint32_t x, unsigned n) {
        return x << n | x >> (32 - n);
}

static uint32_t load(const uint8_t *p) {
        return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t x) {
        for (int i = 0; i < 4; i++)
                p[i] = (uint8_t) (x >> (24 - 8 * i));
}

/* RFC 3174, section 6.1: four groups of twenty rounds. */
static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d) {
        static const uint32_t constants[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
        unsigned group = round / 20;
        uint32_t f = group == 0 ? (b & c) | (~b & d) : group == 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;

        return f + constants[group];
}

static void digest_block(uint32_t h[static 5], const uint8_t *block) {
        uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

        for (unsigned i = 0; i < 16; i++)
                w[i] = load(block + 4 * i);
        for (unsigned i = 16; i < 80; i++)
                w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        for (unsigned i = 0; i < 80; i++) {
                uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + w[i];

                e = d;
                d = c;
                c = rotate(b, 30);
                b = a;
                a = next;
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
}

void sha1(const void *data, size_t size, uint8_t ret[static SHA1_SIZE]) {
        uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
        uint8_t padded[2 * BLOCK] = { 0 };
        size_t total = size + 9 <= BLOCK ? BLOCK : 2 * BLOCK;

        assert(size <= SHA1_TEXT_MAX);
        memcpy(padded, data, size);
        padded[size] = 0x80;
        store(padded + total - 4, (uint32_t) size * 8);
        for (size_t i = 0; i < total; i += BLOCK)
                digest_block(h, padded + i);
        for (size_t i = 0; i < 5; i++)
                store(ret + 4 * i, h[i]);
}
