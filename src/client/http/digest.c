#include "client/http/digest.h"

#include <errno.h>
#include <nettle/base64.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>

void sha1(const void *data, size_t size, uint8_t ret[static SHA1_SIZE]) {
        struct sha1_ctx context;

        sha1_init(&context);
        sha1_update(&context, size, data);
        sha1_digest(&context, SHA1_SIZE, ret);
}

void sha256(const void *data, size_t size, uint8_t *ret) {
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, size, data);
        sha256_digest(&context, SHA256_SIZE, ret);
}

void client_base64_encode(const void *data, size_t size, char *ret) {
        base64_encode_raw(ret, size, data);
}

/* nettle skips blanks: a text with blanks has fewer bytes than its length tells. */
ssize_t base64_decode(const char *text, size_t size, uint8_t *ret) {
        struct base64_decode_ctx context;
        size_t n = BASE64_BYTES_MAX(size), padding = 0;

        while (padding < 2 && padding < size && text[size - padding - 1] == '=')
                padding++;
        base64_decode_init(&context);
        if (size % 4 != 0 || !base64_decode_update(&context, &n, ret, size, text) || !base64_decode_final(&context) || n != BASE64_BYTES_MAX(size) - padding)
                return -EBADMSG;
        return (ssize_t) n;
}
