#include "init/file-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "init/file-ops.h"
#include "init/file-place.h"
#include "init/file-walk.h"

#define CHUNK_SIZE  (4 * 1024 * 1024)
#define BUFFER_SIZE (256 * 1024)

static ssize_t file_copy_some(int from, int to, off_t at, size_t size, bool *in_kernel) {
        static char buffer[BUFFER_SIZE];
        ssize_t n;

        if (*in_kernel) {
                off_t in = at, out = at;

                n = copy_file_range(from, &in, to, &out, size, 0);
                if (n >= 0 || (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS))
                        return n < 0 ? -errno : n;
                *in_kernel = false; /* the kernel does not copy between these two file systems */
        }
        n = pread(from, buffer, MIN_OF(size, sizeof(buffer)), at);
        if (n <= 0)
                return n < 0 ? -errno : 0;
        n = pwrite(to, buffer, (size_t) n, at);
        return n < 0 ? -errno : n;
}

static int copy_extent(const FileCopy *c, int from, int to, off_t at, off_t end, bool *in_kernel) {
        while (at < end) {
                ssize_t n = file_copy_some(from, to, at, (size_t) MIN_OF(end - at, (off_t) CHUNK_SIZE), in_kernel);
                int r;

                if (n == -EINTR)
                        continue;
                if (n <= 0)
                        return (int) n; /* 0: the file has been truncated meanwhile */
                at += n;
                r = job_alive(c->job);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Holes stay holes: a file can be larger than the disk. */
static int copy_bytes(const FileCopy *c, int from, int to, off_t size) {
        bool in_kernel = true;
        off_t at = 0;

        while (at < size) {
                off_t data = lseek(from, at, SEEK_DATA), hole;
                int r;

                if (data < 0 && errno == ENXIO)
                        break; /* only a hole is left */
                if (data < 0)
                        data = at; /* a file system without SEEK_DATA */
                hole = lseek(from, data, SEEK_HOLE);
                if (hole <= data)
                        hole = size;
                r = copy_extent(c, from, to, data, MIN_OF(hole, size), &in_kernel);
                if (r < 0)
                        return r;
                at = hole;
        }
        return ftruncate(to, size) < 0 ? -errno : 0;
}

/* Owner, then mode, then times: each step can undo the later ones. Set-id bits are kept only if the owner is copied. */
static int file_copy_dress(const FileCopy *c, int fd, const struct stat *st) {
        const struct timespec times[] = { st->st_atim, st->st_mtim };
        mode_t mode = st->st_mode & 01777;

        if (c->job->root && fchown(fd, st->st_uid, st->st_gid) >= 0)
                mode = st->st_mode & 07777;
        if (fchmod(fd, mode) < 0)
                return -errno;
        return futimens(fd, times) < 0 ? -errno : 0;
}

static int copy_regular(FileCopy *c, int from_dirfd, const char *from, bool follow, int to_dirfd, const char *to) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        struct stat st;
        int r;

        r = regular_open(from_dirfd, from, follow ? 0 : O_NOFOLLOW, &st, &in);
        if (r < 0)
                return r;
        out = openat(to_dirfd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (out < 0)
                return -errno;
        r = copy_bytes(c, in, out, st.st_size);
        return r < 0 ? r : file_copy_dress(c, out, &st);
}

/* Copies links, pipes and sockets; a device fails as mknod(2) does. */
static int copy_other(FileCopy *c, int from_dirfd, const char *from, const struct stat *st, int to_dirfd, const char *to) {
        const struct timespec times[] = { st->st_atim, st->st_mtim };
        char target[FILE_PATH_BYTES];
        int r;

        if (S_ISLNK(st->st_mode)) {
                r = link_read(from_dirfd, from, target, sizeof(target));
                if (r < 0)
                        return r;
                r = symlinkat(target, to_dirfd, to);
        } else
                r = mknodat(to_dirfd, to, st->st_mode & (S_IFMT | 01777), st->st_rdev);
        if (r < 0)
                return -errno;
        if (c->job->root)
                (void) fchownat(to_dirfd, to, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW);
        return utimensat(to_dirfd, to, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int copy_leaf(FileCopy *c, int from_dirfd, const char *from, bool follow, const struct stat *st, int to_dirfd,
                const char *to) {
        int r = S_ISREG(st->st_mode) ? copy_regular(c, from_dirfd, from, follow, to_dirfd, to)
                                     : copy_other(c, from_dirfd, from, st, to_dirfd, to);

        if (r < 0 && r != -EEXIST)
                (void) unlinkat(to_dirfd, to, 0);
        return r;
}

/* The copy is completed under another name first, so that the old file is replaced in one moment. */
static int replace_leaf(FileCopy *c, const Walk *w, int to_dirfd) {
        char name[TEMPORARY_NAME_SIZE];
        int r;

        temporary_name(name);
        r = copy_leaf(c, w->dirfd, w->name, /* follow= */ false, &w->st, to_dirfd, name);
        if (r < 0)
                return r;
        r = rename_at(to_dirfd, name, to_dirfd, w->name, /* no_replace= */ false);
        if (r < 0)
                (void) unlinkat(to_dirfd, name, 0);
        return r;
}

/* The directory that a walk copies to. */
typedef struct Destination {
        int top;   /* the caller's */
        int dirfd; /* of the directory below */
        char path[FILE_PATH_BYTES];
        bool fresh; /* all names are free */
} Destination;

static void destination_done(Destination *d) {
        d->dirfd = fd_close(d->dirfd);
}

/* Opens the directory that takes the current entry of the walk. */
static int destination_follow(Destination *d, const Walk *w) {
        size_t n = (size_t) (w->name - w->path);

        n -= n > 0;
        if (d->dirfd >= 0 && strlen(d->path) == n && memcmp(d->path, w->path, n) == 0)
                return 0;
        memcpy(d->path, w->path, n);
        d->path[n] = '\0';
        (void) fd_close(d->dirfd);
        d->dirfd = open_beneath(d->top, d->path, O_PATH | O_DIRECTORY, /* links= */ false);
        return d->dirfd < 0 ? d->dirfd : 0;
}

static int file_copy_make_directory(const Destination *d, const char *name) {
        struct stat st;

        if (mkdirat(d->dirfd, name, 0700) >= 0)
                return 0;
        if (errno != EEXIST || d->fresh)
                return -errno;
        if (fstatat(d->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int file_copy_finish_directory(const FileCopy *c, const Destination *d, const char *name, const struct stat *st) {
        _cleanup_close_ int fd = openat(d->dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? -errno : file_copy_dress(c, fd, st);
}

static int copy_step(FileCopy *c, const Walk *w, Destination *d) {
        int r = job_alive(c->job);

        if (r >= 0)
                r = destination_follow(d, w);
        if (r < 0)
                return r;
        if (w->after)
                return file_copy_finish_directory(c, d, w->name, &w->st);
        c->n++;
        if (S_ISDIR(w->st.st_mode))
                return file_copy_make_directory(d, w->name);
        return d->fresh ? copy_leaf(c, w->dirfd, w->name, /* follow= */ false, &w->st, d->dirfd, w->name)
                        : replace_leaf(c, w, d->dirfd);
}

/* Lack of space or of the right to write is an error of the copy; any other is an error of the source. */
static int file_copy_fail(const FileCopy *c, int r, const char *relative) {
        bool at_copy = r == -ENOSPC || r == -EDQUOT || r == -EROFS || r == -ENOTDIR || r == -EEXIST;

        return r == -EPIPE ? r : job_fail_below(c->job, r, at_copy ? c->to : c->from, relative);
}

static int file_copy_below(FileCopy *c, int from, int to, bool fresh) {
        _cleanup_(walk_done) Walk w = { .top = from, .want_after = true };
        _cleanup_(destination_done) Destination d = { .top = to, .dirfd = -EBADF, .fresh = fresh };
        int r;

        while ((r = walk_next(&w)) > 0) {
                r = copy_step(c, &w, &d);
                if (r < 0)
                        break;
        }
        return r < 0 ? file_copy_fail(c, r, w.path) : 0;
}

int copy_into(FileCopy *c, int from, int to) {
        struct stat st;
        int r;

        if (fstat(from, &st) < 0)
                return -errno;
        r = file_copy_below(c, from, to, /* fresh= */ false);
        if (r < 0)
                return r;
        c->n++;
        return file_copy_dress(c, to, &st);
}

static int file_copy_directory(FileCopy *c, int from_dirfd, const char *from, bool follow, int to_dirfd, const char *to) {
        _cleanup_close_ int in = -EBADF, out = -EBADF;
        struct stat st;
        int r;

        in = openat(from_dirfd, from, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
        if (in < 0 || fstat(in, &st) < 0 || mkdirat(to_dirfd, to, 0700) < 0)
                return -errno;
        out = openat(to_dirfd, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        r = out < 0 ? -errno : file_copy_below(c, in, out, /* fresh= */ true);
        if (r >= 0)
                r = file_copy_dress(c, out, &st);
        if (r < 0)
                (void) tree_remove(/* job= */ NULL, to_dirfd, to, &(uint64_t) { 0 });
        return r;
}

int copy_fresh(FileCopy *c, int from_dirfd, const char *from, bool follow, int to_dirfd, const char *to) {
        struct stat st;
        int r;

        if (fstatat(from_dirfd, from, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        c->n++;
        r = S_ISDIR(st.st_mode) ? file_copy_directory(c, from_dirfd, from, follow, to_dirfd, to)
                                : copy_leaf(c, from_dirfd, from, follow, &st, to_dirfd, to);
        return r < 0 ? file_copy_fail(c, r, "") : 0;
}
