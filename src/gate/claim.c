#include "gate/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

int claim_path(const char *socket_path, char ret[static PATH_MAX]) {
        return snprintf(ret, PATH_MAX, "%s" CLAIM_SUFFIX, socket_path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Of the process, not of the open file: only then the kernel tells whose it is. Nobody else in the process may open the file:
 * the first close would end it (of O_PATH it does not). */
static int claim_call(int fd, int what, struct flock *lock) {
        *lock = (struct flock) { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        return fcntl(fd, what, lock) < 0 ? -errno : 0;
}

int claim_take(const char *socket_path, int *ret_fd, Error *reterr) {
        char path[PATH_MAX];
        _cleanup_close_ int fd = -EBADF;
        struct flock lock;
        int r = claim_path(socket_path, path);

        if (r >= 0) {
                fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
                r = fd < 0 ? -errno : claim_call(fd, F_SETLK, &lock);
        }
        if (r == -EAGAIN || r == -EACCES)
                return error_set(reterr, -EADDRINUSE, "another gate serves '%s'", socket_path);
        if (r < 0)
                return error_set(reterr, r, "cannot lock '%s" CLAIM_SUFFIX "': %m", socket_path);
        *ret_fd = TAKE_FD(fd);
        return 0;
}

bool claim_is_held(const char *socket_path, int fd) {
        char path[PATH_MAX];
        struct stat named, ours;

        return claim_path(socket_path, path) >= 0 && fstat(fd, &ours) == 0 && lstat(path, &named) == 0 && named.st_dev == ours.st_dev &&
                        named.st_ino == ours.st_ino;
}

/* 0: nobody that we could see. */
static int claim_holder(int fd, pid_t *ret) {
        struct flock lock;
        int r = claim_call(fd, F_GETLK, &lock);

        *ret = r >= 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
        return r;
}

int claim_find(const char *socket_path, int *ret_pidfd) {
        char path[PATH_MAX];
        _cleanup_close_ int fd = -EBADF, pidfd = -EBADF;
        pid_t before, after;
        int r = claim_path(socket_path, path);

        if (r < 0)
                return r;
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ESRCH : -errno;
        r = claim_holder(fd, &before);
        if (r < 0)
                return r;
        if (before <= 1)
                return -ESRCH;
        pidfd = (int) syscall(SYS_pidfd_open, before, 0);
        if (pidfd < 0)
                return -errno;
        r = claim_holder(fd, &after); /* still the same: so the number was not somebody else's meanwhile */
        if (r < 0)
                return r;
        if (after != before)
                return -ESRCH;
        *ret_pidfd = TAKE_FD(pidfd);
        return 0;
}
