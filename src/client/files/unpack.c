#include "client/files/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/log.h"
#include "client/files/tar.h"

/* A directory's mode and time are set last: the mode may lock us out, and each new entry changes the time. */
typedef struct UnpackLater {
        char *path;
        unsigned mode;
        int64_t mtime;
} UnpackLater;

struct Unpack {
        int top; /* borrowed */
        mode_t mask;
        ClientTarReader reader;
        TarEntry entry;
        uint8_t block[TAR_BLOCK];
        size_t block_size;
        uint64_t left;  /* of the entry's data */
        size_t padding; /* behind it */
        int fd;         /* where the data goes; -EBADF: nowhere */
        bool over;
        UnpackLater *later;
        size_t n_later, later_room;
        Error error;
};

Unpack *unpack_new(int dirfd) {
        Unpack *u = calloc(1, sizeof(Unpack));

        if (!u)
                return NULL;
        u->top = dirfd;
        u->fd = -EBADF;
        u->mask = umask(0);
        (void) umask(u->mask);
        return u;
}

Unpack *unpack_free(Unpack *u) {
        if (!u)
                return NULL;
        for (size_t i = 0; i < u->n_later; i++)
                free(u->later[i].path);
        free(u->later);
        tar_reader_done(&u->reader);
        (void) fd_close(u->fd);
        free(u);
        return NULL;
}

const Error *unpack_error(const Unpack *u) {
        return &u->error;
}

static int client_unpack_fail(Unpack *u, int error, const char *path) {
        if (error == -ELOOP || error == -ENOTDIR)
                return error_set(&u->error, error,
                                "'%s': something on the way is no directory; nothing is followed out of here", path);
        return error_set(&u->error, error, "cannot make '%s': %m", path);
}

/* Finds the next part of a path, and skips "" and ".". Returns its length; 0: there is none. */
static size_t next_part(const char **path) {
        for (;;) {
                size_t n;

                *path += strspn(*path, "/");
                n = strcspn(*path, "/");
                if (n != 1 || **path != '.')
                        return n;
                *path += n;
        }
}

static int unpack_open_part(int dirfd, const char *name, bool make) {
        int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 && errno == ENOENT && make) {
                if (mkdirat(dirfd, name, 0777) < 0 && errno != EEXIST)
                        return -errno;
                fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        return fd < 0 ? -errno : fd;
}

/* Opens the path part by part, so that no link is followed. *ret_name is the last part ("": the path is the
 * top itself), *ret_dirfd its directory. -EXDEV: the path leads out. */
static int unpack_open_parent(const Unpack *u, const char *path, bool make, int *ret_dirfd, char ret_name[static NAME_MAX + 1]) {
        _cleanup_close_ int dirfd = fcntl(u->top, F_DUPFD_CLOEXEC, 3);
        size_t n = next_part(&path);

        if (dirfd < 0)
                return -errno;
        ret_name[0] = '\0';
        while (n > 0) {
                const char *rest = path + n;
                int fd;

                if (n > NAME_MAX)
                        return -ENAMETOOLONG;
                if (n == 2 && path[0] == '.' && path[1] == '.')
                        return -EXDEV;
                memcpy(ret_name, path, n);
                ret_name[n] = '\0';
                n = next_part(&rest);
                if (n == 0)
                        break;
                fd = unpack_open_part(dirfd, ret_name, make);
                if (fd < 0)
                        return fd;
                (void) fd_close(dirfd);
                dirfd = fd;
                path = rest;
        }
        *ret_dirfd = TAKE_FD(dirfd);
        return 0;
}

/* Removes an existing entry of that name, unless it is a directory. */
static int clear_name(int dirfd, const char *name) {
        return unlinkat(dirfd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int unpack_remember(Unpack *u, const TarEntry *e) {
        UnpackLater later = { strdup(e->path), e->mode, e->mtime };

        if (!later.path)
                return -ENOMEM;
        if (ARRAY_RESERVE(u->later, u->later_room, u->n_later + 1) < 0) {
                free(later.path);
                return -ENOMEM;
        }
        u->later[u->n_later++] = later;
        return 0;
}

static int unpack_make_directory(Unpack *u, const TarEntry *e, int dirfd, const char *name) {
        int fd = unpack_open_part(dirfd, name, /* make= */ true);

        if (fd < 0)
                return fd;
        (void) fd_close(fd);
        return unpack_remember(u, e);
}

static int unpack_make_file(Unpack *u, const TarEntry *e, int dirfd, const char *name) {
        int r = clear_name(dirfd, name);

        if (r < 0)
                return r;
        u->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (u->fd < 0)
                return -errno;
        return 0;
}

static int make_symlink(Unpack *u, const TarEntry *e, int dirfd, const char *name) {
        struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = e->mtime } };
        int r = clear_name(dirfd, name);

        if (r < 0)
                return r;
        if (symlinkat(e->target, dirfd, name) < 0)
                return -errno;
        (void) utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW);
        return 0;
}

static int make_hard_link(Unpack *u, const TarEntry *e, int dirfd, const char *name) {
        _cleanup_close_ int other = -EBADF;
        char other_name[NAME_MAX + 1];
        int r = unpack_open_parent(u, e->target, /* make= */ false, &other, other_name);

        if (r >= 0)
                r = clear_name(dirfd, name);
        if (r < 0)
                return r;
        return linkat(other, other_name, dirfd, name, /* flags= */ 0) < 0 ? -errno : 0;
}

static int make_other(Unpack *u, const TarEntry *e, int dirfd, const char *name) {
        log_warning("'%s' is no file, directory or link: left out", e->path);
        return 0;
}

static int begin_entry(Unpack *u) {
        static int (*const makers[])(Unpack *u, const TarEntry *e, int dirfd, const char *name) = {
                [TAR_FILE] = unpack_make_file,
                [TAR_HARD_LINK] = make_hard_link,
                [TAR_SYMLINK] = make_symlink,
                [TAR_DIRECTORY] = unpack_make_directory,
                [TAR_OTHER] = make_other,
        };
        const TarEntry *e = &u->entry;
        _cleanup_close_ int dirfd = -EBADF;
        char name[NAME_MAX + 1];
        int r = unpack_open_parent(u, e->path, /* make= */ true, &dirfd, name);

        u->left = e->size;
        u->padding = tar_padding(e->size);
        if (r >= 0 && name[0] == '\0')
                return 0; /* the top itself */
        if (r >= 0)
                r = makers[e->type](u, e, dirfd, name);
        if (r == -EXDEV)
                return error_set(&u->error, r, "'%s' leads out of the directory: refused", e->path);
        return r < 0 ? client_unpack_fail(u, r, e->path) : 0;
}

static int end_file(Unpack *u) {
        struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = u->entry.mtime } };
        int r = 0;

        if (u->fd < 0)
                return 0;
        if (fchmod(u->fd, u->entry.mode & 0777 & ~u->mask) < 0)
                r = -errno;
        (void) futimens(u->fd, times);
        if (close(u->fd) < 0 && r == 0)
                r = -errno;
        u->fd = -EBADF;
        return r < 0 ? client_unpack_fail(u, r, u->entry.path) : 0;
}

static ssize_t unpack_take_data(Unpack *u, const uint8_t *data, size_t size) {
        size_t n = (size_t) MIN_OF((uint64_t) size, u->left);
        int r = u->fd >= 0 ? fd_write_all(u->fd, data, n) : 0;

        if (r < 0)
                return client_unpack_fail(u, r, u->entry.path);
        u->left -= n;
        if (u->left == 0) {
                r = end_file(u);
                if (r < 0)
                        return r;
        }
        return (ssize_t) n;
}

static int unpack_read_head(Unpack *u) {
        int r = tar_read_block(&u->reader, u->block, &u->entry);

        if (r == 2)
                u->over = true;
        if (r == -EOPNOTSUPP)
                return error_set(&u->error, r, "the archive has a sparse file, which cove cannot unpack");
        if (r < 0)
                return error_set(&u->error, r, "the daemon's archive is not a valid tar file");
        if (r != 1)
                return 0;
        r = begin_entry(u);
        return r >= 0 && u->left == 0 ? end_file(u) : r;
}

static ssize_t unpack_take_head(Unpack *u, const uint8_t *data, size_t size) {
        size_t n = MIN_OF(size, TAR_BLOCK - u->block_size);
        int r;

        memcpy(u->block + u->block_size, data, n);
        u->block_size += n;
        if (u->block_size == TAR_BLOCK) {
                u->block_size = 0;
                r = unpack_read_head(u);
                if (r < 0)
                        return r;
        }
        return (ssize_t) n;
}

int unpack_write(void *unpack, const void *data, size_t size) {
        const uint8_t *p = data;
        Unpack *u = unpack;

        while (size > 0 && !u->over) {
                ssize_t n;

                if (u->left > 0)
                        n = unpack_take_data(u, p, size);
                else if (u->padding > 0) {
                        n = (ssize_t) MIN_OF(size, u->padding);
                        u->padding -= (size_t) n;
                } else
                        n = unpack_take_head(u, p, size);
                if (n < 0)
                        return (int) n;
                p += n;
                size -= (size_t) n;
        }
        return 0;
}

static int unpack_finish_directory(Unpack *u, const UnpackLater *l) {
        struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = l->mtime } };
        _cleanup_close_ int parent = -EBADF, fd = -EBADF;
        char name[NAME_MAX + 1];
        int r = unpack_open_parent(u, l->path, /* make= */ false, &parent, name);

        if (r >= 0)
                r = fd = unpack_open_part(parent, name, /* make= */ false);
        if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP) /* a later entry has taken its place */
                return 0;
        if (r < 0)
                return client_unpack_fail(u, r, l->path);
        (void) futimens(fd, times);
        return fchmod(fd, l->mode & 0777 & ~u->mask) < 0 ? client_unpack_fail(u, -errno, l->path) : 0;
}

int unpack_finish(Unpack *u) {
        int r = 0;

        if (!u->over)
                return error_set(&u->error, -EBADMSG, "the archive broke off in the middle");
        for (size_t i = u->n_later; i > 0 && r >= 0; i--) /* from the inside out */
                r = unpack_finish_directory(u, u->later + i - 1);
        return r;
}
