#include "tree/digest.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static EVP_MD *sha256;

struct TreeDigest {
        EVP_MD_CTX *context;
};

int digest_prepare(void) {
        if (sha256)
                return 0;
        if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
                return -ENOMEM;
        sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
        return sha256 ? 0 : -EOPNOTSUPP;
}

TreeDigest *digest_new(void) {
        TreeDigest *d = calloc(1, sizeof(*d));

        if (!d)
                return NULL;
        d->context = EVP_MD_CTX_new();
        if (!d->context || EVP_DigestInit_ex2(d->context, sha256, NULL) != 1)
                return digest_free(d);
        return d;
}

TreeDigest *digest_free(TreeDigest *d) {
        if (!d)
                return NULL;
        EVP_MD_CTX_free(d->context);
        free(d);
        return NULL;
}

int digest_add(TreeDigest *d, const void *data, size_t size) {
        return EVP_DigestUpdate(d->context, data, size) == 1 ? 0 : -EIO;
}

int digest_end(TreeDigest *d, char ret[static DIGEST_TEXT_SIZE]) {
        unsigned char sum[EVP_MAX_MD_SIZE];
        unsigned n;

        if (EVP_DigestFinal_ex(d->context, sum, &n) != 1 || n != 32)
                return -EIO;
        (void) strcpy(ret, "sha256:");
        hex_encode(sum, n, ret + 7);
        return 0;
}
