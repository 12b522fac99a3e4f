#include "jail/dev.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/tree.h"

static const char *const nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };

static const struct {
        const char *target, *path;
} links[] = {
        { "/proc/self/fd",   "/dev/fd"     },
        { "/proc/self/fd/0", "/dev/stdin"  },
        { "/proc/self/fd/1", "/dev/stdout" },
        { "/proc/self/fd/2", "/dev/stderr" },
        { "pts/ptmx",        "/dev/ptmx"   },
};

/* Nodes cannot be made in a user namespace, so the host's are bound one by one. */
static int bind_node(int host_root_fd, const char *name, Error *reterr) {
        _cleanup_close_ int tree = -EBADF, file = -EBADF;
        char from[32], to[32];
        int r;

        (void) snprintf(from, sizeof(from), "dev/%s", name);
        (void) snprintf(to, sizeof(to), "/dev/%s", name);

        tree = tree_clone(host_root_fd, from, /* recursive= */ false);
        if (tree < 0)
                return error_set(reterr, tree, "/dev/%s of the host", name);
        file = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (file < 0)
                return error_set(reterr, -errno, "%s", to);
        r = tree_restrict(tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, /* userns_fd= */ -EBADF, false);
        if (r < 0)
                return error_set(reterr, r, "%s", to);
        r = tree_attach(tree, AT_FDCWD, to);
        if (r < 0)
                return error_set(reterr, r, "%s", to);
        return 0;
}

static int mount_pts(Error *reterr) {
        static const FsOption options[] = {
                { "ptmxmode", "0666" }, /* an instance of its own since Linux 4.7, whatever the options */
                { "mode",     "0620" },
        };
        _cleanup_close_ int tree = tree_make("devpts", options, ELEMENTSOF(options),
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, /* ret_failed= */ NULL);
        int r;

        if (tree < 0)
                return error_set(reterr, tree, "devpts");
        if (mkdir("/dev/pts", 0755) < 0)
                return error_set(reterr, -errno, "/dev/pts");
        r = tree_attach(tree, AT_FDCWD, "/dev/pts");
        if (r < 0)
                return error_set(reterr, r, "/dev/pts");
        return 0;
}

int dev_setup(int host_root_fd, int dev_tree, int shm_tree, Error *reterr) {
        int r;

        r = tree_attach(dev_tree, AT_FDCWD, "/dev");
        if (r < 0)
                return error_set(reterr, r, "/dev");

        for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
                r = bind_node(host_root_fd, nodes[i], reterr);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < ELEMENTSOF(links); i++)
                if (symlink(links[i].target, links[i].path) < 0)
                        return error_set(reterr, -errno, "%s", links[i].path);

        r = mount_pts(reterr);
        if (r < 0)
                return r;
        if (mkdir("/dev/shm", 01777) < 0)
                return error_set(reterr, -errno, "/dev/shm");
        r = tree_attach(shm_tree, AT_FDCWD, "/dev/shm");
        if (r < 0)
                return error_set(reterr, r, "/dev/shm");

        r = tree_restrict(dev_tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, /* userns_fd= */ -EBADF, false);
        if (r < 0)
                return error_set(reterr, r, "/dev read-only");
        return 0;
}
