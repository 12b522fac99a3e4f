#include "init/file-ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "init/file-place.h"

#define SNAPSHOT_MAX (64 * 1024 * 1024)

bool fd_is_made_up(int fd) {
        static const unsigned long types[] = {
                PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
        };
        struct statfs fs;

        if (fstatfs(fd, &fs) < 0)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if ((unsigned long) fs.f_type == types[i])
                        return true;
        return false;
}

/* /proc/self and similar paths lead to this worker, a fork of PID 1: guests must not see its addresses and names. */
static bool is_about_us(int fd) {
        char link[64], path[256], us[64];
        ssize_t n;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        (void) snprintf(us, sizeof(us), "/proc/%d/", getpid());
        n = readlink(link, path, sizeof(path) - 1);
        if (n < 0)
                return true;
        path[n] = '\0';
        return strncmp(path, us, strlen(us)) == 0;
}

static int snapshot_fill(int from, int to, off_t *ret_size) {
        static char buffer[65536];
        off_t size = 0;

        for (;;) {
                ssize_t n = read(from, buffer, sizeof(buffer));
                int r;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                size += n;
                if (size > SNAPSHOT_MAX)
                        return -EFBIG;
                r = fd_write_all(to, buffer, (size_t) n);
                if (r < 0)
                        return r;
        }
        *ret_size = size;
        return lseek(to, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int snapshot(int *fd, struct stat *st) {
        _cleanup_close_ int copy = -EBADF;
        int r;

        if (is_about_us(*fd))
                return -EACCES;
        copy = memfd_create("cove-file", MFD_CLOEXEC);
        if (copy < 0)
                return -errno;
        r = snapshot_fill(*fd, copy, &st->st_size);
        if (r < 0)
                return r;
        (void) fd_close(*fd);
        *fd = TAKE_FD(copy);
        return 0;
}

int regular_open(int dirfd, const char *name, int flags, struct stat *ret_st, int *ret_fd) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r;

        fd = open_without_magic(dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        r = mode_check_regular(st.st_mode);
        if (r < 0)
                return r;
        if (st.st_blocks == 0 && fd_is_made_up(fd)) {
                r = snapshot(&fd, &st);
                if (r < 0)
                        return r;
        }
        *ret_st = st;
        *ret_fd = TAKE_FD(fd);
        return 0;
}

int regular_open_path(const char *path, struct stat *ret_st, int *ret_fd) {
        struct stat st;
        int r;

        /* The type is checked before opening: an open of a pipe or a device can affect the process at its other end. */
        if (stat(path, &st) < 0)
                return -errno;
        r = mode_check_regular(st.st_mode);
        if (r < 0)
                return r;
        r = regular_open(AT_FDCWD, path, /* flags= */ 0, ret_st, ret_fd);
        return r == -ELOOP ? -EACCES : r; /* not a cycle, since stat() found the file: the path passes through a link in /proc */
}

int op_read(FileJob *job, uint64_t *ret_count) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r = regular_open_path(job->request->path, &st, &fd);

        if (r < 0)
                return r;
        *ret_count = 1;
        return job_send_entry(job, job->request->path, /* target= */ NULL, &st, fd);
}
