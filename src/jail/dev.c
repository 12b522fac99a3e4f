#include "jail/dev.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "jail/tree.h"

static const struct {
        const char *source, *target;
        unsigned major, minor;
} nodes[] = {
        { "/dev/full",    "dev/full",    1, 7 },
        { "/dev/null",    "dev/null",    1, 3 },
        { "/dev/random",  "dev/random",  1, 8 },
        { "/dev/tty",     "dev/tty",     5, 0 },
        { "/dev/urandom", "dev/urandom", 1, 9 },
        { "/dev/zero",    "dev/zero",    1, 5 },
};

static const struct {
        const char *target, *path;
} links[] = {
        { "/proc/self/fd",   "dev/fd"     },
        { "/proc/self/fd/0", "dev/stdin"  },
        { "/proc/self/fd/1", "dev/stdout" },
        { "/proc/self/fd/2", "dev/stderr" },
        { "pts/ptmx",        "dev/ptmx"   },
};

/* Nodes cannot be made in a user namespace, so each of the host's is bound. */
static int bind_nodes(Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
                if (mknod(nodes[i].target, S_IFREG | 0666, 0) < 0 && errno != EEXIST) /* left from a former life */
                        return error_set(reterr, -errno, "%s", nodes[i].target);
                if (mount(nodes[i].source, nodes[i].target, NULL, MS_BIND, NULL) < 0)
                        return error_set(reterr, -errno, "%s", nodes[i].source);
        }
        return 0;
}

static int mount_pts(Error *reterr) {
        static const FsOption options[] = {
                { "ptmxmode", "0666" }, /* a separate instance since Linux 4.7, whatever the options */
                { "mode",     "0620" },
                { "max",      "256"  }, /* out of the few thousand of the whole host */
        };
        _cleanup_close_ int tree = tree_make("devpts", options, ELEMENTSOF(options),
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
        int r;

        if (tree < 0)
                return error_set(reterr, tree, "devpts");
        r = tree_attach(tree, AT_FDCWD, "dev/pts");
        return r < 0 ? error_set(reterr, r, "/dev/pts") : 0;
}

static int dev_bind_all(Error *reterr) {
        int r = bind_nodes(reterr);

        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                if (symlink(links[i].target, links[i].path) < 0 && errno != EEXIST)
                        return error_set(reterr, -errno, "%s", links[i].path);
        r = dir_make("dev/pts", 0755);
        if (r >= 0)
                r = dir_make("dev/shm", 01777);
        return r < 0 ? error_set(reterr, r, "/dev") : 0;
}

static int jail_dev_fill(int tree, bool bound, bool copy, int *ret_tree, Error *reterr) {
        int r;

        r = tree_attach(tree, AT_FDCWD, "dev");
        if (r < 0)
                return error_set(reterr, r, "directory for /dev");
        r = bound ? dev_bind_all(reterr) : 0;
        if (r < 0)
                return r;
        r = mount_pts(reterr);
        if (r < 0)
                return r;
        /* One call for the nodes and the directory they are in. */
        r = bound ? tree_restrict(tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, /* userns_fd= */ -EBADF, /* recursive= */ true) : 0;
        if (r < 0)
                return error_set(reterr, r, "/dev");
        if (mount("shm", "dev/shm", NULL, MS_BIND, NULL) < 0)
                return error_set(reterr, -errno, "/dev/shm");
        r = bound ? tree_restrict(tree, MOUNT_ATTR_RDONLY, /* userns_fd= */ -EBADF, /* recursive= */ false) : 0;
        if (r < 0)
                return error_set(reterr, r, "/dev read-only");
        r = copy ? tree_clone(AT_FDCWD, "dev", /* recursive= */ true) : fcntl(tree, F_DUPFD_CLOEXEC, 3);
        if (r < 0)
                return error_set(reterr, copy ? r : -errno, "/dev");
        *ret_tree = r;
        return 0;
}

int dev_fill(int made, bool copy, int *ret_tree, Error *reterr) {
        _cleanup_close_ int tree = -EBADF;

        if (made >= 0)
                return jail_dev_fill(made, /* bound= */ false, copy, ret_tree, reterr);
        tree = tree_clone(AT_FDCWD, "dev", false);
        if (tree < 0)
                return error_set(reterr, tree, "directory for /dev");
        return jail_dev_fill(tree, /* bound= */ true, copy, ret_tree, reterr);
}

static int put_all(int tree) {
        for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
                const char *name = nodes[i].target + strlen("dev/");

                /* fchmodat() sets the bits that the umask takes away. */
                if (mknodat(tree, name, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) < 0 ||
                                fchmodat(tree, name, 0666, 0) < 0)
                        return -errno;
        }
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                if (symlinkat(links[i].target, tree, links[i].path + strlen("dev/")) < 0)
                        return -errno;
        if (mkdirat(tree, "pts", 0755) < 0 || mkdirat(tree, "shm", 0755) < 0)
                return -errno;
        return 0;
}

int dev_make(Error *reterr) {
        static const FsOption options[] = {
                { "size",      "64k"  },
                { "nr_inodes", "32"   },
                { "mode",      "0755" },
        };
        _cleanup_close_ int tree = tree_make("tmpfs", options, ELEMENTSOF(options), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
        int r;

        if (tree < 0)
                return error_set(reterr, tree, "a file system for /dev: %m");
        r = put_all(tree);
        return r < 0 ? error_set(reterr, r, "nodes for /dev: %m%s", r == -EPERM ? " (root needs CAP_MKNOD for them)" : "") : TAKE_FD(tree);
}

int dev_attach(int tree, Error *reterr) {
        int r = tree_attach(tree, AT_FDCWD, "/dev");
        return r < 0 ? error_set(reterr, r, "/dev") : 0;
}
