#include "tree/unpack-times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "tree/place.h"

int directory_times_add(DirectoryTimes *t, const char *path, const struct timespec *mtime) {
        char *copy;

        if (t->n == t->room) {
                size_t room = t->room ? t->room * 2 : 64;
                DirectoryTime *items = reallocarray(t->items, room, sizeof(*items));

                if (!items)
                        return -ENOMEM;
                t->items = items;
                t->room = room;
        }
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        t->items[t->n++] = (DirectoryTime) { .path = copy, .mtime = *mtime };
        return 0;
}

int directory_times_set(const DirectoryTimes *t, int tree, Error *reterr) {
        for (size_t i = 0; i < t->n; i++) {
                _cleanup_close_ int fd = place_open(tree, t->items[i].path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

                if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
                        continue; /* something else has come into its place */
                if (fd < 0 || futimens(fd, (struct timespec[]) { { .tv_nsec = UTIME_OMIT }, t->items[i].mtime }) < 0)
                        return error_set(reterr, fd < 0 ? fd : -errno, "'%.300s': %m", t->items[i].path);
        }
        return 0;
}

void directory_times_done(DirectoryTimes *t) {
        for (size_t i = 0; i < t->n; i++)
                free(t->items[i].path);
        free(t->items);
        *t = (DirectoryTimes) { 0 };
}
