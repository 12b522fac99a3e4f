/* seal.h: authenticated encryption of values: only the owner of the key can read a sealed value, and a change or a move
 * to another place is detected.
 *
 * XChaCha20-Poly1305 with a random nonce in front: 192 bits are enough for a random nonce per message. The place that a
 * value belongs to is its additional data, so a sealed value that was moved elsewhere does not open. The key lies in
 * locked memory.
 * The second interface to libsodium, beside core/secret.h. Must not know: where keys come from, what is sealed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_SIZE 32
#define SEAL_EXTRA    40 /* nonce and tag: a sealed value is longer by this many bytes */

/* The place that a value belongs to: three words, encoded so that no word can be mistaken for a part of another. */
typedef struct SealPlace {
        const char *kind, *owner, *name;
} SealPlace;

/* ret has room for size + SEAL_EXTRA bytes. */
void seal_close(const uint8_t key[static SEAL_KEY_SIZE], const SealPlace *place, const void *data, size_t size, uint8_t *ret);
/* ret has room for size - SEAL_EXTRA bytes; untouched or wiped on failure. -EBADMSG: another key, another place, or a
 * changed value. */
int seal_open(const uint8_t key[static SEAL_KEY_SIZE], const SealPlace *place, const uint8_t *sealed, size_t size, void *ret);

void seal_make_key(uint8_t ret[static SEAL_KEY_SIZE]);
/* The key as 64 hexadecimal digits and a NUL; and back, or -EINVAL. */
void seal_print_key(const uint8_t key[static SEAL_KEY_SIZE], char ret[static 2 * SEAL_KEY_SIZE + 1]);
int seal_parse_key(const char *text, size_t size, uint8_t ret[static SEAL_KEY_SIZE]);
