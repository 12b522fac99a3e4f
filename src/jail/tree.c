#include "jail/tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/kernel.h"

static int set_option(int fs, const FsOption *o) {
        int r = kernel_fsconfig(fs, o->value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, o->key, o->value, 0);
        return r < 0 ? -errno : 0;
}

int tree_make(const char *type, const FsOption *options, size_t n_options, uint64_t attributes) {
        _cleanup_close_ int fs = kernel_fsopen(type, FSOPEN_CLOEXEC);
        int tree;

        if (fs < 0)
                return -errno;

        for (size_t i = 0; i < n_options; i++) {
                int r = set_option(fs, options + i);
                if (r < 0)
                        return r;
        }
        if (kernel_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return -errno;
        tree = kernel_fsmount(fs, FSMOUNT_CLOEXEC, (unsigned) attributes);
        return tree < 0 ? -errno : tree;
}

int tree_clone(int dirfd, const char *path, bool recursive) {
        int tree = kernel_open_tree(dirfd, path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? (unsigned) AT_RECURSIVE : 0u));
        return tree < 0 ? -errno : tree;
}

int tree_copy(int tree) {
        int copy = kernel_open_tree(tree, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

        return copy < 0 ? -errno : copy;
}

int tree_clone_same(const char *path, int fd, bool recursive) {
        _cleanup_close_ int tree = tree_clone(AT_FDCWD, path, recursive);
        struct stat opened, found;

        if (tree < 0)
                return tree;
        if (fstat(fd, &opened) < 0 || fstat(tree, &found) < 0)
                return -errno;
        return opened.st_dev == found.st_dev && opened.st_ino == found.st_ino ? TAKE_FD(tree) : -ESTALE;
}

int tree_restrict(int tree, uint64_t attributes, int userns_fd, bool recursive) {
        struct mount_attr attr = {
                .attr_set = attributes | (userns_fd >= 0 ? MOUNT_ATTR_IDMAP : 0),
                .propagation = MS_PRIVATE,
                .userns_fd = userns_fd >= 0 ? (uint64_t) userns_fd : 0,
        };

        if (kernel_mount_setattr(tree, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attr) < 0)
                return -errno;
        return 0;
}

int tree_attach(int tree, int dirfd, const char *path) {
        unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (path[0] ? 0 : MOVE_MOUNT_T_EMPTY_PATH);

        if (kernel_move_mount(tree, "", dirfd, path, flags) < 0)
                return -errno;
        return 0;
}

int tree_bind(const char *source, const char *target, uint64_t attributes, bool recursive) {
        _cleanup_close_ int tree = tree_clone(AT_FDCWD, source, recursive);
        int r;

        if (tree < 0)
                return tree;
        r = tree_restrict(tree, attributes, /* userns_fd= */ -EBADF, recursive);
        if (r < 0)
                return r;
        return tree_attach(tree, AT_FDCWD, target);
}
