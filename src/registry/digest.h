/* digest.h: SHA-256, and digests as OCI writes them: "sha256:" and 64 hexadecimal digits.
 *
 * The only door to OpenSSL here. Must not know: files, registries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macro.h"

#define DIGEST_PREFIX "sha256:"
#define DIGEST_SIZE   (sizeof(DIGEST_PREFIX) - 1 + 64) /* in characters, without the NUL */

typedef struct Digest {
        char text[DIGEST_SIZE + 1];
} Digest;

/* Only lower-case hex, as the specification demands. */
bool digest_is_valid(const char *text);
/* As above, for the beginning of `text`; the caller checks what follows. */
bool digest_is_prefix(const char *text);
const char *digest_hex(const Digest *d);

typedef struct Hasher {
        void *context; /* NULL: not begun */
} Hasher;

int hasher_begin(Hasher *h); /* may be called again to start over */
int hasher_add(Hasher *h, const void *data, size_t size);
/* The digest of the bytes so far; more may follow. */
int hasher_digest(const Hasher *h, Digest *ret);
void hasher_done(Hasher *h);
#define _cleanup_hasher_ _cleanup_(hasher_done)

int digest_of(const void *data, size_t size, Digest *ret);
