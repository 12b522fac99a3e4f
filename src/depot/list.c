/* list.c: lists all trees of a kind, and removes half-made ones. */

#include "base/array.h"
#include "base/directory.h"
#include "depot/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "depot/btrfs.h"

#define OTHERS_TRIES      1000
#define OTHERS_PAUSE_USEC 10000

/* Ordered by id, as btrfs_each_usage() reports them. */
typedef struct Used {
        uint64_t id, bytes;
} Used;

typedef struct UsedList {
        Used *items;
        size_t n, room;
} UsedList;

static void used_list_done(UsedList *l) {
        free(l->items);
}

static int used_add(uint64_t id, uint64_t bytes, void *userdata) {
        UsedList *l = userdata;

        if (ARRAY_RESERVE(l->items, l->room, l->n + 1) < 0)
                return -ENOMEM;
        l->items[l->n++] = (Used) { .id = id, .bytes = bytes };
        return 0;
}

static int used_compare(const void *a, const void *b) {
        const Used *x = a, *y = b;

        return (x->id > y->id) - (x->id < y->id);
}

static uint64_t used_by(const UsedList *l, int dirfd, const char *name) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        BtrfsSubvolume subvolume;
        const Used *found;

        if (l->n == 0 || fd < 0 || btrfs_look(fd, &subvolume) < 0)
                return 0;
        found = bsearch(&(Used) { .id = subvolume.id }, l->items, l->n, sizeof(Used), used_compare);
        return found ? found->bytes : 0;
}

int depot_each(Depot *d, TreeKind kind, int (*each)(const TreeRef *ref, uint64_t bytes, void *userdata), void *userdata) {
        _cleanup_(used_list_done) UsedList used = { 0 };
        const char *name = depot_kind_directory(kind);
        _cleanup_directory_ DIR *directory = NULL;
        const struct dirent *entry;
        int r = 0;

        if (d->backing == DEPOT_NONE)
                return -EOPNOTSUPP;
        directory = name ? directory_open_nofollow(d->fd, name) : NULL;
        if (!directory)
                return name ? -errno : -EINVAL;
        if (d->backing == DEPOT_BTRFS)
                (void) btrfs_each_usage(d->fd, /* id= */ 0, used_add, &used);
        while (r >= 0 && (entry = directory_next(directory))) {
                TreeRef ref = { .kind = (uint8_t) kind };

                if (!tree_name_is_valid(entry->d_name))
                        continue;
                (void) snprintf(ref.name, sizeof(ref.name), "%.64s", entry->d_name);
                r = each(&ref, used_by(&used, dirfd(directory), ref.name), userdata);
        }
        return r;
}

static void each_entry(Depot *d, TreeKind kind, void (*function)(int dirfd, const char *name)) {
        _cleanup_directory_ DIR *directory = directory_open_nofollow(d->fd, depot_kind_directory(kind));
        const struct dirent *entry;

        while ((entry = directory_next(directory)))
                if (entry->d_name[0] != '.')
                        function(dirfd(directory), entry->d_name);
}

static void sweep_one(int dirfd, const char *name) {
        int r = btrfs_is(dirfd) ? btrfs_remove(dirfd, name) : -EINVAL;

        if (r == -EINVAL || r == -ENOTDIR)
                r = depot_plain_remove(dirfd, name);
        if (r < 0 && r != -ENOENT)
                log_warning("depot: '%s' was never finished and cannot be removed: %s", name, strerror(-r));
}

/* The tree is complete, since it has its name, and it has not changed since: no sandbox gets it writable. */
static void seal_one(int dirfd, const char *name) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        BtrfsSubvolume subvolume;

        if (fd >= 0 && btrfs_look(fd, &subvolume) >= 0 && !subvolume.read_only)
                (void) btrfs_set_read_only(fd);
}

static int open_lock(const Depot *d) {
        return openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a lock belongs to an open file description: this is one of our own */
}

void depot_join(const Depot *d) {
        int fd = open_lock(d);

        if (fd >= 0)
                (void) flock(fd, LOCK_SH); /* the descriptor stays open */
}

void depot_await_others(const Depot *d) {
        _cleanup_close_ int fd = d->fd >= 0 ? open_lock(d) : -EBADF;
        int r = -1;

        for (int i = 0; i < OTHERS_TRIES && fd >= 0 && r < 0; i++) {
                r = flock(fd, LOCK_EX | LOCK_NB);
                if (r < 0 && errno == EWOULDBLOCK)
                        (void) usleep(OTHERS_PAUSE_USEC);
        }
        if (fd >= 0 && r < 0)
                log_warning("depot: a helper of an earlier spawner does not end");
}

void depot_sweep(Depot *d) {
        if (d->backing == DEPOT_NONE)
                return;
        each_entry(d, TREE_SCRATCH, sweep_one);
        if (d->backing != DEPOT_BTRFS)
                return;
        each_entry(d, TREE_LAYER, seal_one);
        each_entry(d, TREE_SNAPSHOT, seal_one);
}
