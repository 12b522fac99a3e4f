/* digest.h: hashes, and bytes as letters and back. The client's door to nettle. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHA1_SIZE   20
#define SHA256_SIZE 32

void sha1(const void *data, size_t size, uint8_t ret[static SHA1_SIZE]); /* for the WebSocket handshake: it proves nothing */
void sha256(const void *data, size_t size, uint8_t *ret);

#define BASE64_SIZE(n)      (((n) + 2) / 3 * 4) /* letters for n bytes */
#define BASE64_BYTES_MAX(n) ((n) / 4 * 3)       /* bytes in n letters, at most */

/* Without a NUL. */
void client_base64_encode(const void *data, size_t size, char *ret);

/* With its padding, and nothing else in it. Returns the bytes; -EBADMSG. */
ssize_t base64_decode(const char *text, size_t size, uint8_t *ret);
