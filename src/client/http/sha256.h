/* sha256.h: the hash of the audit log's chain. Nettle's, as sha1.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32

void sha256(const void *data, size_t size, uint8_t *ret);
