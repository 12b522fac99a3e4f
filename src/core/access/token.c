#include "core/access/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/access.h"
#include "core/secret.h"

#define PREFIX CREDENTIAL_ADMIN

static int token_make(int dirfd) {
        char text[TOKEN_LENGTH + 2] = PREFIX;

        secret_random_hex(text + strlen(PREFIX), TOKEN_LENGTH - strlen(PREFIX));
        text[TOKEN_LENGTH] = '\n';
        return secret_write_file(dirfd, TOKEN_FILE, text, TOKEN_LENGTH + 1);
}

static int token_check_file(int fd, const char *directory, Error *reterr) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "cannot look at '%s/" TOKEN_FILE "': %m", directory);
        if (!S_ISREG(st.st_mode))
                return error_set(reterr, -EPERM,
                                "'%s/" TOKEN_FILE "' is not a plain file: remove it, and one is made at the next start",
                                directory);
        if (st.st_uid != geteuid())
                return error_set(reterr, -EPERM,
                                "'%s/" TOKEN_FILE "' belongs to user %u and not to user %u, who runs this: chown %u it, or "
                                "remove it, and one is made at the next start",
                                directory, st.st_uid, geteuid(), geteuid());
        if (st.st_mode & 077)
                return error_set(reterr, -EPERM,
                                "'%s/" TOKEN_FILE "' can be reached by others (mode %04o): it may be known; remove it, and "
                                "one is made at the next start, or chmod 600 it",
                                directory, st.st_mode & 07777);
        return 0;
}

static bool token_is(const char *text) {
        size_t prefix = strlen(PREFIX);

        return strncmp(text, PREFIX, prefix) == 0 && strspn(text + prefix, "0123456789abcdef") == TOKEN_LENGTH - prefix &&
               strlen(text) == TOKEN_LENGTH;
}

static int token_read(int fd, const char *directory, char ret[static TOKEN_LENGTH + 1], Error *reterr) {
        char text[TOKEN_LENGTH + 3];
        ssize_t n;
        bool good;

        n = fd_read_full(fd, text, sizeof(text) - 1);
        if (n < 0)
                return error_set(reterr, (int) n, "cannot read '%s/" TOKEN_FILE "': %m", directory);
        text[n] = '\0';
        if (n > 0 && text[n - 1] == '\n')
                text[n - 1] = '\0';
        good = token_is(text);
        if (good)
                memcpy(ret, text, TOKEN_LENGTH + 1);
        secret_wipe(text, sizeof(text));
        if (!good)
                return error_set(reterr, -EBADMSG,
                                "'%s/" TOKEN_FILE "' has no token in it (" PREFIX " and 48 hexadecimal digits): remove it, "
                                "and one is made at the next start",
                                directory);
        return 0;
}

int token_load(const char *directory, char ret[static TOKEN_LENGTH + 1], Error *reterr) {
        _cleanup_close_ int dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -EBADF;
        int r;

        if (dirfd < 0)
                return error_set(reterr, -errno, "cannot open '%s': %m", directory);
        fd = openat(dirfd, TOKEN_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                r = token_make(dirfd);
                if (r < 0)
                        return error_set(reterr, r, "cannot make '%s/" TOKEN_FILE "': %m", directory);
                fd = openat(dirfd, TOKEN_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        }
        if (fd < 0)
                return error_set(reterr, -errno, "cannot open '%s/" TOKEN_FILE "': %m", directory);

        r = token_check_file(fd, directory, reterr);
        if (r < 0)
                return r;
        return token_read(fd, directory, ret, reterr);
}
