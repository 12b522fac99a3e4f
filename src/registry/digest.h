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

/* Small letters only, as the specification has it. */
bool digest_is_valid(const char *text);
/* The same for its beginning; what follows is the caller's. */
bool digest_is_prefix(const char *text);
const char *digest_hex(const Digest *d);

typedef struct Hasher {
        void *context; /* NULL: nothing there */
} Hasher;

int hasher_begin(Hasher *h); /* also: anew */
int hasher_add(Hasher *h, const void *data, size_t size);
/* What came so far; more can follow. */
int hasher_digest(const Hasher *h, Digest *ret);
void hasher_done(Hasher *h);
#define _cleanup_hasher_ _cleanup_(hasher_done)

int digest_of(const void *data, size_t size, Digest *ret);
