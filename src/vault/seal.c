#include "vault/seal.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#define NONCE_SIZE crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_SIZE   crypto_aead_xchacha20poly1305_ietf_ABYTES

_Static_assert(SEAL_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "not the cipher we mean");
_Static_assert(SEAL_EXTRA == NONCE_SIZE + TAG_SIZE, "not the cipher we mean");

/* A hash of the words, each with its final NUL. Its size does not depend on them. */
static void hash_place(const SealPlace *place, uint8_t ret[static crypto_generichash_BYTES]) {
        const char *const words[] = { "cove-vault-1", place->kind, place->owner, place->name };
        crypto_generichash_state state;

        (void) crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES);
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                (void) crypto_generichash_update(&state, (const uint8_t *) words[i], strlen(words[i]) + 1);
        (void) crypto_generichash_final(&state, ret, crypto_generichash_BYTES);
}

void seal_close(const uint8_t key[static SEAL_KEY_SIZE], const SealPlace *place, const void *data, size_t size, uint8_t *ret) {
        uint8_t about[crypto_generichash_BYTES];

        hash_place(place, about);
        randombytes_buf(ret, NONCE_SIZE);
        (void) crypto_aead_xchacha20poly1305_ietf_encrypt(ret + NONCE_SIZE, NULL, data, size, about, sizeof(about), NULL, ret, key);
}

int seal_open(const uint8_t key[static SEAL_KEY_SIZE], const SealPlace *place, const uint8_t *sealed, size_t size, void *ret) {
        uint8_t about[crypto_generichash_BYTES];

        if (size < SEAL_EXTRA)
                return -EBADMSG;
        hash_place(place, about);
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(ret, NULL, NULL, sealed + NONCE_SIZE, size - NONCE_SIZE, about, sizeof(about),
                            sealed, key) != 0)
                return -EBADMSG;
        return 0;
}

void seal_make_key(uint8_t ret[static SEAL_KEY_SIZE]) {
        crypto_aead_xchacha20poly1305_ietf_keygen(ret);
}

void seal_print_key(const uint8_t key[static SEAL_KEY_SIZE], char ret[static 2 * SEAL_KEY_SIZE + 1]) {
        (void) sodium_bin2hex(ret, 2 * SEAL_KEY_SIZE + 1, key, SEAL_KEY_SIZE);
}

int seal_parse_key(const char *text, size_t size, uint8_t ret[static SEAL_KEY_SIZE]) {
        const char *end;
        size_t n;

        if (size != 2 * SEAL_KEY_SIZE || sodium_hex2bin(ret, SEAL_KEY_SIZE, text, size, NULL, &n, &end) != 0 || n != SEAL_KEY_SIZE ||
                        end != text + size) {
                sodium_memzero(ret, SEAL_KEY_SIZE);
                return -EINVAL;
        }
        return 0;
}
