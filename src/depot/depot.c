/* depot.c: one function for each operation. */

#include "depot/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "depot/btrfs.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

#define TEMPORARY_MAX 32

static const struct {
        const char *directory;
        bool read_only;  /* after it got its name */
        bool may_be_plain;
} kinds[_TREE_KIND_MAX] = {
        [TREE_LAYER]    = { "layer",    true,  true  },
        [TREE_DISK]     = { "disk",     false, false },
        [TREE_SNAPSHOT] = { "snapshot", true,  false },
        [TREE_VOLUME]   = { "volume",   false, false },
        [TREE_SCRATCH]  = { "scratch",  false, true  },
};

const char *depot_kind_directory(TreeKind kind) {
        return kind < _TREE_KIND_MAX ? kinds[kind].directory : NULL;
}

static int depot_check(const Depot *d, const TreeRef *ref, Error *reterr) {
        const char *directory = depot_kind_directory(ref->kind);

        if (d->backing == DEPOT_NONE)
                return error_set(reterr, -EOPNOTSUPP, "there is no depot: %s", d->reason[0] ? d->reason : "it has not been opened");
        if (!directory || !tree_name_is_valid(ref->name))
                return error_set(reterr, -EINVAL, "there can be no tree '%.64s' of kind %u", ref->name, ref->kind);
        if (d->backing == DEPOT_PLAIN && !kinds[ref->kind].may_be_plain)
                return error_set(reterr, -EOPNOTSUPP, "%ss that outlive sandboxes need btrfs: %s", directory, d->reason);
        return 0;
}

static int open_kind(const Depot *d, const TreeRef *ref, Error *reterr) {
        int r = depot_check(d, ref, reterr), fd;

        if (r < 0)
                return r;
        fd = openat(d->fd, kinds[ref->kind].directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? error_set(reterr, -errno, "%s in the depot: %m", kinds[ref->kind].directory) : fd;
}

static int open_kinds(const Depot *d, const TreeRef *a, const TreeRef *b, int *ret_a, int *ret_b, Error *reterr) {
        *ret_a = open_kind(d, a, reterr);
        if (*ret_a < 0)
                return *ret_a;
        *ret_b = open_kind(d, b, reterr);
        return MIN_OF(*ret_b, 0);
}

static int open_tree_as(const Depot *d, const TreeRef *ref, int flags, Error *reterr) {
        _cleanup_close_ int parent = open_kind(d, ref, reterr), fd = -EBADF;

        if (parent < 0)
                return parent;
        fd = openat(parent, ref->name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return error_set(reterr, -errno, "%s %s: %m", kinds[ref->kind].directory, ref->name);
        if (d->backing == DEPOT_BTRFS && !btrfs_is_subvolume(fd))
                return error_set(reterr, -EUCLEAN, "%s %s is damaged: it is a directory, and no tree", kinds[ref->kind].directory, ref->name);
        return TAKE_FD(fd);
}

int depot_open_tree(const Depot *d, const TreeRef *ref, Error *reterr) {
        return open_tree_as(d, ref, O_PATH, reterr);
}

static int open_scratch(const Depot *d, Error *reterr) {
        const TreeRef any = { .kind = TREE_SCRATCH, .name = "any" };

        return open_kind(d, &any, reterr);
}

/* A name that no tree can have, and that no other living process has. */
static void depot_temporary_name(char ret[static TEMPORARY_MAX], pid_t pid) {
        (void) snprintf(ret, TEMPORARY_MAX, "making-%d", (int) pid);
}

static int erase(const Depot *d, int dirfd, const char *name) {
        int r = d->backing == DEPOT_BTRFS ? btrfs_remove(dirfd, name) : -EINVAL;

        return r == -EINVAL || r == -ENOTDIR ? depot_plain_remove(dirfd, name) : r;
}

void depot_clean_after(const Depot *d, pid_t pid) {
        _cleanup_close_ int scratch = open_scratch(d, /* reterr= */ NULL);
        char name[TEMPORARY_MAX];

        depot_temporary_name(name, pid);
        if (scratch >= 0)
                (void) erase(d, scratch, name);
}

/* The process that published the tree may have died before it was sealed. */
static void depot_seal(const Depot *d, int parent, const TreeRef *ref) {
        _cleanup_close_ int fd = openat(parent, ref->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd >= 0 && d->backing == DEPOT_BTRFS && kinds[ref->kind].read_only)
                (void) btrfs_set_read_only(fd);
}

static int make_plain(int scratch, const char *name, int from) {
        _cleanup_close_ int fd = -EBADF;

        if (mkdirat(scratch, name, 0755) < 0)
                return -errno;
        fd = openat(scratch, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return from >= 0 ? depot_plain_copy(from, fd) : 0;
}

static int rename_new(int from_dir, const char *from, int to_dir, const char *to) {
        return syscall(SYS_renameat2, from_dir, from, to_dir, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

static bool depot_is_group_tight(const Depot *d, const TreeGroup *group) {
        uint64_t written, waiting;

        return group && group->id > 0 && group->bytes > 0 && d->backing == DEPOT_BTRFS &&
               btrfs_usage(d->fd, btrfs_group_id(group->id), &written, &waiting) >= 0 && written + waiting > group->bytes / 8 * 7;
}

bool depot_is_tight(const Depot *d, const TreeGroup *group) {
        struct statvfs fs;

        return (fstatvfs(d->fd, &fs) == 0 && fs.f_bavail < fs.f_blocks / 8) || depot_is_group_tight(d, group);
}

static int make_or_copy(int parent, const char *name, int from, uint64_t limit, uint64_t group) {
        return from >= 0 ? btrfs_copy(parent, name, from, limit, group) : btrfs_make(parent, name, limit, group);
}

/* A subvolume is there at once, or it is not. Only a volume must survive a crash of the machine, since a client
 * was told of it; a disk is synced when it is parked, and before that its sandbox would not survive either.
 * Waiting for the disk costs as much as making a sandbox. */
static int make_subvolume(const Depot *d, int parent, const TreeRef *ref, int from, uint64_t limit, const TreeGroup *group) {
        bool tight = depot_is_tight(d, group);
        uint64_t id = 0;
        int r = group ? btrfs_group(d->fd, group->id, group->bytes, &id) : 0;

        if (r < 0)
                return r;
        if (tight && ref->kind == TREE_SCRATCH) /* much may be written into it */
                btrfs_wait_for_room(parent);
        r = make_or_copy(parent, ref->name, from, limit, id);
        if ((r == -ENOSPC || r == -EDQUOT) && tight) {
                btrfs_wait_for_room(parent);
                r = make_or_copy(parent, ref->name, from, limit, id);
        }
        return r < 0 || from >= 0 || ref->kind != TREE_VOLUME ? r : fsync(parent) < 0 ? -errno : 0;
}

static int depot_make_directory(const Depot *d, int parent, const char *name, int from, Error *reterr) {
        _cleanup_close_ int scratch = open_scratch(d, reterr);
        char temporary[TEMPORARY_MAX];
        int r;

        if (scratch < 0)
                return scratch;
        depot_temporary_name(temporary, getpid());
        (void) depot_plain_remove(scratch, temporary);
        r = make_plain(scratch, temporary, from);
        if (r >= 0)
                r = rename_new(scratch, temporary, parent, name);
        if (r < 0)
                (void) depot_plain_remove(scratch, temporary);
        return r;
}

int depot_make(Depot *d, const TreeRef *ref, const TreeRef *from, uint64_t limit, const TreeGroup *group, Error *reterr) {
        _cleanup_close_ int parent = open_kind(d, ref, reterr), source = -EBADF;
        int r;

        if (parent < 0)
                return parent;
        if (from) {
                source = open_tree_as(d, from, O_RDONLY, reterr);
                if (source < 0)
                        return source;
        }
        r = d->backing == DEPOT_BTRFS ? make_subvolume(d, parent, ref, source, limit, group) : depot_make_directory(d, parent, ref->name, source, reterr);
        if (r == -EEXIST)
                return error_set(reterr, r, "there is a %s %s already", kinds[ref->kind].directory, ref->name);
        if (r >= 0 && ref->kind == TREE_VOLUME && !from && fchmodat(parent, ref->name, 01777, 0) < 0) /* for any user inside */
                r = -errno;
        if (r == -EDQUOT)
                return error_set(reterr, r, "cannot make %s %s: the disk quota is used up", kinds[ref->kind].directory, ref->name);
        return r < 0 ? error_set(reterr, r, "cannot make %s %s: %m", kinds[ref->kind].directory, ref->name) : 0;
}

/* A copy writes out the unwritten data of its source, and nothing of others, as a sync of the whole file system
 * would. */
static int depot_flush(const Depot *d, int scratch, int tree) {
        char name[TEMPORARY_MAX];
        int r;

        if (d->backing == DEPOT_PLAIN)
                return syncfs(tree) < 0 ? -errno : 0;
        depot_temporary_name(name, getpid());
        (void) erase(d, scratch, name);
        r = btrfs_copy(scratch, name, tree, /* limit= */ 0, /* group= */ 0);
        return r < 0 ? r : btrfs_remove(scratch, name);
}

static int settle_name(const Depot *d, int scratch, int parent, int tree, const TreeRef *as) {
        if (d->backing == DEPOT_BTRFS && kinds[as->kind].read_only)
                return btrfs_set_read_only(tree);
        return fsync(parent) < 0 || fsync(scratch) < 0 ? -errno : 0;
}

/* Read-only comes after the name, since a read-only tree cannot be moved. If the process dies between the two,
 * depot_sweep() repairs it. */
int depot_publish(Depot *d, const TreeRef *scratch_ref, const TreeRef *as, bool written, Error *reterr) {
        _cleanup_close_ int parent = -EBADF, scratch = -EBADF, tree = -EBADF;
        int r;

        if (scratch_ref->kind != TREE_SCRATCH || as->kind == TREE_SCRATCH)
                return error_set(reterr, -EINVAL, "only what is being made can be published, under another name");
        parent = open_kind(d, as, reterr);
        if (parent < 0)
                return parent;
        tree = open_tree_as(d, scratch_ref, O_RDONLY, reterr);
        if (tree < 0)
                return tree;
        scratch = open_scratch(d, reterr);
        if (scratch < 0)
                return scratch;
        r = written || d->backing == DEPOT_PLAIN ? depot_flush(d, scratch, tree) : 0;
        if (r >= 0)
                r = rename_new(scratch, scratch_ref->name, parent, as->name);
        if (r == -EEXIST) {
                depot_seal(d, parent, as);
                (void) erase(d, scratch, scratch_ref->name);
                return error_set(reterr, r, "there is a %s %s already", kinds[as->kind].directory, as->name);
        }
        if (r >= 0)
                r = settle_name(d, scratch, parent, tree, as);
        return r < 0 ? error_set(reterr, r, "cannot publish %s %s: %m", kinds[as->kind].directory, as->name) : 0;
}

int depot_sync(Depot *d, const TreeRef *ref, Error *reterr) {
        _cleanup_close_ int tree = open_tree_as(d, ref, O_RDONLY, reterr), scratch = -EBADF;
        int r;

        if (tree < 0)
                return tree;
        scratch = open_scratch(d, reterr);
        if (scratch < 0)
                return scratch;
        r = depot_flush(d, scratch, tree);
        return r < 0 ? error_set(reterr, r, "cannot write out %s %s: %m", kinds[ref->kind].directory, ref->name) : 0;
}

/* The two names are exchanged in one step; no process sees an intermediate state. */
int depot_swap(Depot *d, const TreeRef *scratch_ref, const TreeRef *with, Error *reterr) {
        _cleanup_close_ int scratch = -EBADF, parent = -EBADF;
        int r;

        if (scratch_ref->kind != TREE_SCRATCH || with->kind != TREE_DISK)
                return error_set(reterr, -EINVAL, "only what is being made and a disk can be exchanged");
        r = open_kinds(d, scratch_ref, with, &scratch, &parent, reterr);
        if (r < 0)
                return r;
        if (syscall(SYS_renameat2, scratch, scratch_ref->name, parent, with->name, RENAME_EXCHANGE) < 0 || fsync(parent) < 0 || fsync(scratch) < 0)
                return error_set(reterr, -errno, "cannot exchange disk %s: %m", with->name);
        return 0;
}

uint64_t depot_waiting(const Depot *d, const TreeRef *ref) {
        Error ignored = { 0 };
        _cleanup_close_ int tree = open_tree_as(d, ref, O_RDONLY, &ignored);
        BtrfsSubvolume subvolume;
        uint64_t written, waiting;

        if (tree < 0 || d->backing != DEPOT_BTRFS || btrfs_look(tree, &subvolume) < 0 || btrfs_usage(d->fd, subvolume.id, &written, &waiting) < 0)
                return UINT64_MAX;
        return waiting;
}

/* The limit first: no process writes into a tree that is being made. */
int depot_take(Depot *d, const TreeRef *scratch_ref, const TreeRef *disk, uint64_t limit, Error *reterr) {
        _cleanup_close_ int scratch = -EBADF, parent = -EBADF;
        int r = depot_limit(d, scratch_ref, limit, reterr);

        if (r >= 0)
                r = open_kinds(d, scratch_ref, disk, &scratch, &parent, reterr);
        if (r < 0)
                return r;
        r = rename_new(scratch, scratch_ref->name, parent, disk->name);
        return r < 0 ? error_set(reterr, r, "cannot make disk %s: %m", disk->name) : 0;
}

int depot_remove(Depot *d, const TreeRef *ref, Error *reterr) {
        _cleanup_close_ int parent = open_kind(d, ref, reterr), scratch = -EBADF;
        char name[TEMPORARY_MAX];
        int r;

        if (parent < 0)
                return parent;
        if (d->backing == DEPOT_BTRFS) {
                r = btrfs_remove(parent, ref->name);
                return r < 0 && r != -ENOENT ? error_set(reterr, r, "cannot remove %s %s: %m", kinds[ref->kind].directory, ref->name) : 0;
        }
        scratch = open_scratch(d, reterr);
        if (scratch < 0)
                return scratch;
        depot_temporary_name(name, getpid());
        (void) erase(d, scratch, name);
        if (renameat(parent, ref->name, scratch, name) < 0)
                return errno == ENOENT ? 0 : error_set(reterr, -errno, "cannot remove %s %s: %m", kinds[ref->kind].directory, ref->name);
        r = erase(d, scratch, name);
        return r < 0 ? error_set(reterr, r, "cannot remove all of %s %s: %m", kinds[ref->kind].directory, ref->name) : 0;
}

int depot_limit(Depot *d, const TreeRef *ref, uint64_t bytes, Error *reterr) {
        _cleanup_close_ int tree = open_tree_as(d, ref, O_RDONLY, reterr);
        BtrfsSubvolume subvolume;
        int r;

        if (tree < 0)
                return tree;
        if (d->backing != DEPOT_BTRFS)
                return error_set(reterr, -EOPNOTSUPP, "a limit needs btrfs: %s", d->reason);
        r = btrfs_look(tree, &subvolume);
        if (r >= 0)
                r = btrfs_limit(tree, subvolume.id, bytes);
        return r < 0 ? error_set(reterr, r, "cannot limit %s %s: %m", kinds[ref->kind].directory, ref->name) : 0;
}

int depot_group(Depot *d, const TreeGroup *group, const TreeRef *ref, Error *reterr) {
        _cleanup_close_ int tree = -EBADF;
        BtrfsSubvolume subvolume;
        uint64_t id;
        int r;

        if (d->backing != DEPOT_BTRFS)
                return 0;
        r = btrfs_group(d->fd, group->id, group->bytes, &id);
        if (r < 0)
                return error_set(reterr, r, "cannot limit group %llu: %m", (unsigned long long) group->id);
        if (!ref || id == 0)
                return 0;
        tree = open_tree_as(d, ref, O_RDONLY, reterr);
        if (tree < 0)
                return tree;
        r = btrfs_look(tree, &subvolume);
        if (r >= 0)
                r = btrfs_join(d->fd, subvolume.id, id);
        return r < 0 ? error_set(reterr, r, "%s %s cannot become one of its group: %m", kinds[ref->kind].directory, ref->name) : 0;
}

static int depot_take_bytes(uint64_t id, uint64_t bytes, void *userdata) {
        *(uint64_t *) userdata = bytes;
        return 0;
}

int depot_usage(Depot *d, const TreeRef *ref, uint64_t *ret, Error *reterr) {
        _cleanup_close_ int tree = open_tree_as(d, ref, O_RDONLY, reterr);
        BtrfsSubvolume subvolume;
        uint64_t bytes = 0, waiting = 0;
        int r;

        if (tree < 0)
                return tree;
        if (d->backing == DEPOT_PLAIN)
                r = depot_plain_usage(tree, ".", &bytes);
        else {
                r = btrfs_look(tree, &subvolume);
                if (r >= 0)
                        r = btrfs_usage(d->fd, subvolume.id, &bytes, &waiting);
                if (r >= 0)
                        bytes += waiting;
                if (r == -ENOENT) /* a kernel without these counters: the value is of the last commit */
                        r = btrfs_each_usage(d->fd, subvolume.id, depot_take_bytes, &bytes);
        }
        if (r < 0)
                return error_set(reterr, r, "cannot measure %s %s: %m", kinds[ref->kind].directory, ref->name);
        *ret = bytes;
        return 0;
}

int depot_verify(Depot *d, const TreeRef *ref, Error *reterr) {
        static const uint8_t no_uuid[16];
        _cleanup_close_ int tree = open_tree_as(d, ref, O_RDONLY, reterr);
        const char *what = tree >= 0 ? kinds[ref->kind].directory : NULL;
        BtrfsSubvolume subvolume;
        struct stat st;
        int r;

        if (tree < 0)
                return tree;
        if (d->backing == DEPOT_PLAIN)
                return 0;
        r = btrfs_look(tree, &subvolume);
        if (r < 0)
                return error_set(reterr, r, "%s %s cannot be looked at: %m", what, ref->name);
        if (memcmp(subvolume.uuid, no_uuid, sizeof(no_uuid)) == 0)
                return error_set(reterr, -EUCLEAN, "%s %s is damaged: it has no UUID", what, ref->name);
        if (kinds[ref->kind].read_only && !subvolume.read_only)
                return error_set(reterr, -EUCLEAN, "%s %s is damaged: it is writable", what, ref->name);
        if (ref->kind == TREE_SNAPSHOT && (fstatat(tree, "root", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode)))
                return error_set(reterr, -EUCLEAN, "%s %s is damaged: its root directory is missing", what, ref->name);
        return 0;
}
