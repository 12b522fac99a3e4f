#include "client/http/sha256.h"

#include <nettle/sha2.h>

void sha256(const void *data, size_t size, uint8_t *ret) {
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, size, data);
        sha256_digest(&context, SHA256_SIZE, ret);
}
