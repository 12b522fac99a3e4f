#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "txn/plan.h"

int beneath_open(int top, const char *path, int flags) {
        const struct open_how how = {
                .flags = (uint64_t) flags | O_CLOEXEC,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
        };
        long fd = syscall(SYS_openat2, top, path[0] ? path : ".", &how, sizeof(how));

        return fd < 0 ? -errno : (int) fd;
}

int beneath_open_parent(int top, const char *path, const char **ret_name) {
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *parent = slash ? strndup(path, (size_t) (slash - path)) : strdup("");

        if (!parent)
                return -ENOMEM;
        *ret_name = slash ? slash + 1 : path;
        return beneath_open(top, parent, O_RDONLY | O_DIRECTORY);
}

/* The owner of a file can always open it after changing its mode. */
static int open_shut(int dirfd, const char *name, const struct stat *st, int flags) {
        int fd, error;

        if (S_ISLNK(st->st_mode) || st->st_uid != geteuid())
                return -EACCES;
        if (fchmodat(dirfd, name, (st->st_mode & 07777) | 0700, 0) < 0)
                return -errno;
        fd = openat(dirfd, name, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        error = errno;
        (void) fchmodat(dirfd, name, st->st_mode & 07777, 0);
        return fd < 0 ? -error : fd;
}

int beneath_read(int dirfd, const char *name) {
        int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;

        if (fd >= 0 || errno != EACCES)
                return fd < 0 ? -errno : fd;
        return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : open_shut(dirfd, name, &st, 0);
}

int beneath_enter(int dirfd, const char *name, mode_t *ret_mode) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        *ret_mode = BENEATH_OPEN;
        if (fd < 0 && errno != EACCES)
                return -errno;
        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (fd < 0) {
                fd = open_shut(dirfd, name, &st, O_DIRECTORY);
                if (fd < 0)
                        return fd;
        }
        if ((st.st_mode & 0500) != 0500 && st.st_uid == geteuid() && geteuid() != 0) {
                if (fchmod(fd, (st.st_mode & 07777) | 0700) < 0)
                        return -errno;
                *ret_mode = st.st_mode & 07777;
        }
        return TAKE_FD(fd);
}

void beneath_leave(int fd, mode_t mode) {
        if (fd >= 0 && mode != BENEATH_OPEN)
                (void) fchmod(fd, mode);
}
