#include "jail/dev.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "jail/tree.h"

/* Nodes cannot be made in a user namespace, so the host's are bound one by one. */
static const struct {
        const char *source, *target;
} nodes[] = {
        { "/dev/full",    "dev/full"    },
        { "/dev/null",    "dev/null"    },
        { "/dev/random",  "dev/random"  },
        { "/dev/tty",     "dev/tty"     },
        { "/dev/urandom", "dev/urandom" },
        { "/dev/zero",    "dev/zero"    },
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

static int bind_nodes(Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
                if (mknod(nodes[i].target, S_IFREG | 0666, 0) < 0)
                        return error_set(reterr, -errno, "%s", nodes[i].target);
                if (mount(nodes[i].source, nodes[i].target, NULL, MS_BIND, NULL) < 0)
                        return error_set(reterr, -errno, "%s", nodes[i].source);
        }
        return 0;
}

static int mount_pts(Error *reterr) {
        static const FsOption options[] = {
                { "ptmxmode", "0666" }, /* an instance of its own since Linux 4.7, whatever the options */
                { "mode",     "0620" },
                { "max",      "256"  }, /* of the few thousand that the whole host has */
        };
        _cleanup_close_ int tree = tree_make("devpts", options, ELEMENTSOF(options),
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
        int r;

        if (tree < 0)
                return error_set(reterr, tree, "devpts");
        if (mkdir("dev/pts", 0755) < 0)
                return error_set(reterr, -errno, "/dev/pts");
        r = tree_attach(tree, AT_FDCWD, "dev/pts");
        return r < 0 ? error_set(reterr, r, "/dev/pts") : 0;
}

int dev_fill(int *ret_tree, Error *reterr) {
        _cleanup_close_ int tree = tree_clone(AT_FDCWD, "dev", false);
        int r;

        if (tree < 0)
                return error_set(reterr, tree, "directory for /dev");
        r = tree_attach(tree, AT_FDCWD, "dev");
        if (r < 0)
                return error_set(reterr, r, "directory for /dev");
        r = bind_nodes(reterr);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                if (symlink(links[i].target, links[i].path) < 0)
                        return error_set(reterr, -errno, "%s", links[i].path);
        r = mount_pts(reterr);
        if (r < 0)
                return r;

        /* One call for the nodes and the directory they are in. */
        r = tree_restrict(tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, /* userns_fd= */ -EBADF, /* recursive= */ true);
        if (r < 0)
                return error_set(reterr, r, "/dev");
        if (mkdir("dev/shm", 01777) < 0 || mount("shm", "dev/shm", NULL, MS_BIND, NULL) < 0)
                return error_set(reterr, -errno, "/dev/shm");
        r = tree_restrict(tree, MOUNT_ATTR_RDONLY, /* userns_fd= */ -EBADF, /* recursive= */ false);
        if (r < 0)
                return error_set(reterr, r, "/dev read-only");

        /* What is attached here goes with the old root. */
        r = tree_clone(AT_FDCWD, "dev", /* recursive= */ true);
        if (r < 0)
                return error_set(reterr, r, "/dev");
        *ret_tree = r;
        return 0;
}

int dev_attach(int tree, Error *reterr) {
        int r = tree_attach(tree, AT_FDCWD, "/dev");
        return r < 0 ? error_set(reterr, r, "/dev") : 0;
}
