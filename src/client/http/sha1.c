#include "client/http/sha1.h"

#include <nettle/sha1.h>

void sha1(const void *data, size_t size, uint8_t ret[static SHA1_SIZE]) {
        struct sha1_ctx context;

        sha1_init(&context);
        sha1_update(&context, size, data);
        sha1_digest(&context, SHA1_SIZE, ret);
}
