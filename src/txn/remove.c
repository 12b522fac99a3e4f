#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "txn/txn.h"

/* The owner of a directory can always open it after changing its mode. No link is followed. */
static int open_to_clear(int dirfd, const char *name) {
        int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 && errno == EACCES) {
                (void) fchmodat(dirfd, name, 0700, AT_SYMLINK_NOFOLLOW);
                fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        return fd < 0 ? -errno : fd;
}

static bool remove_is_dots(const char *name) {
        return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

#define LEVELS_MAX 128 /* of open directories: a guest can make trees deeper than we may open files. Deeper levels are moved up first. */

typedef struct RemoveLevel {
        DIR *directory;
        char *name; /* in the level above */
} RemoveLevel;

typedef struct Levels {
        RemoveLevel *items;
        size_t n, room;
        unsigned moved; /* so far, for names */
        bool again;     /* some entries at the top have not been handled yet */
} Levels;

static int remove_push(Levels *l, int dirfd, const char *name) {
        int fd = open_to_clear(dirfd, name);

        if (fd < 0)
                return fd;
        if (ARRAY_RESERVE(l->items, l->room, l->n + 1) < 0) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        (void) fchmod(fd, 0700);
        l->items[l->n].directory = fdopendir(fd);
        l->items[l->n].name = strdup(name);
        if (!l->items[l->n].directory || !l->items[l->n].name) {
                if (l->items[l->n].directory)
                        (void) closedir(l->items[l->n].directory);
                else
                        (void) fd_close(fd);
                free(l->items[l->n].name);
                return -ENOMEM;
        }
        l->n++;
        return 0;
}

static void remove_pop(Levels *l) {
        l->n--;
        (void) closedir(l->items[l->n].directory);
        free(l->items[l->n].name);
}

static int move_up(Levels *l, int dirfd_, const char *name) {
        char other[32];

        (void) snprintf(other, sizeof(other), ".deep-%u", l->moved++);
        l->again = true;
        return renameat(dirfd_, name, dirfd(l->items[0].directory), other) < 0 ? -errno : 0;
}

/* 1: went down, 0: the level is empty, negative: neither. */
static int clear_level(Levels *l) {
        DIR *directory = l->items[l->n - 1].directory;
        struct dirent *entry;

        while ((entry = readdir(directory))) {
                if (remove_is_dots(entry->d_name))
                        continue;
                if (unlinkat(dirfd(directory), entry->d_name, 0) == 0 || errno == ENOENT)
                        continue;
                if (errno != EISDIR && errno != EPERM)
                        return -errno;
                if (unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR) == 0)
                        continue;
                if (l->n >= LEVELS_MAX) {
                        int r = move_up(l, dirfd(directory), entry->d_name);
                        if (r < 0)
                                return r;
                        continue;
                }
                int r = remove_push(l, dirfd(directory), entry->d_name);
                return r < 0 ? r : 1;
        }
        if (l->n == 1 && l->again) {
                l->again = false;
                rewinddir(directory);
                return 1;
        }
        return 0;
}

int txn_remove_tree(int dirfd_, const char *name) {
        Levels l = { 0 };
        int r;

        if (unlinkat(dirfd_, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return -errno;
        r = remove_push(&l, dirfd_, name);
        while (r >= 0 && l.n > 0) {
                r = clear_level(&l);
                if (r != 0)
                        continue;
                int parent = l.n > 1 ? dirfd(l.items[l.n - 2].directory) : dirfd_;
                if (unlinkat(parent, l.items[l.n - 1].name, AT_REMOVEDIR) < 0)
                        r = -errno;
                remove_pop(&l);
        }
        while (l.n > 0)
                remove_pop(&l);
        free(l.items);
        return r;
}
