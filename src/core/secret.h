/* secret.h: random bytes, hashes, and comparing without telling.
 *
 * The one door to libsodium. Must not know: what the secrets are for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_HASH_SIZE 32

int secret_init(void); /* once, before the others; -ENOSYS: no random source */

/* n lower-case hexadecimal digits (an even number) and a NUL, four random bits in each. */
void secret_random_hex(char *ret, size_t n);

/* BLAKE2b-256. */
void secret_hash(const void *data, size_t size, uint8_t ret[static SECRET_HASH_SIZE]);

/* In a time that depends on the size only. */
bool secret_equal(const void *a, const void *b, size_t size);

/* Overwrites, also where the compiler sees no use in it. */
void secret_wipe(void *data, size_t size);
