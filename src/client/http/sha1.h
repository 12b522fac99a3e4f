/* sha1.h: the hash that the WebSocket handshake asks for. It proves nothing, and is used for nothing else. The door to nettle. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA1_SIZE 20

void sha1(const void *data, size_t size, uint8_t ret[static SHA1_SIZE]);
