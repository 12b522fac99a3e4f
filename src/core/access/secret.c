#include "core/secret.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"

#define RANDOM_MAX  64
#define RESERVE_MIN 4096

int secret_init(void) {
        return sodium_init() < 0 ? -ENOSYS : 0;
}

void secret_random_hex(char *ret, size_t n) {
        uint8_t bytes[RANDOM_MAX];

        assert(n % 2 == 0 && n / 2 <= sizeof(bytes));

        randombytes_buf(bytes, n / 2); /* ends the process rather than return predictable bytes */
        (void) sodium_bin2hex(ret, n + 1, bytes, n / 2);
        sodium_memzero(bytes, sizeof(bytes));
}

void secret_hash(const void *data, size_t size, uint8_t ret[static SECRET_HASH_SIZE]) {
        _Static_assert(SECRET_HASH_SIZE == crypto_generichash_BYTES, "not the hash we mean");

        (void) crypto_generichash(ret, SECRET_HASH_SIZE, data, size, NULL, 0);
}

_Static_assert(sizeof(SecretSha256) >= sizeof(crypto_hash_sha256_state), "libsodium's state has grown");
_Static_assert(SECRET_SHA256_SIZE == crypto_hash_sha256_BYTES, "not the hash we mean");

void secret_sha256(const void *data, size_t size, uint8_t *ret) {
        (void) crypto_hash_sha256(ret, data, size);
}

void secret_sha256_begin(SecretSha256 *s) {
        (void) crypto_hash_sha256_init((crypto_hash_sha256_state *) (void *) s);
}

void secret_sha256_add(SecretSha256 *s, const void *data, size_t size) {
        (void) crypto_hash_sha256_update((crypto_hash_sha256_state *) (void *) s, data, size);
}

void secret_sha256_end(SecretSha256 *s, uint8_t *ret) {
        (void) crypto_hash_sha256_final((crypto_hash_sha256_state *) (void *) s, ret);
}

void secret_hmac_sha256(const void *key, size_t key_size, const void *data, size_t size, uint8_t *ret) {
        crypto_auth_hmacsha256_state state;

        _Static_assert(SECRET_SHA256_SIZE == crypto_auth_hmacsha256_BYTES, "not the hash we mean");
        (void) crypto_auth_hmacsha256_init(&state, key, key_size);
        (void) crypto_auth_hmacsha256_update(&state, data, size);
        (void) crypto_auth_hmacsha256_final(&state, ret);
        sodium_memzero(&state, sizeof(state));
}

void secret_hex(const uint8_t *bytes, size_t n, char *ret) {
        (void) sodium_bin2hex(ret, 2 * n + 1, bytes, n);
}

void secret_base64(const void *data, size_t size, bool url, char *ret, size_t room) {
        (void) sodium_bin2base64(ret, room, data, size, url ? sodium_base64_VARIANT_URLSAFE_NO_PADDING : sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
}

bool secret_equal(const void *a, const void *b, size_t size) {
        return sodium_memcmp(a, b, size) == 0;
}

void secret_wipe(void *data, size_t size) {
        sodium_memzero(data, size);
}

/* Returns a mapping of its own, so that locking and unlocking affect no other data. */
void *secret_alloc(size_t size) {
        void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (data == MAP_FAILED)
                return NULL;
        (void) sodium_mlock(data, size); /* beyond RLIMIT_MEMLOCK it can be swapped, ignoring */
        return data;
}

void *secret_free(void *data, size_t size) {
        if (data) {
                (void) sodium_munlock(data, size); /* wipes */
                sodium_memzero(data, size);
                (void) munmap(data, size);
        }
        return NULL;
}

int secret_reserve(uint8_t **data, size_t *room, size_t needed) {
        size_t more = MAX_OF(*room, (size_t) RESERVE_MIN);
        uint8_t *bytes;

        if (needed <= *room)
                return 0;
        while (more < needed)
                more *= 2;
        bytes = secret_alloc(more);
        if (!bytes)
                return -ENOMEM;
        if (*data)
                memcpy(bytes, *data, *room);
        secret_free(*data, *room);
        *data = bytes;
        *room = more;
        return 0;
}

/* An existing file was left by a process that ended in the middle of this, and was never used. */
static int secret_write_fresh(int dirfd, const char *name, const char *text, size_t size) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (unlinkat(dirfd, name, 0) < 0 && errno != ENOENT)
                return -errno;
        fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        r = fd_write_all(fd, text, size);
        return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

int secret_write_file(int dirfd, const char *name, char *text, size_t size) {
        char fresh[256];
        int r;

        (void) snprintf(fresh, sizeof(fresh), "%s.new", name);
        r = secret_write_fresh(dirfd, fresh, text, size);
        secret_wipe(text, size);
        if (r < 0)
                return r;
        if (renameat(dirfd, fresh, dirfd, name) < 0)
                return -errno;
        return fsync(dirfd) < 0 ? -errno : 0;
}

/* -ENOENT: there is no file. */
static int secret_read_key(int dirfd, const char *name, const char *loss, uint8_t *ret, Error *reterr) {
        char text[2 * SECRET_KEY_SIZE + 2];
        ssize_t n = file_read(dirfd, name, text, sizeof(text));
        size_t size = 0;
        int r = 0;

        if (n == -ENOENT)
                return -ENOENT;
        if (n < 0 && n != -EFBIG)
                return error_set(reterr, (int) n, "cannot read '%s': %m", name);
        if (n > 0 && text[n - 1] == '\n')
                n--;
        if (n != 2 * SECRET_KEY_SIZE || sodium_hex2bin(ret, SECRET_KEY_SIZE, text, (size_t) n, NULL, &size, NULL) < 0 || size != SECRET_KEY_SIZE)
                r = error_set(reterr, -EBADMSG, "there is no key in '%s': put the right file back, or remove it to get another key (%s)", name, loss);
        secret_wipe(text, sizeof(text));
        return r;
}

static int secret_make_key(int dirfd, const char *name, Error *reterr) {
        char text[2 * SECRET_KEY_SIZE + 2];
        int r;

        secret_random_hex(text, 2 * SECRET_KEY_SIZE);
        text[2 * SECRET_KEY_SIZE] = '\n';
        r = secret_write_file(dirfd, name, text, 2 * SECRET_KEY_SIZE + 1);
        return r < 0 ? error_set(reterr, r, "cannot write '%s': %m", name) : 0;
}

int secret_load_key(int dirfd, const char *name, const char *loss, uint8_t ret[static SECRET_KEY_SIZE], Error *reterr) {
        int r = secret_read_key(dirfd, name, loss, ret, reterr);

        if (r != -ENOENT)
                return r;
        r = secret_make_key(dirfd, name, reterr);
        return r < 0 ? r : secret_read_key(dirfd, name, loss, ret, reterr);
}
