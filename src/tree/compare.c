#include "tree/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/attributes.h"

#define PIECE (128 * 1024)

int delta_open(const DeltaSide *s) {
        _cleanup_close_ int fd = openat(s->dirfd, s->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        /* The disk may be in use: the file may have been replaced by one of another type. */
        return (st.st_mode & S_IFMT) == (s->st.st_mode & S_IFMT) ? TAKE_FD(fd) : -ESTALE;
}

static bool same_time(const struct timespec *a, const struct timespec *b) {
        return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* A copy of a tree has the inode numbers of its origin. Every change to a file changes the times of its
 * inode. */
static bool same_inode(const struct stat *a, const struct stat *b) {
        return a->st_ino == b->st_ino && a->st_size == b->st_size && same_time(&a->st_ctim, &b->st_ctim) && same_time(&a->st_mtim, &b->st_mtim);
}

static int same_links(const DeltaSide *a, const DeltaSide *b) {
        char one[PATH_MAX], other[PATH_MAX];
        ssize_t n = readlinkat(a->dirfd, a->name, one, sizeof(one)), k;

        if (n < 0)
                return -errno;
        k = readlinkat(b->dirfd, b->name, other, sizeof(other));
        return k < 0 ? -errno : n == k && memcmp(one, other, (size_t) n) == 0;
}

static int compare_same_bytes(int a, int b) {
        static char one[PIECE], other[PIECE];

        for (;;) {
                ssize_t n = fd_read_full(a, one, sizeof(one)), k;

                if (n < 0)
                        return (int) n;
                k = fd_read_full(b, other, sizeof(other));
                if (k < 0)
                        return (int) k;
                if (n != k || memcmp(one, other, (size_t) n) != 0)
                        return false;
                if (n == 0)
                        return true;
        }
}

static int same_text(int fd, const char *text) {
        static char there[PIECE];
        size_t size = strlen(text);
        ssize_t n = size < sizeof(there) ? fd_read_full(fd, there, sizeof(there)) : -EFBIG;

        return n < 0 ? (int) n : (size_t) n == size && memcmp(there, text, size) == 0;
}

/* Compares the bytes of two regular files. */
static int same_content(const DeltaSide *now, const DeltaSide *before, DeltaCount count) {
        _cleanup_close_ int a = -EBADF, b = -EBADF;

        if (now->st.st_size != before->st.st_size)
                return false;
        if (count == DELTA_EXACTLY && same_time(&now->st.st_mtim, &before->st.st_mtim))
                return true;
        a = delta_open(now);
        if (a < 0)
                return a;
        if (before->text)
                return same_text(a, before->text);
        b = delta_open(before);
        return b < 0 ? b : compare_same_bytes(a, b);
}

static int same_attributes(const DeltaSide *now, const DeltaSide *before) {
        _cleanup_close_ int a = -EBADF, b = -EBADF;

        if ((!S_ISREG(now->st.st_mode) && !S_ISDIR(now->st.st_mode)) || before->text)
                return true;
        a = delta_open(now);
        if (a < 0)
                return a;
        b = delta_open(before);
        return b < 0 ? b : attributes_are_same(a, b);
}

/* The mtime of a directory is ignored: it changes with the entries of the directory, which are compared
 * themselves. */
static bool same_about(const struct stat *a, const struct stat *b, DeltaCount count) {
        if (a->st_uid != b->st_uid || a->st_gid != b->st_gid)
                return false;
        if (a->st_mode != b->st_mode && !S_ISLNK(a->st_mode))
                return false;
        return count == DELTA_BY_CONTENT || S_ISDIR(a->st_mode) || same_time(&a->st_mtim, &b->st_mtim);
}

int compare_sides(const DeltaSide *now, const DeltaSide *before, DeltaCount count) {
        const mode_t type = now->st.st_mode & S_IFMT;
        int r = true;

        if (type != (before->st.st_mode & S_IFMT))
                return DIFFERENT;
        if (!before->text && same_inode(&now->st, &before->st) && same_about(&now->st, &before->st, count))
                return SAME;
        if (type == S_IFREG)
                r = same_content(now, before, count);
        else if (type == S_IFLNK)
                r = same_links(now, before);
        if (r <= 0)
                return r < 0 ? r : DIFFERENT;
        if (!same_about(&now->st, &before->st, count))
                return SAME_CONTENT;
        r = same_attributes(now, before);
        return r < 0 ? r : r ? SAME : SAME_CONTENT;
}
