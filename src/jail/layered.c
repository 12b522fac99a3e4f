#include "jail/layered.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "jail/tree.h"

#define LAYER_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

int layered_open(const JailBind *bind, Error *reterr) {
        int tree = tree_clone_same(bind->layer, bind->layer_fd, /* recursive= */ false);

        if (tree == -ESTALE)
                return error_set(reterr, tree, "'%s' is another directory now", bind->layer);
        if (tree < 0)
                return error_set(reterr, tree, "cannot use '%s' for what the guest changes: %m", bind->layer);
        return tree;
}

int layered_restrict(const JailBind *bind, int layer_tree, int userns_fd, Error *reterr) {
        int r = tree_restrict(layer_tree, LAYER_ATTRIBUTES, userns_fd, /* recursive= */ false);

        if (r == -EINVAL && userns_fd >= 0)
                return error_set(reterr, r, "cannot use '%s' for what the guest changes: its file system does not take id-mapped "
                                            "mounts; use one on ext4, xfs or btrfs",
                                bind->layer);
        if (r < 0)
                return error_set(reterr, r, "cannot restrict '%s': %m", bind->layer);
        return 0;
}

int layered_make(const JailBind *bind, size_t number, int layer_tree, int *tree, Error *reterr) {
        char low[32], layer[32], up[48], work[48];
        const FsOption options[] = {
                { "lowerdir",  low   },
                { "upperdir",  up    },
                { "workdir",   work  },
                { "index",     "off" }, /* the same upper may be used again on a source that has changed meanwhile */
                { "userxattr", NULL  },
        };
        int overlay, r;

        (void) snprintf(low, sizeof(low), "lower-bind-%zu", number);
        (void) snprintf(layer, sizeof(layer), "work-bind-%zu", number);
        (void) snprintf(up, sizeof(up), "%s/upper", layer);
        (void) snprintf(work, sizeof(work), "%s/work", layer);
        if (mkdir(low, 0755) < 0 || mkdir(layer, 0755) < 0)
                return error_set(reterr, -errno, "directories of the overlay of '%s'", bind->source);
        r = tree_attach(*tree, AT_FDCWD, low);
        if (r >= 0)
                r = tree_attach(layer_tree, AT_FDCWD, layer);
        if (r < 0)
                return error_set(reterr, r, "layers of '%s'", bind->source);
        overlay = tree_make("overlay", options, ELEMENTSOF(options), LAYER_ATTRIBUTES);
        if (overlay < 0)
                return error_set(reterr, overlay, "overlay of '%s'", bind->source);
        (void) fd_close(*tree);
        *tree = overlay;
        return 0;
}
