#include "tree/unpack-times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/fd.h"
#include "tree/place.h"

int directory_times_add(DirectoryTimes *t, const char *path, const struct stat *st, const struct timespec *mtime) {
        char *copy;

        if (ARRAY_RESERVE(t->items, t->room, t->n + 1) < 0)
                return -ENOMEM;
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        t->items[t->n++] = (DirectoryTime) { .path = copy, .dev = st->st_dev, .ino = st->st_ino, .mtime = *mtime };
        return 0;
}

static int set_one(const DirectoryTime *d, int tree) {
        _cleanup_close_ int fd = place_open(tree, d->path, O_RDONLY | O_DIRECTORY);
        struct stat st;

        if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
                return 0; /* it has been replaced by something else */
        if (fd < 0 || fstat(fd, &st) < 0)
                return fd < 0 ? fd : -errno;
        if (st.st_dev != d->dev || st.st_ino != d->ino)
                return 0;
        return futimens(fd, (struct timespec[]) { { .tv_nsec = UTIME_OMIT }, d->mtime }) < 0 ? -errno : 0;
}

int directory_times_set(const DirectoryTimes *t, int tree, Error *reterr) {
        for (size_t i = 0; i < t->n; i++) {
                int r = set_one(t->items + i, tree);
                if (r < 0)
                        return error_set(reterr, r, "'%.300s': %m", t->items[i].path);
        }
        return 0;
}

void directory_times_done(DirectoryTimes *t) {
        for (size_t i = 0; i < t->n; i++)
                free(t->items[i].path);
        free(t->items);
        *t = (DirectoryTimes) { 0 };
}
