/* secret.h: random bytes, hashes, and comparing without telling.
 *
 * The door to libsodium; sealing is vault/seal.h. Must not know: what the secrets are for. */
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

/* SHA-256, at once or piece by piece: where others must be able to compute the same. */
#define SECRET_SHA256_SIZE 32
typedef struct SecretSha256 {
        uint64_t state[13]; /* libsodium's */
} SecretSha256;

void secret_sha256(const void *data, size_t size, uint8_t *ret);
void secret_sha256_begin(SecretSha256 *s);
void secret_sha256_add(SecretSha256 *s, const void *data, size_t size);
void secret_sha256_end(SecretSha256 *s, uint8_t *ret);

/* n bytes as 2n lower-case digits and a NUL. */
void secret_hex(const uint8_t *bytes, size_t n, char *ret);

/* Without padding, and a NUL; url: with - and _. */
#define SECRET_BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1)
void secret_base64(const void *data, size_t size, bool url, char *ret, size_t room);

/* HMAC-SHA256 with a key of any length. */
void secret_hmac_sha256(const void *key, size_t key_size, const void *data, size_t size, uint8_t *ret);

/* In a time that depends on the size only. */
bool secret_equal(const void *a, const void *b, size_t size);

/* Memory that is not swapped out as far as the system lets us, and is in no core dump; freeing wipes it. Whole pages. */
void *secret_alloc(size_t size);
void *secret_free(void *data, size_t size); /* the size of the alloc; NULL is fine */
/* Makes room in such memory for `needed` bytes, and for some more. What is there stays; NULL and 0: nothing. */
int secret_reserve(uint8_t **data, size_t *room, size_t needed);

/* Overwrites, also where the compiler sees no use in it. */
void secret_wipe(void *data, size_t size);

/* A new file for us alone, on disk whole or not at all, whoever dies when: it is NAME.new until it is complete. Wipes the text. */
int secret_write_file(int dirfd, const char *name, char *text, size_t size);
