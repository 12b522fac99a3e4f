#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "txn/plan.h"

/* The path of a staged directory relative to the requested one, for messages. */
typedef struct StagePlace {
        char path[PATH_MAX];
        size_t length;
        unsigned depth;
} StagePlace;

static int stage_fail(const Stage *s, int error, const StagePlace *at) {
        return error_set(s->reterr, error, "cannot copy '%s': %m", at->path);
}

static mode_t stage_mode_of(const Stage *s, mode_t mode) {
        return mode & (s->o->allow_setuid ? 07777 : 01777);
}

/* Holes stay holes: a guest can make files of any size that hold no data. */
static int copy_data(int from, int to, off_t size) {
        off_t at = 0;

        if (ftruncate(to, size) < 0)
                return -errno;
        while (at < size) {
                off_t data = lseek(from, at, SEEK_DATA), end;

                if (data < 0)
                        return errno == ENXIO ? 0 : -errno;
                end = lseek(from, data, SEEK_HOLE);
                if (end < 0)
                        end = size;
                while (data < end) {
                        off_t out = data;
                        ssize_t n = copy_file_range(from, &data, to, &out, (size_t) (end - data), 0);

                        if (n > 0)
                                continue;
                        if (n == 0)
                                return 0; /* shorter than it was */
                        if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
                                return -errno;
                        if (lseek(from, data, SEEK_SET) < 0 || lseek(to, data, SEEK_SET) < 0)
                                return -errno;
                        return fd_copy(from, to); /* copies the rest as it is */
                }
                at = end;
        }
        return 0;
}

static int set_file(const Stage *s, int fd, const struct stat *st) {
        const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };

        if (s->chown && fchown(fd, s->uid, s->gid) < 0)
                return -errno;
        if (fchmod(fd, stage_mode_of(s, st->st_mode)) < 0)
                return -errno;
        (void) futimens(fd, times);
        return 0;
}

static int stage_copy_file(Stage *s, int from_dir, const char *from_name, const struct stat *st, int to_dir, const char *to_name) {
        _cleanup_close_ int from = beneath_read(from_dir, from_name), to = -EBADF;
        struct stat now;
        int r;

        if (from < 0)
                return from;
        if (fstat(from, &now) < 0)
                return -errno;
        if (!S_ISREG(now.st_mode))
                return -ESTALE;
        to = openat(to_dir, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (to < 0)
                return -errno;
        r = copy_data(from, to, now.st_size);
        return r < 0 ? r : set_file(s, to, st);
}

static int copy_link(Stage *s, int from_dir, const char *from_name, int to_dir, const char *to_name) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(from_dir, from_name, target, sizeof(target) - 1);

        if (n < 0)
                return -errno;
        target[n] = '\0';
        if (symlinkat(target, to_dir, to_name) < 0)
                return -errno;
        if (s->chown && fchownat(to_dir, to_name, s->uid, s->gid, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        return 0;
}

static int copy_entry(Stage *s, StagePlace *at, int from_dir, const char *from_name, const struct stat *st, int to_dir, const char *to_name);

static void stage_leave_out(Stage *s, const StagePlace *at) {
        s->left_out++;
        if (s->o->left_out)
                s->o->left_out(at->path, "is neither a file nor a directory nor a link", s->o->userdata);
}

static int copy_entries(Stage *s, StagePlace *at, DIR *from, int to) {
        size_t length = at->length;
        const struct dirent *entry;
        int r = 0;

        while (r >= 0 && (entry = directory_next(from))) {
                struct stat st;

                at->length = length + (size_t) snprintf(at->path + length, sizeof(at->path) - length, "/%s", entry->d_name);
                if (at->length >= sizeof(at->path))
                        r = -ENAMETOOLONG;
                else if (fstatat(dirfd(from), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        r = stage_fail(s, -errno, at);
                else
                        r = copy_entry(s, at, dirfd(from), entry->d_name, &st, to, entry->d_name);
                at->path[length] = '\0';
                at->length = length;
        }
        return r;
}

static int stage_copy_directory(Stage *s, StagePlace *at, int from_dir, const char *from_name, const struct stat *st, int to_dir, const char *to_name) {
        mode_t mode;
        int fd = beneath_enter(from_dir, from_name, &mode), r;
        _cleanup_close_ int to = -EBADF;
        DIR *from;

        if (fd < 0)
                return fd;
        from = fdopendir(fd);
        if (!from) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        r = mkdirat(to_dir, to_name, 0700) < 0 ? -errno : 0;
        if (r >= 0)
                r = to = openat(to_dir, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (to < 0)
                r = -errno;
        if (r >= 0)
                r = copy_entries(s, at, from, to);
        beneath_leave(dirfd(from), mode);
        (void) closedir(from);
        return r < 0 ? r : set_file(s, to, st);
}

/* Whiteouts, and their remains, mean nothing where nothing was before. */
static int copy_entry(Stage *s, StagePlace *at, int from_dir, const char *from_name, const struct stat *st, int to_dir, const char *to_name) {
        int r = 0;

        if (++at->depth > CHANGES_DEPTH_MAX)
                r = -ELOOP;
        else if (S_ISREG(st->st_mode))
                r = stage_copy_file(s, from_dir, from_name, st, to_dir, to_name);
        else if (S_ISLNK(st->st_mode))
                r = copy_link(s, from_dir, from_name, to_dir, to_name);
        else if (S_ISDIR(st->st_mode))
                r = stage_copy_directory(s, at, from_dir, from_name, st, to_dir, to_name);
        else if (!S_ISCHR(st->st_mode) || st->st_rdev != makedev(0, 0))
                stage_leave_out(s, at);
        at->depth--;
        return r < 0 && !s->reterr->text[0] ? stage_fail(s, r, at) : r;
}

int stage_copy(Stage *s, int upper_fd, Step *step, int dirfd, const char *name) {
        const char *from_name;
        _cleanup_close_ int from = beneath_open_parent(upper_fd, step->path, &from_name);
        struct stat st = step->after;
        StagePlace at = { 0 };

        at.length = (size_t) snprintf(at.path, sizeof(at.path), "%s", step->path);
        if (from < 0)
                return stage_fail(s, from, &at);
        /* Without root, a directory must be writable in order to be moved. */
        if (S_ISDIR(st.st_mode) && (st.st_mode & 0700) != 0700) {
                step->late_mode = true;
                step->mode = stage_mode_of(s, st.st_mode);
                st.st_mode |= 0700;
        }
        return copy_entry(s, &at, from, from_name, &st, dirfd, name);
}
