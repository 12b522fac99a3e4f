#include "init/file-walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "init/file-place.h"

#define BUFFER_SIZE 32768

/* One directory between the top and the current entry. */
typedef struct WalkLevel {
        char *text;         /* names, each with its NUL */
        size_t text_size, text_room;
        const char **names; /* into the text, sorted */
        size_t n, next;
        size_t path_length; /* length of this directory's path */
        struct stat st;
} WalkLevel;

static void level_done(WalkLevel *l) {
        free(l->text);
        free(l->names);
}

static int level_add(WalkLevel *l, const char *name) {
        size_t size = strlen(name) + 1;

        if (ARRAY_RESERVE(l->text, l->text_room, l->text_size + size) < 0)
                return -ENOMEM;
        memcpy(l->text + l->text_size, name, size);
        l->text_size += size;
        l->n++;
        return 0;
}

static int file_walk_compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int level_sort(WalkLevel *l) {
        const char *p = l->text;

        if (l->n == 0)
                return 0;
        l->names = calloc(l->n, sizeof(*l->names));
        if (!l->names)
                return -ENOMEM;
        for (size_t i = 0; i < l->n; i++, p += strlen(p) + 1)
                l->names[i] = p;
        qsort(l->names, l->n, sizeof(*l->names), file_walk_compare_names);
        return 0;
}

static int level_read(WalkLevel *l, int fd) {
        static _Alignas(struct dirent) char buffer[BUFFER_SIZE];

        for (;;) {
                long n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));

                if (n < 0)
                        return errno == ENOENT ? level_sort(l) : -errno; /* removed meanwhile: it counts as empty */
                if (n == 0)
                        return level_sort(l);
                for (long at = 0; at < n;) {
                        const struct dirent *d = (const struct dirent *) (const void *) (buffer + at);

                        at += d->d_reclen;
                        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 && level_add(l, d->d_name) < 0)
                                return -ENOMEM;
                }
        }
}

static int file_walk_push(Walk *w, int fd, const struct stat *st) {
        WalkLevel level = { .path_length = strlen(w->path), .st = *st };
        int r;

        if (ARRAY_RESERVE(w->levels, w->room, w->n_levels + 1) < 0)
                return -ENOMEM;
        r = level_read(&level, fd);
        if (r < 0) {
                level_done(&level);
                return r;
        }
        w->levels[w->n_levels++] = level;
        return 0;
}

static int file_walk_begin(Walk *w) {
        struct stat st;

        w->begun = true;
        w->dirfd = open_beneath(w->top, "", O_RDONLY | O_DIRECTORY, /* links= */ false);
        if (w->dirfd < 0)
                return w->dirfd;
        if (fstat(w->dirfd, &st) < 0)
                return -errno;
        return file_walk_push(w, w->dirfd, &st);
}

/* Enters the directory that was returned last. A directory that is gone meanwhile is skipped. */
static int descend(Walk *w) {
        _cleanup_close_ int fd = openat(w->dirfd, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int r;

        if (fd < 0) {
                if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
                        return 0;
                return errno == EACCES && w->skip_forbidden ? 0 : -errno;
        }
        r = file_walk_push(w, fd, &w->st);
        if (r < 0)
                return r;
        (void) fd_close(w->dirfd);
        w->dirfd = TAKE_FD(fd);
        return 0;
}

/* Takes the next name of the innermost directory: 1, or 0 after the last. */
static int file_walk_advance(Walk *w) {
        WalkLevel *l = w->levels + w->n_levels - 1;

        while (l->next < l->n) {
                const char *name = l->names[l->next++];
                size_t length = strlen(name), at = l->path_length;

                w->path[at] = '\0';
                if (at + 1 + length >= sizeof(w->path))
                        return -ENAMETOOLONG;
                if (at > 0)
                        w->path[at++] = '/';
                memcpy(w->path + at, name, length + 1);
                if (fstatat(w->dirfd, name, &w->st, AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno == ENOENT)
                                continue;
                        return -errno;
                }
                w->name = w->path + at;
                w->depth = (unsigned) w->n_levels;
                w->after = false;
                w->descend = S_ISDIR(w->st.st_mode);
                return 1;
        }
        return 0;
}

/* Returns to the directory above: 1 if the finished one can be reported, 0 if it is gone. */
static int ascend(Walk *w) {
        WalkLevel *l = w->levels + w->n_levels - 1;
        size_t end = l->path_length, parent = w->levels[w->n_levels - 2].path_length;
        char cut = w->path[parent];

        w->st = l->st;
        level_done(l);
        w->n_levels--;

        w->path[parent] = '\0';
        (void) fd_close(w->dirfd);
        w->dirfd = open_beneath(w->top, w->path, O_PATH | O_DIRECTORY, /* links= */ false);
        if (w->dirfd == -ENOENT || w->dirfd == -ENOTDIR || w->dirfd == -ELOOP)
                return 0; /* moved or removed meanwhile: nothing more of it is seen, and the walk continues above */
        if (w->dirfd < 0)
                return w->dirfd;
        w->path[parent] = cut;
        w->path[end] = '\0';
        w->name = w->path + parent + (parent > 0);
        w->depth = (unsigned) w->n_levels;
        w->after = true;
        return w->want_after;
}

int walk_next(Walk *w) {
        int r;

        r = w->begun ? 0 : file_walk_begin(w);
        if (r < 0)
                return r;
        if (w->descend) {
                w->descend = false;
                r = descend(w);
                if (r < 0)
                        return r;
        }
        for (;;) {
                r = w->dirfd >= 0 ? file_walk_advance(w) : 0;
                if (r != 0 || w->n_levels <= 1)
                        return r;
                r = ascend(w);
                if (r != 0)
                        return r;
        }
}

void walk_skip(Walk *w) {
        w->descend = false;
}

void walk_done(Walk *w) {
        while (w->n_levels > 0)
                level_done(w->levels + --w->n_levels);
        free(w->levels);
        w->levels = NULL;
        if (w->begun)
                (void) fd_close(w->dirfd);
        w->dirfd = -EBADF;
}
