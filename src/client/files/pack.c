#include "client/files/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/ignore.h"
#include "base/log.h"
#include "client/files/tar.h"

#define DEPTH_MAX 512

/* A directory that is being read, and the length of its path. */
typedef struct PackLevel {
        DIR *directory;
        size_t path_size;
} PackLevel;

struct Pack {
        char *top;
        PackLevel levels[DEPTH_MAX];
        size_t depth;
        char path[TAR_PATH_MAX]; /* of the entry at hand, relative to the top */

        uint8_t head[TAR_HEAD_MAX]; /* to be passed on first, then: */
        size_t head_start, head_end;
        int fd; /* a file's data */
        uint64_t left;
        size_t zeros; /* padding, and the end of the archive */
        bool over;
        const Strv *patterns, *always; /* entries that are left out; NULL: none */
        Error error;
};

Pack *pack_free(Pack *p) {
        if (!p)
                return NULL;
        while (p->depth > 0)
                (void) closedir(p->levels[--p->depth].directory);
        (void) fd_close(p->fd);
        free(p->top);
        free(p);
        return NULL;
}

const Error *pack_error(const Pack *p) {
        return &p->error;
}

static int pack_fail(Pack *p, int error) {
        return error_set(&p->error, error, "cannot read '%s%s%s': %m", p->top, p->path[0] ? "/" : "", p->path);
}

/* Takes the descriptor of the directory that p->path names. */
static int pack_enter(Pack *p, int fd) {
        DIR *d;

        if (p->depth == DEPTH_MAX) {
                (void) fd_close(fd);
                return error_set(&p->error, -ELOOP, "'%s/%s' is more than %d directories deep", p->top, p->path, DEPTH_MAX);
        }
        d = fdopendir(fd);
        if (!d) {
                int r = pack_fail(p, -errno);

                (void) fd_close(fd);
                return r;
        }
        p->levels[p->depth++] = (PackLevel) { d, strlen(p->path) };
        return 0;
}

int pack_new(const char *directory, Pack **ret, Error *reterr) {
        _cleanup_pack_ Pack *p = calloc(1, sizeof(Pack));
        int fd, r;

        if (!p)
                return error_set(reterr, -ENOMEM, "out of memory");
        p->fd = -EBADF;
        p->top = strdup(directory);
        if (!p->top)
                return error_set(reterr, -ENOMEM, "out of memory");
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        r = fd < 0 ? pack_fail(p, -errno) : pack_enter(p, fd);
        if (r < 0) {
                *reterr = p->error;
                return r;
        }
        *ret = TAKE_PTR(p);
        return 0;
}

void pack_leave_out(Pack *p, const Strv *patterns, const Strv *always) {
        p->patterns = patterns;
        p->always = always;
}

static bool stays_behind(const Pack *p) {
        if (!p->patterns)
                return false;
        for (size_t i = 0; i < p->always->n; i++)
                if (strcmp(p->always->items[i], p->path) == 0)
                        return false;
        return ignore_has(p->patterns, p->path);
}

static int set_head(Pack *p, TarEntry *e) {
        ssize_t n;

        memcpy(e->path, p->path, sizeof(e->path));
        n = tar_encode(e, p->head);
        if (n < 0)
                return pack_fail(p, (int) n);
        p->head_start = 0;
        p->head_end = (size_t) n;
        return 0;
}

/* A directory that is left out may contain an exception that is not. */
static int pass_through(Pack *p, int parent, const char *name) {
        int fd;

        if (!ignore_has_exceptions(p->patterns))
                return 0;
        fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? pack_fail(p, -errno) : pack_enter(p, fd);
}

static int add_directory(Pack *p, int parent, const char *name, TarEntry *e) {
        int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;

        if (fd < 0)
                return pack_fail(p, -errno);
        e->type = TAR_DIRECTORY;
        r = set_head(p, e);
        if (r < 0) {
                (void) fd_close(fd);
                return r;
        }
        return pack_enter(p, fd);
}

static int add_symlink(Pack *p, int parent, const char *name, TarEntry *e) {
        ssize_t n = readlinkat(parent, name, e->target, sizeof(e->target) - 1);

        if (n < 0)
                return pack_fail(p, -errno);
        e->target[n] = '\0';
        e->type = TAR_SYMLINK;
        return set_head(p, e);
}

static int pack_add_file(Pack *p, int parent, const char *name, TarEntry *e) {
        _cleanup_close_ int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return pack_fail(p, -errno);
        e->type = TAR_FILE;
        e->size = S_ISREG(st.st_mode) ? (uint64_t) st.st_size : 0;
        p->fd = TAKE_FD(fd);
        p->left = e->size;
        p->zeros = tar_padding(e->size);
        return set_head(p, e);
}

static int add_entry(Pack *p, int parent, const char *name) {
        TarEntry e = { 0 };
        struct stat st;

        if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : pack_fail(p, -errno); /* removed since its name was read */
        e.mode = st.st_mode & 07777;
        e.mtime = st.st_mtime;
        if (stays_behind(p))
                return S_ISDIR(st.st_mode) ? pass_through(p, parent, name) : 0;
        if (S_ISDIR(st.st_mode))
                return add_directory(p, parent, name, &e);
        if (S_ISLNK(st.st_mode))
                return add_symlink(p, parent, name, &e);
        if (S_ISREG(st.st_mode))
                return pack_add_file(p, parent, name, &e);
        log_warning("'%s/%s' is no file, directory or link: left out", p->top, p->path);
        return 0;
}

/* Appends a name to the path of the directory that is being read. */
static int pack_set_path(Pack *p, size_t path_size, const char *name) {
        int n = snprintf(p->path + path_size, sizeof(p->path) - path_size, "%s%s", path_size > 0 ? "/" : "", name);

        if (n < 0 || (size_t) n >= sizeof(p->path) - path_size) {
                p->path[path_size] = '\0';
                return error_set(&p->error, -ENAMETOOLONG, "'%s/%s/%s': the path is too long", p->top, p->path, name);
        }
        return 0;
}

/* Goes to the next entry; after the last one, writes the end of the archive. */
static int pack_advance(Pack *p) {
        const PackLevel *level = p->levels + p->depth - 1;
        struct dirent *d;
        int r;

        if (p->depth == 0) {
                p->zeros = p->over ? 0 : TAR_END_SIZE;
                p->over = true;
                return 0;
        }
        p->path[level->path_size] = '\0';
        errno = 0;
        d = readdir(level->directory);
        if (!d) {
                if (errno != 0)
                        return pack_fail(p, -errno);
                (void) closedir(p->levels[--p->depth].directory);
                return 0;
        }
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
                return 0;
        r = pack_set_path(p, level->path_size, d->d_name);
        return r < 0 ? r : add_entry(p, dirfd(level->directory), d->d_name);
}

static size_t pack_take_head(Pack *p, void *buffer, size_t size) {
        size_t n = MIN_OF(size, p->head_end - p->head_start);

        memcpy(buffer, p->head + p->head_start, n);
        p->head_start += n;
        return n;
}

/* A file that has become shorter is filled up with zeros: its size has been written already. */
static ssize_t pack_take_data(Pack *p, void *buffer, size_t size) {
        size_t want = (size_t) MIN_OF((uint64_t) size, p->left);
        ssize_t n;

        do
                n = read(p->fd, buffer, want);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return pack_fail(p, -errno);
        if (n == 0) {
                log_warning("'%s/%s' became shorter while it was read", p->top, p->path);
                memset(buffer, 0, want);
                n = (ssize_t) want;
        }
        p->left -= (uint64_t) n;
        return n;
}

static size_t take_zeros(Pack *p, void *buffer, size_t size) {
        size_t n = MIN_OF(size, p->zeros);

        memset(buffer, 0, n);
        p->zeros -= n;
        return n;
}

static ssize_t pack_take(Pack *p, void *buffer, size_t size) {
        if (p->head_end > p->head_start)
                return (ssize_t) pack_take_head(p, buffer, size);
        if (p->left > 0)
                return pack_take_data(p, buffer, size);
        p->fd = fd_close(p->fd);
        return (ssize_t) take_zeros(p, buffer, size);
}

ssize_t pack_read(void *pack, void *buffer, size_t size) {
        Pack *p = pack;
        size_t done = 0;

        while (done < size) {
                ssize_t n = pack_take(p, (uint8_t *) buffer + done, size - done);

                if (n < 0)
                        return n;
                done += (size_t) n;
                if (n == 0) {
                        int r = p->over ? 0 : pack_advance(p);

                        if (r < 0)
                                return r;
                        if (p->over && p->zeros == 0)
                                break;
                }
        }
        return (ssize_t) done;
}
