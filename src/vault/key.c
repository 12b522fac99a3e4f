/* key.c: reads the key. Every error says what to do. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/secret.h"
#include "vault/internal.h"

/* 64 hexadecimal digits, with or without a newline, or 32 raw bytes. */
static int key_parse(char *text, size_t size, uint8_t *ret) {
        if (size == SEAL_KEY_SIZE) {
                memcpy(ret, text, SEAL_KEY_SIZE);
                return 0;
        }
        if (size == 2 * SEAL_KEY_SIZE + 1 && text[size - 1] == '\n')
                size--;
        return seal_parse_key(text, size, ret);
}

static int key_read(int fd, uint8_t *ret) {
        char text[2 * SEAL_KEY_SIZE + 2];
        ssize_t n = fd_read_full(fd, text, sizeof(text));
        int r = n < 0 ? (int) n : key_parse(text, (size_t) n, ret);

        secret_wipe(text, sizeof(text));
        return r;
}

int key_read_fd(int fd, uint8_t *ret, Error *reterr) {
        int r = key_read(fd, ret);

        if (r == -EINVAL)
                return error_set(reterr, -EBADMSG, "--secret-key-fd %d has no key in it: 64 hexadecimal digits, or 32 bytes, are wanted", fd);
        return r < 0 ? error_set(reterr, r, "cannot read --secret-key-fd %d: %m", fd) : 0;
}

/* On disk before any secret is sealed with it. */
static int key_make_file(int dirfd) {
        uint8_t key[SEAL_KEY_SIZE];
        char text[2 * SEAL_KEY_SIZE + 2];

        seal_make_key(key);
        seal_print_key(key, text);
        secret_wipe(key, sizeof(key));
        text[2 * SEAL_KEY_SIZE] = '\n';
        return secret_write_file(dirfd, VAULT_KEY_FILE, text, 2 * SEAL_KEY_SIZE + 1);
}

static int key_check_file(int fd, const char *directory, Error *reterr) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "cannot look at '%s/" VAULT_KEY_FILE "': %m", directory);
        if (!S_ISREG(st.st_mode))
                return error_set(reterr, -EPERM, "'%s/" VAULT_KEY_FILE "' is not a plain file: put the key there, or pass it by --secret-key-fd",
                                directory);
        if (st.st_uid != geteuid())
                return error_set(reterr, -EPERM, "'%s/" VAULT_KEY_FILE "' belongs to user %u and not to user %u, who runs this: chown %u it",
                                directory, st.st_uid, geteuid(), geteuid());
        if (st.st_mode & 077)
                return error_set(reterr, -EPERM,
                                "'%s/" VAULT_KEY_FILE "' can be reached by others (mode %04o): chmod 600 it, and start again; if somebody may have "
                                "read it, set all secrets anew with another key (`cove secret rm --all`)",
                                directory, st.st_mode & 07777);
        return 0;
}

int key_read_file(const char *directory, bool make, uint8_t *ret, Error *reterr) {
        _cleanup_close_ int dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -EBADF;
        int r;

        if (dirfd < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", directory);
        fd = openat(dirfd, VAULT_KEY_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (!make)
                        return error_set(reterr, -ENOENT,
                                        "'%s/" VAULT_KEY_FILE "' is missing, and there are secrets that were sealed with it: put it back and start "
                                        "again, pass the key by --secret-key-fd, or give all secrets up with `cove secret rm --all`",
                                        directory);
                r = key_make_file(dirfd);
                if (r < 0)
                        return error_set(reterr, r, "cannot make '%s/" VAULT_KEY_FILE "': %m", directory);
                fd = openat(dirfd, VAULT_KEY_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        }
        if (fd < 0 && errno == EACCES)
                return error_set(reterr, -EACCES, "'%s/" VAULT_KEY_FILE "' cannot be read by user %u, who runs this: chown %u it, and start again", directory,
                                geteuid(), geteuid());
        if (fd < 0)
                return error_set(reterr, -errno, "cannot open '%s/" VAULT_KEY_FILE "': %m", directory);
        r = key_check_file(fd, directory, reterr);
        if (r < 0)
                return r;
        r = key_read(fd, ret);
        if (r == -EINVAL)
                return error_set(reterr, -EBADMSG,
                                "'%s/" VAULT_KEY_FILE "' has no key in it (64 hexadecimal digits): put the right one there and start again, or remove "
                                "the file and give all secrets up with `cove secret rm --all`",
                                directory);
        return r < 0 ? error_set(reterr, r, "cannot read '%s/" VAULT_KEY_FILE "': %m", directory) : 0;
}
