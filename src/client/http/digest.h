/* digest.h: hashes and base64. The client's only use of nettle. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHA1_SIZE   20
#define SHA256_SIZE 32

void sha1(const void *data, size_t size, uint8_t ret[static SHA1_SIZE]); /* for the WebSocket handshake only */
void sha256(const void *data, size_t size, uint8_t *ret);

#define BASE64_SIZE(n)      (((n) + 2) / 3 * 4) /* letters for n bytes */
#define BASE64_BYTES_MAX(n) ((n) / 4 * 3)       /* bytes in n letters, at most */

/* Adds no NUL. */
void client_base64_encode(const void *data, size_t size, char *ret);

/* The text must have its padding, and no other characters. Returns the number of bytes; -EBADMSG. */
ssize_t base64_decode(const char *text, size_t size, uint8_t *ret);
