/* digest.h: SHA-256 of streams, in the notation of images. The only door to OpenSSL in this room. */
#pragma once

#include <stddef.h>

#define DIGEST_TEXT_SIZE sizeof("sha256:0123456789012345678901234567890123456789012345678901234567890123")

typedef struct TreeDigest TreeDigest;

/* Call it once at the start, while files can still be opened. */
int digest_prepare(void);

TreeDigest *digest_new(void); /* NULL: out of memory */
TreeDigest *digest_free(TreeDigest *d);
int digest_add(TreeDigest *d, const void *data, size_t size);
int digest_end(TreeDigest *d, char ret[static DIGEST_TEXT_SIZE]);
