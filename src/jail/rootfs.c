#include "jail/rootfs.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/dev.h"
#include "jail/furniture.h"
#include "jail/layered.h"
#include "jail/tree.h"
#include "jail/userns.h"

#define LOWER_ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define ROOT_ATTRIBUTES  (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static void add_lower(Rootfs *fs, const char *path) {
        if (fs->n_lowers < ROOTFS_LOWERS_MAX)
                fs->lowers[fs->n_lowers++] = (Lower) { .path = path, .tree = -EBADF, .overlay = -EBADF };
}

static void add_host_lowers(Rootfs *fs, const FurnitureList *names) {
        for (size_t i = 0; i < names->n; i++) {
                char path[64];
                struct stat st;

                (void) snprintf(path, sizeof(path), "/%s", names->items[i]);
                if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
                        add_lower(fs, names->items[i]);
        }
}

int rootfs_init(Rootfs *fs, const JailSpec *spec, bool privileged) {
        *fs = (Rootfs) {
                .backing = disk_choose(spec, privileged),
                .disk_tree = -EBADF,
                .host_root_fd = -EBADF,
                .root_tree = -EBADF,
                .dev_made = -EBADF,
                .dev_tree = -EBADF,
                .proc_tree = -EBADF,
                .boot = { .tree = -EBADF },
                .sudo_tree = -EBADF,
                .starts_empty = jail_starts_empty(spec),
                .privileged = privileged,
        };
        for (size_t i = 0; i < JAIL_VOLUMES_MAX; i++)
                fs->volume_trees[i] = -EBADF;
        if (jail_has_template(spec)) {
                add_lower(fs, "");
        } else {
                add_host_lowers(fs, &furniture_overlays);
                if (jail_has_shared_etc(spec) && privileged) {
                        add_lower(fs, FURNITURE_SHARED);
                        if (jail_is_for_root(spec))
                                add_host_lowers(fs, &furniture_overlays_beside);
                } else if (jail_is_for_root(spec) && privileged)
                        add_host_lowers(fs, &furniture_overlays_for_root);
        }
        if (spec->n_binds > 0) {
                fs->bind_trees = calloc(2 * spec->n_binds, sizeof(int));
                if (!fs->bind_trees)
                        return -ENOMEM;
                fs->bind_layers = fs->bind_trees + spec->n_binds;
                for (size_t i = 0; i < spec->n_binds; i++)
                        fs->bind_trees[i] = fs->bind_layers[i] = -EBADF;
        }
        return 0;
}

void rootfs_done(Rootfs *fs, const JailSpec *spec) {
        for (size_t i = 0; i < fs->n_lowers; i++) {
                fs->lowers[i].tree = fd_close(fs->lowers[i].tree);
                fs->lowers[i].overlay = fd_close(fs->lowers[i].overlay);
        }
        for (size_t i = 0; i < JAIL_VOLUMES_MAX; i++)
                fs->volume_trees[i] = fd_close(fs->volume_trees[i]);
        for (size_t i = 0; fs->bind_trees && i < 2 * spec->n_binds; i++)
                fs->bind_trees[i] = fd_close(fs->bind_trees[i]);
        free(fs->bind_trees);
        fs->bind_trees = fs->bind_layers = NULL;
        fs->disk_tree = fd_close(fs->disk_tree);
        fs->host_root_fd = fd_close(fs->host_root_fd);
        fs->root_tree = fd_close(fs->root_tree);
        fs->dev_made = fd_close(fs->dev_made);
        fs->dev_tree = fd_close(fs->dev_tree);
        fs->proc_tree = fd_close(fs->proc_tree);
        fs->boot.tree = fd_close(fs->boot.tree);
        fs->sudo_tree = fd_close(fs->sudo_tree);
}

static int open_lowers(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < fs->n_lowers; i++) {
                char path[64];
                const char *source = spec->template_dir;

                if (spec->trees && spec->trees->layer_fd >= 0) {
                        fs->lowers[i].tree = disk_open_tree(spec->trees->layer_fd, "the template's layer", reterr);
                        if (fs->lowers[i].tree < 0)
                                return fs->lowers[i].tree;
                        continue;
                }
                if (jail_has_shared_etc(spec) && strcmp(fs->lowers[i].path, FURNITURE_SHARED) == 0) {
                        fs->lowers[i].tree = tree_copy(spec->etc_fd);
                        if (fs->lowers[i].tree < 0)
                                return error_set(reterr, fs->lowers[i].tree, "cannot copy the shared /etc: %m");
                        continue;
                }
                if (!source) {
                        (void) snprintf(path, sizeof(path), "/%s", fs->lowers[i].path);
                        source = path;
                }
                /* In a plain user's namespace the host's mounts are locked together, so the whole tree is cloned. */
                fs->lowers[i].tree = tree_clone(AT_FDCWD, source, !fs->privileged);
                if (fs->lowers[i].tree < 0)
                        return error_set(reterr, fs->lowers[i].tree, "cannot open template directory '%s': %m", source);
        }
        return 0;
}

static int open_binds(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < spec->n_binds; i++) {
                const JailBind *bind = spec->binds + i;

                fs->bind_trees[i] = bind->layer ? tree_clone_same(bind->source, bind->source_fd, /* recursive= */ !fs->privileged) :
                                                  tree_clone(AT_FDCWD, bind->source, /* recursive= */ true);
                if (fs->bind_trees[i] == -ESTALE)
                        return error_set(reterr, -ESTALE, "'%s' is another directory now", bind->source);
                if (fs->bind_trees[i] < 0)
                        return error_set(reterr, fs->bind_trees[i], "cannot open '%s' to bind it: %m", bind->source);
                if (!bind->layer)
                        continue;
                fs->bind_layers[i] = layered_open(bind, reterr);
                if (fs->bind_layers[i] < 0)
                        return fs->bind_layers[i];
        }
        return 0;
}

static int open_volumes(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < jail_n_volumes(spec); i++) {
                fs->volume_trees[i] = disk_open_tree(spec->trees->volumes[i].fd, "a volume", reterr);
                if (fs->volume_trees[i] < 0)
                        return fs->volume_trees[i];
        }
        return 0;
}

static int open_sudo(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        char directory[PATH_MAX];

        if (!spec->sudo || !spec->sudo_program)
                return 0;
        (void) snprintf(directory, sizeof(directory), "%s", spec->sudo_program);
        fs->sudo_tree = tree_clone(AT_FDCWD, dirname(directory), !fs->privileged);
        return fs->sudo_tree < 0 ? error_set(reterr, fs->sudo_tree, "cannot open the directory of '%s': %m", spec->sudo_program) : 0;
}

static int open_dev(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r;

        if (!fs->privileged)
                return 0;
        if (spec->detached && spec->dev_fd >= 0) {
                fs->dev_made = fcntl(spec->dev_fd, F_DUPFD_CLOEXEC, 3);
                return fs->dev_made < 0 ? error_set(reterr, -errno, "/dev: %m") : 0;
        }
        r = dev_make(reterr);
        if (r < 0)
                return r;
        fs->dev_made = r;
        return 0;
}

static int open_disk(Rootfs *fs, const JailSpec *spec, uid_t base, Error *reterr) {
        if (fs->backing == DISK_IMAGE && spec->detached && spec->disk_fd >= 0) {
                fs->disk_tree = fcntl(spec->disk_fd, F_DUPFD_CLOEXEC, 3);
                if (fs->disk_tree < 0)
                        return error_set(reterr, -errno, "the disk image: %m");
        } else if (fs->backing == DISK_IMAGE)
                fs->disk_tree = disk_open_image(spec->limits.disk_bytes, reterr);
        else if (fs->backing == DISK_DIRECTORY)
                fs->disk_tree = disk_open_directory(spec->keep_dir, spec->keep_fd, base, base, reterr);
        else if (fs->backing == DISK_TREE)
                fs->disk_tree = disk_open_tree(spec->trees->disk_fd, "the sandbox's disk", reterr);
        else
                return 0;
        return fs->disk_tree < 0 ? fs->disk_tree : 0;
}

int rootfs_open(Rootfs *fs, const JailSpec *spec, uid_t base, Error *reterr) {
        int r;

        if (spec->trees && !fs->privileged)
                return error_set(reterr, -EOPNOTSUPP, "disks, volumes and layers need root, who can map their ids");
        r = open_lowers(fs, spec, reterr);
        if (r >= 0)
                r = open_binds(fs, spec, reterr);
        if (r >= 0)
                r = open_volumes(fs, spec, reterr);
        if (r >= 0)
                r = open_sudo(fs, spec, reterr);
        if (r >= 0)
                r = open_dev(fs, spec, reterr);
        return r < 0 ? r : open_disk(fs, spec, base, reterr);
}

/* Maps the owner of the source on the host to the guest's user inside, and back; all other ids become "nobody". */
static int restrict_bind(int tree, const JailSpec *spec, const JailBind *bind, uid_t base, Error *reterr) {
        _cleanup_close_ int userns = -EBADF;
        uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (bind->writable && !bind->layer ? 0 : MOUNT_ATTR_RDONLY);
        struct stat st;
        int r;

        if (base != 0) {
                if (fstat(tree, &st) < 0)
                        return error_set(reterr, -errno, "'%s': %m", bind->source);
                userns = userns_make(&(IdMap) {
                        .inside_uid = st.st_uid,
                        .outside_uid = base + spec->uid,
                        .inside_gid = st.st_gid,
                        .outside_gid = base + spec->gid,
                        .count = 1,
                });
                if (userns < 0)
                        return error_set(reterr, userns, "cannot make an id map for '%s': %m", bind->source);
        }
        r = tree_restrict(tree, attributes, userns, /* recursive= */ true);
        if (r == -EINVAL && userns >= 0)
                return error_set(reterr, r, "cannot bind '%s': its file system does not take id-mapped mounts; copy it "
                                            "in with --file, or bind a directory on ext4, xfs, btrfs or tmpfs",
                                bind->source);
        if (r < 0)
                return error_set(reterr, r, "cannot bind '%s': %m", bind->source);
        return 0;
}

static int restrict_lowers(Rootfs *fs, int userns_fd, bool *ret_idmap_failed, Error *reterr) {
        *ret_idmap_failed = false;
        for (size_t i = 0; i < fs->n_lowers; i++) {
                int r = tree_restrict(fs->lowers[i].tree, LOWER_ATTRIBUTES, userns_fd, !fs->privileged);

                if (r == -EINVAL && userns_fd >= 0) {
                        *ret_idmap_failed = true;
                        r = tree_restrict(fs->lowers[i].tree, LOWER_ATTRIBUTES, -EBADF, false);
                }
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict /%s: %m", fs->lowers[i].path);
        }
        return 0;
}

/* Volumes have files of all sandboxes: without the map they would belong to ids of the host, so the map is required. */
static int restrict_volumes(Rootfs *fs, const JailSpec *spec, int userns_fd, Error *reterr) {
        for (size_t i = 0; i < jail_n_volumes(spec); i++) {
                const JailVolume *v = &spec->trees->volumes[i];
                int r = userns_fd < 0 ? -EPERM :
                                        tree_restrict(fs->volume_trees[i], ROOT_ATTRIBUTES | (v->writable ? 0 : MOUNT_ATTR_RDONLY),
                                                        userns_fd, /* recursive= */ false);

                if (r < 0)
                        return error_set(reterr, r, "cannot restrict the volume at '%s': %m", v->target);
        }
        return 0;
}

/* Files of an image and of a tree have ids from 0; files of a kept directory have the sandbox's own ids. */
static int restrict_disk(Rootfs *fs, int userns_fd, Error *reterr) {
        bool mapped = fs->backing == DISK_IMAGE || fs->backing == DISK_TREE;
        int r;

        if (fs->disk_tree < 0)
                return 0;
        if (fs->backing == DISK_TREE && userns_fd < 0)
                return error_set(reterr, -EPERM, "the sandbox's disk needs an id map");
        r = tree_restrict(fs->disk_tree, ROOT_ATTRIBUTES, mapped ? userns_fd : -EBADF, false);
        return r < 0 ? error_set(reterr, r, "cannot restrict the writable layer: %m") : 0;
}

int rootfs_restrict(Rootfs *fs, const JailSpec *spec, int userns_fd, uid_t base, bool *ret_idmap_failed, Error *reterr) {
        int r = restrict_lowers(fs, userns_fd, ret_idmap_failed, reterr);

        for (size_t i = 0; i < spec->n_binds && r >= 0; i++) {
                r = restrict_bind(fs->bind_trees[i], spec, spec->binds + i, base, reterr);
                if (r >= 0 && spec->binds[i].layer)
                        r = layered_restrict(spec->binds + i, fs->bind_layers[i], userns_fd, reterr);
        }
        if (r >= 0)
                r = restrict_volumes(fs, spec, userns_fd, reterr);
        if (r >= 0 && fs->dev_made >= 0) {
                static const uint64_t attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

                r = tree_restrict(fs->dev_made, attributes, userns_fd, false);
                if (r == -EINVAL && userns_fd >= 0) /* before Linux 6.3 a tmpfs has no id maps: the nodes then have no owner, and all may open them */
                        r = tree_restrict(fs->dev_made, attributes, -EBADF, false);
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict /dev: %m");
        }
        if (r >= 0 && fs->sudo_tree >= 0) {
                r = tree_restrict(fs->sudo_tree, LOWER_ATTRIBUTES, userns_fd, !fs->privileged);
                if (r == -EINVAL && userns_fd >= 0) /* a file system without id maps: the program then has no owner, and can be executed all the same */
                        r = tree_restrict(fs->sudo_tree, LOWER_ATTRIBUTES, -EBADF, false);
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict '%s': %m", spec->sudo_program);
        }
        return r < 0 ? r : restrict_disk(fs, userns_fd, reterr);
}
