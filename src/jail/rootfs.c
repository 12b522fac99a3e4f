#include "jail/rootfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/dirs.h"
#include "jail/content.h"
#include "jail/dev.h"
#include "jail/hostetc.h"
#include "jail/layered.h"
#include "jail/names.h"
#include "jail/proc.h"
#include "jail/tree.h"
#include "jail/userns.h"

#define LOWER_ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define ROOT_ATTRIBUTES  (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Directories of the host that become overlays. On merged-/usr systems only /usr is one and the rest are links, which
 * are made as links. */
static const char *const host_directories[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32" };

/* Those that guest root expects to change: packages put things there. For others they are plain read-only binds. */
static const char *const host_directories_for_root[] = {
        "etc/alternatives", "etc/ssl/certs", "etc/dpkg", "etc/fonts", "etc/perl", "etc/python3", "var/lib/dpkg",
};

typedef enum SkeletonFlags {
        FOR_USER = 1 << 0, /* belongs to the guest's user */
        FOR_ROOT = 1 << 1, /* only guest root has use for it: installing packages, making users */
} SkeletonFlags;

static const struct {
        const char *path;
        mode_t mode;
        SkeletonFlags flags;
} skeleton[] = {
        { "/dev",                            0755,  0        },
        { "/etc",                            0755,  0        },
        { "/etc/ssl",                        0755,  0        },
        { "/home",                           0755,  0        },
        { "/home/user",                      0755,  FOR_USER },
        { "/proc",                           0555,  0        },
        { "/root",                           0700,  0        },
        { "/run",                            0755,  0        },
        { "/sys",                            0555,  0        },
        { "/tmp",                            01777, 0        },
        { "/var",                            0755,  0        },
        { "/var/tmp",                        01777, 0        },
        { "/workspace",                      0755,  FOR_USER },
        { "/etc/apt",                        0755,  FOR_ROOT },
        { "/etc/apt/apt.conf.d",             0755,  FOR_ROOT },
        { "/mnt",                            0755,  FOR_ROOT },
        { "/opt",                            0755,  FOR_ROOT },
        { "/run/lock",                       01777, FOR_ROOT },
        { "/srv",                            0755,  FOR_ROOT },
        { "/var/cache",                      0755,  FOR_ROOT },
        { "/var/cache/apt",                  0755,  FOR_ROOT },
        { "/var/cache/apt/archives",         0755,  FOR_ROOT },
        { "/var/cache/apt/archives/partial", 0755,  FOR_ROOT },
        { "/var/lib",                        0755,  FOR_ROOT },
        { "/var/lib/apt",                    0755,  FOR_ROOT },
        { "/var/lib/apt/lists",              0755,  FOR_ROOT },
        { "/var/lib/apt/lists/partial",      0755,  FOR_ROOT },
        { "/var/log",                        0755,  FOR_ROOT },
        { "/var/log/apt",                    0755,  FOR_ROOT },
        { "/var/mail",                       0755,  FOR_ROOT },
        { "/var/spool",                      0755,  FOR_ROOT },
};

static void add_lower(Rootfs *fs, const char *path) {
        if (fs->n_lowers < ROOTFS_LOWERS_MAX)
                fs->lowers[fs->n_lowers++] = (Lower) { .path = path, .tree = -EBADF };
}

static void add_host_lowers(Rootfs *fs, const char *const *names, size_t n) {
        for (size_t i = 0; i < n; i++) {
                char path[64];
                struct stat st;

                (void) snprintf(path, sizeof(path), "/%s", names[i]);
                if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
                        add_lower(fs, names[i]);
        }
}

int rootfs_init(Rootfs *fs, const JailSpec *spec, bool privileged) {
        *fs = (Rootfs) {
                .backing = disk_choose(spec, privileged),
                .disk_tree = -EBADF,
                .host_root_fd = -EBADF,
                .dev_shared = -EBADF,
                .dev_tree = -EBADF,
                .proc_tree = -EBADF,
                .privileged = privileged,
        };
        if (spec->template_dir) {
                add_lower(fs, "");
        } else {
                add_host_lowers(fs, host_directories, ELEMENTSOF(host_directories));
                if (spec->uid == 0 && privileged)
                        add_host_lowers(fs, host_directories_for_root, ELEMENTSOF(host_directories_for_root));
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
        for (size_t i = 0; i < fs->n_lowers; i++)
                fs->lowers[i].tree = fd_close(fs->lowers[i].tree);
        for (size_t i = 0; fs->bind_trees && i < 2 * spec->n_binds; i++)
                fs->bind_trees[i] = fd_close(fs->bind_trees[i]);
        free(fs->bind_trees);
        fs->bind_trees = fs->bind_layers = NULL;
        fs->disk_tree = fd_close(fs->disk_tree);
        fs->host_root_fd = fd_close(fs->host_root_fd);
        fs->dev_shared = fd_close(fs->dev_shared);
        fs->dev_tree = fd_close(fs->dev_tree);
        fs->proc_tree = fd_close(fs->proc_tree);
}

static int open_binds(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < spec->n_binds; i++) {
                const JailBind *bind = spec->binds + i;

                fs->bind_trees[i] = tree_clone(AT_FDCWD, bind->source, /* recursive= */ !bind->layer || !fs->privileged);
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

int rootfs_open(Rootfs *fs, const JailSpec *spec, uid_t base, Error *reterr) {
        int r;

        for (size_t i = 0; i < fs->n_lowers; i++) {
                char path[64];
                const char *source = spec->template_dir;

                if (!source) {
                        (void) snprintf(path, sizeof(path), "/%s", fs->lowers[i].path);
                        source = path;
                }
                /* A plain user's namespace holds the host's mounts together: there it takes the whole tree. */
                fs->lowers[i].tree = tree_clone(AT_FDCWD, source, !fs->privileged);
                if (fs->lowers[i].tree < 0)
                        return error_set(reterr, fs->lowers[i].tree, "cannot open template directory '%s': %m", source);
        }
        r = open_binds(fs, spec, reterr);
        if (r < 0)
                return r;

        if (spec->detached && spec->dev_fd >= 0) {
                fs->dev_shared = dev_copy_shared(spec->dev_fd);
                if (fs->dev_shared < 0)
                        return error_set(reterr, fs->dev_shared, "cannot copy /dev: %m");
        }
        if (fs->backing == DISK_IMAGE && spec->detached && spec->disk_fd >= 0) {
                fs->disk_tree = fcntl(spec->disk_fd, F_DUPFD_CLOEXEC, 3);
                if (fs->disk_tree < 0)
                        return error_set(reterr, -errno, "the disk image: %m");
        } else if (fs->backing == DISK_IMAGE)
                fs->disk_tree = disk_open_image(spec->limits.disk_bytes, reterr);
        else if (fs->backing == DISK_DIRECTORY)
                fs->disk_tree = disk_open_directory(spec->keep_dir, spec->keep_fd, base, base, reterr);
        else
                return 0;
        return fs->disk_tree < 0 ? fs->disk_tree : 0;
}

/* The owner of the source on the host is the guest's user inside, and the other way round; other ids are nobody. */
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

int rootfs_restrict(Rootfs *fs, const JailSpec *spec, int userns_fd, uid_t base, bool *ret_idmap_failed, Error *reterr) {
        bool failed = false;
        int r;

        for (size_t i = 0; i < fs->n_lowers; i++) {
                r = tree_restrict(fs->lowers[i].tree, LOWER_ATTRIBUTES, userns_fd, !fs->privileged);
                if (r == -EINVAL && userns_fd >= 0) {
                        failed = true;
                        r = tree_restrict(fs->lowers[i].tree, LOWER_ATTRIBUTES, -EBADF, false);
                }
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict /%s: %m", fs->lowers[i].path);
        }
        for (size_t i = 0; i < spec->n_binds; i++) {
                r = restrict_bind(fs->bind_trees[i], spec, spec->binds + i, base, reterr);
                if (r >= 0 && spec->binds[i].layer)
                        r = layered_restrict(spec->binds + i, fs->bind_layers[i], userns_fd, reterr);
                if (r < 0)
                        return r;
        }
        if (fs->dev_shared >= 0) {
                r = tree_restrict(fs->dev_shared, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, userns_fd, false);
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict /dev: %m");
        }
        if (fs->disk_tree >= 0) {
                /* The image's files are numbered from 0; a kept directory has the sandbox's own numbers. */
                r = tree_restrict(fs->disk_tree, ROOT_ATTRIBUTES, fs->backing == DISK_IMAGE ? userns_fd : -EBADF, false);
                if (r < 0)
                        return error_set(reterr, r, "cannot restrict the writable layer: %m");
        }
        *ret_idmap_failed = failed;
        return 0;
}

/* From here on: inside, as guest root, in the sandbox's own mount namespace. */

static int layer_attach(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r;

        if (fs->backing == DISK_MEMORY) {
                fs->disk_tree = disk_open_memory(spec->limits.disk_bytes, reterr);
                if (fs->disk_tree < 0)
                        return fs->disk_tree;
        }
        /* Any directory will do; it is covered in this namespace alone, and let go with the old root. */
        r = tree_attach(fs->disk_tree, AT_FDCWD, "/sys");
        if (r < 0)
                return error_set(reterr, r, "cannot attach the writable layer at /sys");
        if (fchdir(fs->disk_tree) < 0)
                return error_set(reterr, -errno, "writable layer");
        return 0;
}

/* "upper-usr", "work-etc-alternatives": the layer's directories say what they are for, since --keep leaves some. */
static void layer_name(const char *kind, const Lower *lower, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s-%s", kind, lower->path[0] ? lower->path : "root");
        for (char *p = ret; *p; p++)
                if (*p == '/')
                        *p = '-';
}

/* Works in the layer's directory. */
static int make_overlay(const Lower *lower, int *ret_tree, Error *reterr) {
        char low[64], up[64], work[64];
        const FsOption options[] = {
                { "lowerdir",  low  },
                { "upperdir",  up   },
                { "workdir",   work },
                { "userxattr", NULL }, /* made by guest root, who may not write trusted.* */
        };
        int tree, r;

        layer_name("lower", lower, low, sizeof(low));
        layer_name("upper", lower, up, sizeof(up));
        layer_name("work", lower, work, sizeof(work));
        if (mkdir(low, 0755) < 0 || mkdir(up, 0755) < 0 || mkdir(work, 0755) < 0)
                return error_set(reterr, -errno, "directories of the overlay of /%s", lower->path);
        r = tree_attach(lower->tree, AT_FDCWD, low);
        if (r < 0)
                return error_set(reterr, r, "lower layer of /%s", lower->path);
        tree = tree_make("overlay", options, ELEMENTSOF(options), ROOT_ATTRIBUTES);
        if (tree < 0)
                return error_set(reterr, tree, "overlay of /%s", lower->path);
        *ret_tree = tree;
        return 0;
}

static int attach_overlays(Rootfs *fs, Error *reterr) {
        for (size_t i = 0; i < fs->n_lowers; i++) {
                _cleanup_close_ int tree = -EBADF;
                char target[128];
                int r;

                r = make_overlay(fs->lowers + i, &tree, reterr);
                if (r < 0)
                        return r;
                (void) snprintf(target, sizeof(target), "root/%s", fs->lowers[i].path);
                if (fs->lowers[i].path[0]) {
                        r = dir_make_parents(target, 0755);
                        if (r < 0 || (mkdir(target, 0755) < 0 && errno != EEXIST))
                                return error_set(reterr, r < 0 ? r : -errno, "/%s", fs->lowers[i].path);
                }
                r = tree_attach(tree, AT_FDCWD, target);
                if (r < 0)
                        return error_set(reterr, r, "/%s", fs->lowers[i].path);
        }
        return 0;
}

int rootfs_make_layer(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        _cleanup_close_ int root = -EBADF;
        int r;

        fs->host_root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fs->host_root_fd < 0)
                return error_set(reterr, -errno, "/");
        r = layer_attach(fs, spec, reterr);
        if (r < 0)
                return r;

        if (mkdir("root", 0755) < 0 || mkdir("dev", 0755) < 0 || mkdir("shm", 01777) < 0)
                return error_set(reterr, -errno, "writable layer");
        r = dev_fill(fs->dev_shared, &fs->dev_tree, reterr);
        if (r < 0)
                return r;
        r = proc_make(&fs->proc_tree, reterr);
        if (r < 0)
                return r;

        /* pivot_root wants a mount: root/ is bound onto itself. With a template directory the overlay is the mount. */
        if (!spec->template_dir) {
                root = tree_clone(AT_FDCWD, "root", false);
                if (root < 0)
                        return error_set(reterr, root, "root directory");
                r = tree_attach(root, AT_FDCWD, "root");
                if (r < 0)
                        return error_set(reterr, r, "root directory");
        }
        r = attach_overlays(fs, reterr);
        for (size_t i = 0; i < spec->n_binds && r >= 0; i++)
                if (spec->binds[i].layer)
                        r = layered_make(spec->binds + i, i, fs->bind_layers[i], fs->bind_trees + i, reterr);
        return r;
}

int rootfs_pivot(Rootfs *fs, Error *reterr) {
        if (chdir("root") < 0)
                return error_set(reterr, -errno, "root directory");
        /* The old root ends up on top of the new one and is taken away by rootfs_let_go(); "/" means the new one. */
        if (syscall(SYS_pivot_root, ".", ".") < 0)
                return error_set(reterr, -errno, "pivot_root%s",
                                errno == EINVAL ? " (is / the initial ramfs? switch_root to a real file system)" : "");
        return 0;
}

int rootfs_let_go(Rootfs *fs, Error *reterr) {
        if (fchdir(fs->host_root_fd) < 0)
                return error_set(reterr, -errno, "old root");
        if (umount2(".", MNT_DETACH) < 0)
                return error_set(reterr, -errno, "old root");
        if (chdir("/") < 0)
                return error_set(reterr, -errno, "/");
        fs->host_root_fd = fd_close(fs->host_root_fd);
        return 0;
}

static int make_skeleton(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(skeleton); i++) {
                int r = 0;

                if ((skeleton[i].flags & FOR_ROOT) && (spec->uid != 0 || spec->template_dir))
                        continue;
                if (mkdir(skeleton[i].path, skeleton[i].mode) < 0) {
                        if (errno == EEXIST)
                                continue;
                        return error_set(reterr, -errno, "%s", skeleton[i].path);
                }
                if (skeleton[i].flags & FOR_USER)
                        r = content_give_to_user(fs, spec, skeleton[i].path);
                if (r < 0)
                        return error_set(reterr, r, "%s", skeleton[i].path);
        }
        return 0;
}

/* bin → usr/bin and its like, as the host has them. */
static int copy_links(const Rootfs *fs, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(host_directories); i++) {
                char target[256], place[64];
                ssize_t n = readlinkat(fs->host_root_fd, host_directories[i], target, sizeof(target) - 1);

                if (n < 0)
                        continue;
                target[n] = '\0';
                (void) snprintf(place, sizeof(place), "/%s", host_directories[i]);
                if (symlink(target, place) < 0 && errno != EEXIST)
                        return error_set(reterr, -errno, "%s", place);
        }
        return 0;
}

static bool is_overlay(const char *path, const void *arg) {
        const Rootfs *fs = arg;

        for (size_t i = 0; i < fs->n_lowers; i++)
                if (strcmp(fs->lowers[i].path, path) == 0)
                        return true;
        return false;
}

int rootfs_take_from_host(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r;

        if (spec->template_dir)
                return 0;
        r = make_skeleton(fs, spec, reterr);
        if (r < 0)
                return r;
        r = copy_links(fs, reterr);
        if (r < 0)
                return r;
        return hostetc_setup(spec, fs->host_root_fd, is_overlay, fs, reterr);
}

int rootfs_complete(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r = 0;

        if (spec->template_dir)
                r = make_skeleton(fs, spec, reterr);
        if (r >= 0 && spec->template_dir)
                r = names_adapt(spec, reterr);
        if (r < 0)
                return r;
        r = dev_attach(fs->dev_tree, reterr);
        if (r < 0)
                return r;
        return proc_attach(fs->proc_tree, reterr);
}
