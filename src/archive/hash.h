/* hash.h: SHA-256 of a stream. The door to nettle, which libarchive brings along anyway. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_HEX 65 /* with the NUL */

typedef struct Hash {
        uint64_t state[16]; /* nettle's */
} Hash;

void hash_begin(Hash *h);
void hash_add(Hash *h, const void *data, size_t size);
void hash_end(Hash *h, char ret[static HASH_HEX]);
