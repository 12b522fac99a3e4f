#include "spawner/ground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"

bool ground_is_needed(const SpawnCreate *q) {
        return q->kept || q->layer[0] || q->n_volumes > 0;
}

/* A volume must not cover the sandbox's own directories, nor overlap another volume: it would hide it, or its mount
 * point would be made in it. */
static int ground_check_target(const SpawnCreate *q, size_t i, Error *reterr) {
        static const char *const own[] = { "/proc", "/sys", "/dev" };
        const char *target = q->volumes[i].target;
        _cleanup_free_ char *normal = NULL;
        int r = path_normalize(target, &normal);

        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (r < 0 || strcmp(target, normal) != 0 || strcmp(target, "/") == 0)
                return error_set(reterr, -EINVAL, "'%.200s' is not a valid mount point for a volume: use an absolute, normalised path below /", target);
        for (size_t k = 0; k < ELEMENTSOF(own); k++)
                if (path_is_below(target, own[k]))
                        return error_set(reterr, -EINVAL, "'%.200s' is not a valid mount point for a volume: %s belongs to the sandbox itself", target, own[k]);
        for (size_t k = 0; k < i; k++)
                if (path_is_below(target, q->volumes[k].target) || path_is_below(q->volumes[k].target, target))
                        return error_set(reterr, -EINVAL, "two volumes overlap: '%.200s' and '%.200s'", q->volumes[k].target, target);
        return 0;
}

int ground_check(const SpawnCreate *q, bool privileged, Error *reterr) {
        if (!ground_is_needed(q))
                return 0;
        if (!privileged)
                return error_set(reterr, -EOPNOTSUPP, "persistent disks, volumes and layered templates need `cove serve` to be started by root");
        if (q->layer[0] && !tree_name_is_valid(q->layer))
                return error_set(reterr, -EINVAL, "'%.64s' is no layer", q->layer);
        if (q->n_volumes > SPAWN_VOLUMES_MAX)
                return error_set(reterr, -E2BIG, "%u volumes are more than %d", q->n_volumes, SPAWN_VOLUMES_MAX);
        for (size_t i = 0; i < q->n_volumes; i++) {
                int r;

                if (!tree_name_is_valid(q->volumes[i].name))
                        return error_set(reterr, -EINVAL, "'%.64s' is no volume", q->volumes[i].name);
                r = ground_check_target(q, i, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int ground_open_one(const Depot *depot, TreeKind kind, const char *name, int *ret, Error *reterr) {
        TreeRef ref = { .kind = (uint8_t) kind };
        int fd;

        (void) snprintf(ref.name, sizeof(ref.name), "%s", name);
        fd = depot_open_tree(depot, &ref, reterr);
        if (fd < 0)
                return fd;
        *ret = fd;
        return 0;
}

int ground_open(const Depot *depot, const SpawnCreate *q, JailTrees *ret, Error *reterr) {
        JailTrees t = JAIL_TREES_EMPTY;
        int r = 0;

        if (q->layer[0])
                r = ground_open_one(depot, TREE_LAYER, q->layer, &t.layer_fd, reterr);
        if (r >= 0 && q->kept)
                r = ground_open_one(depot, TREE_DISK, q->id, &t.disk_fd, reterr);
        for (size_t i = 0; i < q->n_volumes && r >= 0; i++) {
                JailVolume *v = &t.volumes[t.n_volumes++];

                *v = (JailVolume) { .fd = -EBADF, .target = q->volumes[i].target, .writable = q->volumes[i].writable };
                r = ground_open_one(depot, TREE_VOLUME, q->volumes[i].name, &v->fd, reterr);
        }
        if (r < 0) {
                ground_done(&t);
                return r;
        }
        *ret = t;
        return 0;
}

void ground_done(JailTrees *trees) {
        trees->layer_fd = fd_close(trees->layer_fd);
        trees->disk_fd = fd_close(trees->disk_fd);
        while (trees->n_volumes > 0)
                (void) fd_close(trees->volumes[--trees->n_volumes].fd);
}
