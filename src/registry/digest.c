#include "registry/digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/text.h"

bool digest_is_prefix(const char *text) {
        static const size_t prefix = sizeof(DIGEST_PREFIX) - 1;

        return strncmp(text, DIGEST_PREFIX, prefix) == 0 && strspn(text + prefix, "0123456789abcdef") >= DIGEST_SIZE - prefix;
}

bool digest_is_valid(const char *text) {
        return digest_is_prefix(text) && text[DIGEST_SIZE] == 0;
}

const char *digest_hex(const Digest *d) {
        return d->text + sizeof(DIGEST_PREFIX) - 1;
}

int hasher_begin(Hasher *h) {
        if (!h->context)
                h->context = EVP_MD_CTX_new();
        return h->context && EVP_DigestInit_ex(h->context, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
}

int hasher_add(Hasher *h, const void *data, size_t size) {
        return EVP_DigestUpdate(h->context, data, size) == 1 ? 0 : -EIO;
}

static int digest_finish(EVP_MD_CTX *context, Digest *ret) {
        unsigned char value[EVP_MAX_MD_SIZE];

        if (EVP_DigestFinal_ex(context, value, NULL) != 1)
                return -EIO;
        memcpy(ret->text, DIGEST_PREFIX, sizeof(DIGEST_PREFIX) - 1);
        hex_encode(value, 32, ret->text + sizeof(DIGEST_PREFIX) - 1);
        return 0;
}

int hasher_digest(const Hasher *h, Digest *ret) {
        EVP_MD_CTX *copy = EVP_MD_CTX_new();
        int r = -ENOMEM;

        if (copy && EVP_MD_CTX_copy_ex(copy, h->context) == 1)
                r = digest_finish(copy, ret);
        EVP_MD_CTX_free(copy);
        return r;
}

void hasher_done(Hasher *h) {
        EVP_MD_CTX_free(h->context);
        h->context = NULL;
}

int digest_of(const void *data, size_t size, Digest *ret) {
        _cleanup_hasher_ Hasher h = { 0 };
        int r = hasher_begin(&h);

        if (r >= 0)
                r = hasher_add(&h, data, size);
        return r < 0 ? r : hasher_digest(&h, ret);
}
