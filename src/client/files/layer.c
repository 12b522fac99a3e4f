#include "client/files/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/strv.h"
#include "txn/changes.h"

#define MARK        ".wh."
#define MARK_OPAQUE ".wh..wh..opq"
#define NAMES_MAX   (16u << 20)

static int convert_mark(int dirfd, const char *name) {
        const char *hidden = name + strlen(MARK);

        if (unlinkat(dirfd, name, 0) < 0)
                return -errno;
        if (strcmp(name, MARK_OPAQUE) == 0)
                return fsetxattr(dirfd, "user.overlay.opaque", "y", 1, 0) < 0 ? -errno : 0;
        if (hidden[0] == '\0' || strcmp(hidden, ".") == 0 || strcmp(hidden, "..") == 0)
                return -EBADMSG;
        return mknodat(dirfd, hidden, S_IFCHR, makedev(0, 0)) < 0 && errno != EEXIST ? -errno : 0;
}

static int convert(int dirfd, unsigned depth) {
        Strv names = STRV_INIT(NAMES_MAX);
        int r = depth > CHANGES_DEPTH_MAX ? -ELOOP : directory_names(dirfd, &names);

        for (size_t i = 0; i < names.n && r >= 0; i++) {
                _cleanup_close_ int fd = -EBADF;

                if (strncmp(names.items[i], MARK, strlen(MARK)) == 0) {
                        r = convert_mark(dirfd, names.items[i]);
                        continue;
                }
                fd = openat(dirfd, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd >= 0)
                        r = convert(fd, depth + 1);
                else if (errno != ENOTDIR && errno != ELOOP)
                        r = -errno;
        }
        strv_done(&names);
        return r;
}

int layer_to_upper(int upper_fd, Error *reterr) {
        int r = convert(upper_fd, 0);

        return r < 0 ? error_set(reterr, r, "cannot read the sandbox's changes: %m") : 0;
}

int layer_open_part(int upper_fd, const char *path) {
        _cleanup_close_ int fd = openat(upper_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_free_ char *copy = strdup(path);
        char *rest = NULL;

        if (!copy)
                return -ENOMEM;
        if (fd < 0)
                return -errno;
        for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
                int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

                if (next < 0)
                        return -errno;
                (void) fd_close(fd);
                fd = next;
        }
        return TAKE_FD(fd);
}

static int adopt(int dir_fd, int upper_fd, unsigned depth) {
        Strv names = STRV_INIT(NAMES_MAX);
        int r = depth > CHANGES_DEPTH_MAX ? -ELOOP : directory_names(upper_fd, &names);

        for (size_t i = 0; i < names.n && r >= 0; i++) {
                _cleanup_close_ int ours = openat(upper_fd, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                _cleanup_close_ int theirs = ours < 0 ? -EBADF : openat(dir_fd, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                struct stat st;

                if (theirs < 0)
                        continue;
                if (fstat(theirs, &st) < 0 || fchmod(ours, st.st_mode & 07777) < 0)
                        r = -errno;
                else
                        r = adopt(theirs, ours, depth + 1);
        }
        strv_done(&names);
        return r;
}

int layer_adopt_modes(int dir_fd, int upper_fd, Error *reterr) {
        int r = adopt(dir_fd, upper_fd, 0);

        return r < 0 ? error_set(reterr, r, "cannot compare directories: %m") : 0;
}
