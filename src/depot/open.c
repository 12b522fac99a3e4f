/* open.c: opens the depot and finds its backing by trying. */

#include "base/directory.h"
#include "depot/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "depot/btrfs.h"
#include "jail/loop.h"

static const char *const backing_names[_DEPOT_BACKING_MAX] = {
        [DEPOT_NONE] = "none",
        [DEPOT_PLAIN] = "plain",
        [DEPOT_BTRFS] = "btrfs",
};

const char *depot_backing_name(DepotBacking b) {
        return b >= 0 && b < _DEPOT_BACKING_MAX ? backing_names[b] : "?";
}

void depot_done(Depot *d) {
        d->fd = fd_close(d->fd);
        d->image_fd = fd_close(d->image_fd);
}

static void open_settle(Depot *d, DepotBacking backing, const char *reason) {
        d->backing = backing;
        (void) snprintf(d->reason, sizeof(d->reason), "%.*s", (int) sizeof(d->reason) - 1, reason);
}

static int open_state(const char *state_dir, Error *reterr) {
        int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? error_set(reterr, -errno, "%.100s: %m", state_dir) : fd;
}

/* Opens a directory of our own in one that is not: another user who may write there cannot make one that is root's. */
static int open_own(int dirfd, const char *name, Error *reterr) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 && errno == ENOENT)
                return -ENOENT;
        if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
                return error_set(reterr, -EPERM, "%s in the state directory is no directory; it must be one of root's own", name);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(reterr, -errno, "%s: %m", name);
        if (st.st_uid != geteuid() || (st.st_mode & 077))
                return error_set(reterr, -EPERM, "%s in the state directory is not root's own with mode 0700: who made it? (remove it)", name);
        return TAKE_FD(fd);
}

static int open_make_own(int dirfd, const char *name, Error *reterr) {
        if (mkdirat(dirfd, name, 0700) < 0 && errno != EEXIST)
                return error_set(reterr, -errno, "cannot make %s in the state directory: %m", name);
        return open_own(dirfd, name, reterr);
}

static bool is_mount(int fd) {
        struct stat own, above;

        return fstat(fd, &own) == 0 && fstatat(fd, "..", &above, 0) == 0 && own.st_dev != above.st_dev;
}

static int have_btrfs(Error *reterr) {
        _cleanup_close_ int fs = kernel_fsopen("btrfs", FSOPEN_CLOEXEC); /* loads the module if btrfs is one */

        return fs < 0 ? error_set(reterr, -EOPNOTSUPP, "this kernel has no btrfs (modprobe btrfs)") : 0;
}

static int have_image_parts(Error *reterr) {
        int r = have_btrfs(reterr);

        if (r >= 0 && access("/dev/loop-control", R_OK | W_OK) < 0)
                r = error_set(reterr, -errno, "/dev/loop-control: %m (modprobe loop)");
        return r < 0 ? r : depot_image_program(reterr);
}

static bool has_kinds(int top) {
        return faccessat(top, depot_kind_directory(TREE_LAYER), F_OK, 0) == 0;
}

/* Whether there is a tree that was made without btrfs: a mount would hide it. */
static bool has_plain_trees(int top) {
        _cleanup_directory_ DIR *directory = directory_open_nofollow(top, depot_kind_directory(TREE_LAYER));
        const struct dirent *entry;
        bool found = false;

        while (!found && (entry = directory_next(directory)))
                found = entry->d_name[0] != '.';
        return found;
}

static int make_kinds(int top, Error *reterr) {
        for (TreeKind k = 0; k < _TREE_KIND_MAX; k++) {
                const char *name = depot_kind_directory(k);

                if (name && mkdirat(top, name, 0700) < 0 && errno != EEXIST)
                        return error_set(reterr, -errno, "cannot make %s in the depot: %m", name);
        }
        return 0;
}

/* The descriptor is opened again: it refers to what is on top now. */
static void open_take(Depot *d, DepotBacking backing, int state_fd, const char *reason) {
        _cleanup_close_ int top = -EBADF;
        Error error = { 0 };
        int r = 0;

        top = open_own(state_fd, DEPOT_DIRECTORY, &error);
        if (top < 0)
                r = top == -ENOENT ? error_set(&error, top, "the depot has vanished") : top;
        if (r >= 0)
                r = make_kinds(top, &error);
        if (r >= 0 && backing == DEPOT_BTRFS) {
                r = btrfs_quota_enable(top);
                if (r < 0)
                        (void) error_set(&error, r, "cannot turn quotas on in the depot: %m");
        }
        if (r < 0) {
                open_settle(d, DEPOT_NONE, error.text);
                return;
        }
        open_settle(d, backing, reason);
        d->fd = TAKE_FD(top);
}

/* True if there is an image; the depot then is the result of opening it. */
static bool open_take_image(Depot *d, int state_fd, int top) {
        _cleanup_close_ int image = -EBADF;
        Error error = { 0 };
        int r;

        image = depot_image_open(state_fd, &error);
        if (image == -ENOENT)
                return false;
        r = image < 0 ? image : have_btrfs(&error);
        if (r >= 0)
                r = depot_image_mount(image, top, &error);
        if (r < 0)
                open_settle(d, DEPOT_NONE, error.text);
        else {
                open_take(d, DEPOT_BTRFS, state_fd, "");
                d->image_fd = TAKE_FD(image);
        }
        return true;
}

/* The mount that exists already may be our image, from a former worker, or another file system. */
static void open_take_mounted_image(Depot *d, int state_fd) {
        _cleanup_close_ int image = depot_image_open(state_fd, /* reterr= */ NULL), loop = -EBADF;
        char path[LOOP_PATH_MAX];

        if (image < 0 || d->fd < 0)
                return;
        loop = loop_find(image, path, /* reterr= */ NULL);
        if (loop < 0 || !btrfs_is_on(d->fd, path))
                return;
        depot_size_settle(image, loop, d->fd);
        d->image_fd = TAKE_FD(image);
}

/* True if the depot exists already. */
static bool open_find(Depot *d, int state_fd, int top, const DepotBounds *bounds) {
        d->bounds = *bounds;
        if (btrfs_is(top) && (is_mount(top) || (has_kinds(top) && btrfs_quota_is_on(top)))) {
                open_take(d, DEPOT_BTRFS, state_fd, "");
                open_take_mounted_image(d, state_fd);
                return true;
        }
        return open_take_image(d, state_fd, top);
}

void depot_find(Depot *d, const char *state_dir, const DepotBounds *bounds) {
        _cleanup_close_ int state = -EBADF, top = -EBADF;
        Error error = { 0 };

        *d = (Depot) DEPOT_EMPTY;
        state = open_state(state_dir, &error);
        if (state >= 0)
                top = open_own(state, DEPOT_DIRECTORY, &error);
        if (top < 0) {
                open_settle(d, DEPOT_NONE, error.text);
                return;
        }
        if (!open_find(d, state, top, bounds) && has_kinds(top))
                open_take(d, DEPOT_PLAIN, state, "it was begun as plain directories");
}

static void open_make(Depot *d, int state_fd, int top, const DepotBounds *bounds) {
        Error error = { 0 };
        int r;

        if (btrfs_is(top) && btrfs_quota_is_on(top)) {
                open_take(d, DEPOT_BTRFS, state_fd, "");
                return;
        }
        if (has_plain_trees(top)) {
                open_take(d, DEPOT_PLAIN, state_fd, "it was begun as plain directories; without templates in it, the next start makes more of it");
                return;
        }
        r = have_image_parts(&error);
        if (r >= 0)
                r = depot_image_make(state_fd, bounds, &error);
        if (r >= 0 || r == -EEXIST)
                (void) open_take_image(d, state_fd, top);
        else
                open_take(d, DEPOT_PLAIN, state_fd, error.text);
}

void depot_open(Depot *d, const char *state_dir, const DepotBounds *bounds) {
        _cleanup_close_ int state = -EBADF, top = -EBADF;
        Error error = { 0 };

        *d = (Depot) DEPOT_EMPTY;
        state = open_state(state_dir, &error);
        if (state >= 0)
                top = open_make_own(state, DEPOT_DIRECTORY, &error);
        if (top < 0)
                open_settle(d, DEPOT_NONE, error.text);
        else if (!open_find(d, state, top, bounds))
                open_make(d, state, top, bounds);
}

uint64_t depot_probe_most(const char *state_dir) {
        _cleanup_close_ int state = open_state(state_dir, /* reterr= */ NULL);
        const DepotBounds any = { 0 };

        return state < 0 ? 0 : depot_size_most(state, &any, /* own_bytes= */ 0);
}

void depot_probe(Depot *d, const char *state_dir) {
        _cleanup_close_ int state = -EBADF, top = -EBADF;
        Error error = { 0 };

        *d = (Depot) DEPOT_EMPTY;
        state = open_state(state_dir, &error);
        if (state >= 0)
                top = open_own(state, DEPOT_DIRECTORY, &error);
        if (top < 0 && top != -ENOENT && error.code < 0)
                open_settle(d, DEPOT_NONE, error.text);
        else if (btrfs_is(state) && btrfs_quota_is_on(state))
                open_settle(d, DEPOT_BTRFS, "");
        else if (have_image_parts(&error) < 0)
                open_settle(d, DEPOT_PLAIN, error.text);
        else
                open_settle(d, DEPOT_BTRFS, "");
}
