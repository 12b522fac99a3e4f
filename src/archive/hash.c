#include "archive/hash.h"

#include <nettle/sha2.h>

#include "base/text.h"

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(Hash), "nettle's state has grown");

void hash_begin(Hash *h) {
        sha256_init((struct sha256_ctx *) h);
}

void hash_add(Hash *h, const void *data, size_t size) {
        sha256_update((struct sha256_ctx *) h, size, data);
}

void hash_end(Hash *h, char ret[static HASH_HEX]) {
        uint8_t digest[SHA256_DIGEST_SIZE];

        sha256_digest((struct sha256_ctx *) h, sizeof(digest), digest);
        hex_encode(digest, sizeof(digest), ret);
}
