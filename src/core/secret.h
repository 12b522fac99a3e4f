/* secret.h: random bytes, hashes, and comparison in constant time.
 *
 * The interface to libsodium; sealing is in vault/seal.h. Must not know: what the secrets are for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SECRET_HASH_SIZE 32

int secret_init(void); /* once, before the others; -ENOSYS: no random source */

/* n lower-case hexadecimal digits (an even number) and a NUL, four random bits in each. */
void secret_random_hex(char *ret, size_t n);

/* BLAKE2b-256. */
void secret_hash(const void *data, size_t size, uint8_t ret[static SECRET_HASH_SIZE]);

/* SHA-256, at once or piece by piece: for hashes that other programs must be able to compute. */
#define SECRET_SHA256_SIZE 32
typedef struct SecretSha256 {
        uint64_t state[13]; /* libsodium's state */
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

/* In constant time: it depends on the size only. */
bool secret_equal(const void *a, const void *b, size_t size);

/* Memory that is locked, as far as the system permits, and in no core dump; freeing wipes it. Whole pages. */
void *secret_alloc(size_t size);
void *secret_free(void *data, size_t size); /* the size of the alloc; NULL is fine */
/* Grows such memory to `needed` bytes or more, and keeps its contents. *data NULL and *room 0: empty. */
int secret_reserve(uint8_t **data, size_t *room, size_t needed);

/* Overwrites the bytes; the compiler cannot remove this. */
void secret_wipe(void *data, size_t size);

/* Creates a file that only its owner can access, complete or not at all, also if the daemon or the machine dies
 * meanwhile: it is NAME.new until it is complete. Wipes the text. */
int secret_write_file(int dirfd, const char *name, char *text, size_t size);

/* Reads a key from a file of 64 hexadecimal digits, which is made if it is missing. An invalid file is not replaced:
 * `loss` says in the error what ends with another key. */
#define SECRET_KEY_SIZE 32
int secret_load_key(int dirfd, const char *name, const char *loss, uint8_t ret[static SECRET_KEY_SIZE], Error *reterr);
