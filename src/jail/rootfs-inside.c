/* rootfs-inside.c: the steps inside that make the root directory: layer, overlays, the new root, contents. */

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "base/path.h"
#include "jail/apart.h"
#include "jail/content.h"
#include "jail/dev.h"
#include "jail/furniture.h"
#include "jail/layered.h"
#include "jail/names.h"
#include "jail/proc.h"
#include "jail/rootfs.h"
#include "jail/sharedetc.h"
#include "jail/tree.h"

#define OVERLAY_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static int layer_attach(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        const char *place;
        int r;

        if (fs->backing == DISK_MEMORY) {
                fs->disk_tree = disk_open_memory(spec->limits.disk_bytes, reterr);
                if (fs->disk_tree < 0)
                        return fs->disk_tree;
        }
        /* Any directory of the host will do: it is covered in this namespace alone, and released with the old root. */
        place = fs->starts_empty ? "/" : "/sys";
        r = tree_attach(fs->disk_tree, AT_FDCWD, place);
        if (r < 0)
                return error_set(reterr, r, "cannot attach the writable layer at %s", place);
        if (fchdir(fs->disk_tree) < 0)
                return error_set(reterr, -errno, "writable layer");
        return 0;
}

/* "upper-usr", "work-etc-alternatives": the names of the layer's directories say their purpose, since --keep
 * leaves some. */
static void layer_name(const char *kind, const Lower *lower, char *ret, size_t size) {
        (void) snprintf(ret, size, "%s-%s", kind, lower->path[0] ? lower->path : "root");
        for (char *p = ret; *p; p++)
                if (*p == '/')
                        *p = '-';
}

/* Two subvolumes of one btrfs number their files alike, and an overlay of them would show two files as one and the same (`cp` refuses
 * to copy one onto the other). An overlay in between has numbers of its own. */
static bool is_on_btrfs(int tree) {
        struct statfs fs;

        return fstatfs(tree, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC;
}

/* These directories are entered while the host is still reachable. On a disk they may have been made by others:
 * a link must not pass as a directory. */
static int rootfs_inside_make_place(const char *name, mode_t mode) {
        struct stat st;
        int r = dir_make(name, mode);

        if (r < 0)
                return r;
        if (lstat(name, &st) < 0)
                return -errno;
        return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int rootfs_inside_make_directories(const Lower *lower, const char *low, const char *up, const char *work, Error *reterr) {
        int r = rootfs_inside_make_place(low, 0755);

        if (r >= 0)
                r = rootfs_inside_make_place(up, 0755);
        if (r >= 0)
                r = rootfs_inside_make_place(work, 0755);
        return r < 0 ? error_set(reterr, r, "directories of the overlay of /%s", lower->path) : 0;
}

/* Works in the layer's directory. */
static int make_overlay(const Rootfs *fs, const Lower *lower, const JailSpec *spec, int *ret_tree, Error *reterr) {
        char low[64], up[64], work[64];
        const FsOption options[] = {
                { "lowerdir",  low   },
                { "upperdir",  up    },
                { "workdir",   work  },
                { "userxattr", NULL  }, /* made by guest root, which may not write trusted.* */
                { "index",     "off" }, /* for a kept disk: otherwise the kernel may refuse an upper layer that is a copy of another */
        };
        bool kept = jail_is_kept(spec);
        int tree, r;

        layer_name("lower", lower, low, sizeof(low));
        layer_name("upper", lower, up, sizeof(up));
        layer_name("work", lower, work, sizeof(work));
        r = rootfs_inside_make_directories(lower, low, up, work, reterr);
        if (r < 0)
                return r;
        r = jail_has_shared_etc(spec) && strcmp(lower->path, FURNITURE_SHARED) == 0 ? names_put_own(spec, up, reterr) : 0;
        if (r < 0)
                return r;
        r = tree_attach(lower->tree, AT_FDCWD, low);
        if (r < 0)
                return error_set(reterr, r, "lower layer of /%s", lower->path);
        r = kept && is_on_btrfs(lower->tree) ? apart_cover(low, "empty") : 0;
        if (r < 0)
                return error_set(reterr, r, "an overlay of %s alone", low);
        tree = tree_make("overlay", options, ELEMENTSOF(options) - (kept ? 0 : 1), OVERLAY_ATTRIBUTES);
        /* To a plain user, the kernel refuses an overlay of a directory below which the host has mounts (drivers below
         * /usr/local/nvidia or /usr/lib/wsl): it would show what they cover. Then the directory is read-only with its mounts. */
        if (tree == -EINVAL && !fs->privileged && *lower->path)
                tree = tree_clone(AT_FDCWD, low, /* recursive= */ true);
        if (tree < 0)
                return error_set(reterr, tree, "overlay of /%s%s", lower->path,
                                kept && tree == -EINVAL ? " (overlays on id-mapped disks need Linux 5.19)" : "");
        *ret_tree = tree;
        return 0;
}

static int make_overlays(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < fs->n_lowers; i++) {
                int r = make_overlay(fs, fs->lowers + i, spec, &fs->lowers[i].overlay, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_shm(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        _cleanup_close_ int tree = -EBADF;
        int r = rootfs_inside_make_place("shm", 01777);

        if (r < 0)
                return error_set(reterr, r, "writable layer");
        if (fs->backing != DISK_TREE)
                return 0;
        tree = disk_open_shm(spec->limits.memory_bytes / 2, reterr);
        if (tree < 0)
                return tree;
        r = tree_attach(tree, AT_FDCWD, "shm");
        return r < 0 ? error_set(reterr, r, "/dev/shm") : 0;
}

static int make_places(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        struct stat st;
        int r;

        fs->lived_in = lstat("root", &st) == 0;
        r = rootfs_inside_make_place("root", 0755);
        if (r >= 0)
                r = rootfs_inside_make_place("dev", 0755);
        if (r >= 0)
                r = rootfs_inside_make_place("empty", 0755);
        return r < 0 ? error_set(reterr, r, "writable layer") : make_shm(fs, spec, reterr);
}

/* The root directory must be a mount. With a template the overlay is one. */
static int make_root_mount(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int tree = jail_has_template(spec) ? TAKE_FD(fs->lowers[0].overlay) : tree_clone(AT_FDCWD, "root", false);

        if (tree < 0)
                return error_set(reterr, tree, "root directory");
        fs->root_tree = tree;
        return 0;
}

static bool is_overlay(const char *path, const void *arg) {
        const Rootfs *fs = arg;

        for (size_t i = 0; i < fs->n_lowers; i++)
                if (strcmp(fs->lowers[i].path, path) == 0)
                        return true;
        return false;
}

/* Shows the program alone, and nothing else of its directory. */
static int make_sudo(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        char path[NAME_MAX + 16];
        int r = rootfs_inside_make_place("lower-sudo", 0755);

        if (r >= 0)
                r = tree_attach(fs->sudo_tree, AT_FDCWD, "lower-sudo");
        if (r >= 0)
                r = apart_cover("lower-sudo", "empty");
        (void) snprintf(path, sizeof(path), "lower-sudo%s", strrchr(spec->sudo_program, '/'));
        if (r >= 0)
                r = tree_clone(AT_FDCWD, path, /* recursive= */ false);
        if (r < 0)
                return error_set(reterr, r, "%s", spec->sudo_program);
        (void) fd_close(fs->sudo_tree);
        fs->sudo_tree = r;
        return 0;
}

int rootfs_make_layer(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r;

        if (fs->host_root_fd < 0)
                fs->host_root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fs->host_root_fd < 0)
                return error_set(reterr, -errno, "/");
        r = layer_attach(fs, spec, reterr);
        if (r >= 0)
                r = make_places(fs, spec, reterr);
        if (r >= 0)
                r = bootid_make(&fs->boot, reterr);
        if (r >= 0)
                r = dev_fill(fs->dev_made, !fs->starts_empty, &fs->dev_tree, reterr);
        if (r >= 0)
                r = proc_make(&fs->proc_tree, reterr);
        if (r >= 0)
                r = make_overlays(fs, spec, reterr);
        if (r >= 0 && !jail_has_template(spec))
                r = hostetc_open(spec, is_overlay, fs, &fs->host_etc, reterr);
        if (r >= 0 && fs->sudo_tree >= 0)
                r = make_sudo(fs, spec, reterr);
        for (size_t i = 0; i < spec->n_binds && r >= 0; i++)
                if (spec->binds[i].layer)
                        r = layered_make(spec->binds + i, i, fs->bind_layers[i], fs->bind_trees + i, reterr);
        return r < 0 ? r : make_root_mount(fs, spec, reterr);
}

int rootfs_enter(Rootfs *fs, Error *reterr) {
        int r = tree_attach(fs->root_tree, AT_FDCWD, fs->starts_empty ? "/" : "root");

        if (r >= 0 && fchdir(fs->root_tree) < 0)
                r = -errno;
        if (r < 0)
                return error_set(reterr, r, "root directory");
        fs->root_tree = fd_close(fs->root_tree);
        /* It is the topmost mount of the namespace: whoever enters the namespace, or climbs out of a chroot in it, is there. */
        if (fs->starts_empty)
                return chroot(".") < 0 ? error_set(reterr, -errno, "chroot") : 0;
        /* The old root ends up on top of the new one and is taken away by rootfs_let_go(); "/" means the new one. */
        if (syscall(SYS_pivot_root, ".", ".") < 0)
                return error_set(reterr, -errno, "pivot_root%s",
                                errno == EINVAL ? " (is / the initial ramfs? switch_root to a real file system)" : "");
        return 0;
}

/* The descriptor stays open until everything has been taken from the old root. No name leads to it, since there
 * is no /proc yet. */
int rootfs_let_go(Rootfs *fs, Error *reterr) {
        if (fs->starts_empty)
                return 0;
        if (fchdir(fs->host_root_fd) < 0)
                return error_set(reterr, -errno, "old root");
        if (umount2(".", MNT_DETACH) < 0)
                return error_set(reterr, -errno, "old root");
        if (chdir("/") < 0)
                return error_set(reterr, -errno, "/");
        return 0;
}

static int make_ours(const char *path, mode_t mode) {
        struct stat st;

        if (mkdir(path, mode) == 0)
                return 0;
        if (errno != EEXIST || lstat(path, &st) < 0)
                return -errno;
        if (S_ISDIR(st.st_mode))
                return 0;
        return unlink(path) < 0 || mkdir(path, mode) < 0 ? -errno : 0;
}

/* A build works as root, elsewhere, and other users begin with its disk. On the host's template that is the user; on an image it is the user that the
 * image names, whose working directory is made when a sandbox starts as that user. */
static bool is_left_to_others(const Rootfs *fs, const JailSpec *spec, const char *path) {
        return spec->uid == 0 && fs->privileged && !path_is_below(spec->workdir, path);
}

static int give_furniture(const Rootfs *fs, const JailSpec *spec, const char *path) {
        if (!is_left_to_others(fs, spec, path))
                return content_give_to_user(fs, spec, path);
        return lchown(path, SHAREDETC_USER, SHAREDETC_USER) < 0 ? -errno : 0;
}

static int make_skeleton(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < furniture_n_directories; i++) {
                const FurnitureDirectory *d = furniture_directories + i;
                int r = 0;

                if ((d->flags & FURNITURE_FOR_ROOT) && (!jail_is_for_root(spec) || jail_has_template(spec)))
                        continue;
                if (jail_has_template(spec) && strcmp(d->path, FURNITURE_WORKSPACE) == 0 && is_left_to_others(fs, spec, d->path))
                        continue;
                if (d->flags & FURNITURE_OURS) {
                        r = make_ours(d->path, d->mode);
                        if (r < 0)
                                return error_set(reterr, r, "%s", d->path);
                        continue;
                }
                if (mkdir(d->path, d->mode) < 0) {
                        if (errno == EEXIST || jail_forgives(spec, -errno))
                                continue;
                        return error_set(reterr, -errno, "%s", d->path);
                }
                if (d->flags & FURNITURE_FOR_USER)
                        r = give_furniture(fs, spec, d->path);
                if (r < 0)
                        return error_set(reterr, r, "%s", d->path);
        }
        return 0;
}

/* Copies bin → usr/bin and similar links from the host. An overlay of a former life leaves an empty directory
 * in place of the link. */
static int rootfs_inside_copy_links(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < furniture_overlays.n; i++) {
                char target[256], place[64];
                ssize_t n = readlinkat(fs->host_root_fd, furniture_overlays.items[i], target, sizeof(target) - 1);

                if (n < 0)
                        continue;
                target[n] = '\0';
                (void) snprintf(place, sizeof(place), "/%s", furniture_overlays.items[i]);
                if (jail_is_kept(spec))
                        (void) rmdir(place);
                if (symlink(target, place) < 0 && errno != EEXIST && !jail_forgives(spec, -errno))
                        return error_set(reterr, -errno, "%s", place);
        }
        return 0;
}

static int attach_overlay(const Lower *lower) {
        char target[128];
        int r;

        (void) snprintf(target, sizeof(target), "/%s", lower->path);
        r = dir_make_parents(target, 0755);
        if (r >= 0)
                r = dir_make(target, 0755);
        return r < 0 ? r : tree_attach(lower->overlay, AT_FDCWD, target);
}

static int attach_overlays(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        for (size_t i = 0; i < fs->n_lowers; i++) {
                bool needed = strcmp(fs->lowers[i].path, "usr") == 0;
                int r = attach_overlay(fs->lowers + i);

                if (r < 0 && (needed || !jail_forgives(spec, r)))
                        return error_set(reterr, r, "/%s", fs->lowers[i].path);
        }
        return 0;
}

static int complete_host(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r = attach_overlays(fs, spec, reterr);

        if (r >= 0)
                r = make_skeleton(fs, spec, reterr);
        if (r >= 0)
                r = rootfs_inside_copy_links(fs, spec, reterr);
        if (r >= 0)
                r = hostetc_setup(spec, fs->host_root_fd, &fs->host_etc, &(HostEtcSetting) { .single_id = !fs->privileged, .lived_in = fs->lived_in }, reterr);
        hostetc_done(&fs->host_etc);
        return r;
}

static int complete_template(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r = make_skeleton(fs, spec, reterr);

        return r < 0 ? r : names_adapt(spec, reterr);
}

/* A missing dpkg is not an error, and neither is another file that a guest of a former life left there. */
static void divert_sudo(void) {
        _cleanup_close_ int fd = open("/" FURNITURE_DIVERSIONS, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        _cleanup_free_ char *text = NULL;
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t) st.st_size > FURNITURE_DIVERSIONS_MAX)
                return;
        text = calloc(1, (size_t) st.st_size + 2);
        if (!text)
                return;
        text[0] = '\n'; /* a newline precedes every line */
        n = fd_read_full(fd, text + 1, (size_t) st.st_size);
        if (n != st.st_size || text[n] != '\n' || strstr(text, "\n" FURNITURE_SUDO "\n"))
                return;
        (void) fd_write_all(fd, FURNITURE_DIVERSION, strlen(FURNITURE_DIVERSION));
}

/* Mounts over any file that is there; a link, which would lead elsewhere, is replaced first. /proc is not
 * mounted yet: no name leads to a descriptor that we hold. */
static int attach_sudo(const Rootfs *fs, const JailSpec *spec, Error *reterr) {
        struct stat st;
        int r = 0;

        if (fs->sudo_tree < 0)
                return 0;
        if (lstat(FURNITURE_SUDO, &st) < 0 || !S_ISREG(st.st_mode)) {
                (void) dir_make_parents(FURNITURE_SUDO, 0755);
                if (unlink(FURNITURE_SUDO) < 0 && errno != ENOENT)
                        r = -errno;
                else if (mknod(FURNITURE_SUDO, S_IFREG | 0755, 0) < 0)
                        r = -errno;
        }
        if (r >= 0)
                r = tree_attach(fs->sudo_tree, AT_FDCWD, FURNITURE_SUDO);
        if (r >= 0)
                divert_sudo();
        return r < 0 && !jail_forgives(spec, r) ? error_set(reterr, r, FURNITURE_SUDO) : 0;
}

int rootfs_complete(Rootfs *fs, const JailSpec *spec, Error *reterr) {
        int r = jail_has_template(spec) ? complete_template(fs, spec, reterr) : complete_host(fs, spec, reterr);

        fs->host_root_fd = fd_close(fs->host_root_fd);
        if (r >= 0)
                r = attach_sudo(fs, spec, reterr);
        if (r < 0)
                return r;
        r = dev_attach(fs->dev_tree, reterr);
        if (r < 0)
                return r;
        r = proc_attach(fs->proc_tree, reterr);
        return r < 0 ? r : bootid_attach(&fs->boot, reterr);
}
