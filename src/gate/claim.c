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

/* The lock belongs to the process, not to the open file: only then the kernel reports the holder. No other
 * code of the process may open the file: the first close of any descriptor would release the lock (a close
 * of an O_PATH descriptor does not). */
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

/* *ret is 0 if no process that is visible from here holds the lock. */
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
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* the open of a pipe would wait */
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
        r = claim_holder(fd, &after); /* still the same: the PID was not reused meanwhile */
        if (r < 0)
                return r;
        if (after != before)
                return -ESRCH;
        *ret_pidfd = TAKE_FD(pidfd);
        return 0;
}
