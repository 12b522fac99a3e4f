/* tree-host.c: the lower layers of a sandbox of the template "host", as one tree.
 *
 * It is not the host's "/": a program that parses a guest's files must not be able to read more of the host than the
 * guest could. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dirs.h"
#include "base/fd.h"
#include "jail/furniture.h"
#include "jail/rootfs.h"
#include "jail/sharedetc.h"
#include "jail/tree.h"
#include "spawner/tree-job.h"

#define COPY_MAX (1 << 20) /* as jail/hostetc.c */
#define PLACE    "/sys" /* any directory will do: it is covered in a namespace of our own */
#define MS_PRIVATE_ALL ((1u << 18) | (1u << 14)) /* MS_PRIVATE | MS_REC, which <linux/mount.h> has not everywhere */

static int tree_host_copy_links(int to, const FurnitureList *list) {
        for (size_t i = 0; i < list->n; i++) {
                char from[128], target[256];
                ssize_t n;

                (void) snprintf(from, sizeof(from), "/%s", list->items[i]);
                n = readlink(from, target, sizeof(target) - 1);
                if (n < 0)
                        continue;
                target[n] = '\0';
                if (symlinkat(target, to, list->items[i]) < 0)
                        return -errno;
        }
        return 0;
}

/* Copies a file that the host lets all users read. */
static int tree_host_copy_file(int to, const char *from, const char *name) {
        _cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out = -EBADF;
        char place[128];
        struct stat st;
        int r;

        if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH) || st.st_size > COPY_MAX)
                return 0;
        (void) snprintf(place, sizeof(place), PLACE "/%s", name);
        r = dir_make_parents(place, 0755);
        if (r < 0)
                return r;
        out = openat(to, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        return out < 0 ? -errno : fd_copy(in, out);
}

/* Copies the files of a new home. */
static int copy_skeleton(int to) {
        for (size_t i = 0; i < furniture_skeleton.n; i++) {
                char from[64], place[64];
                int r;

                (void) snprintf(from, sizeof(from), "/etc/skel/%s", furniture_skeleton.items[i]);
                (void) snprintf(place, sizeof(place), FURNITURE_HOME "%s", furniture_skeleton.items[i]);
                r = tree_host_copy_file(to, from, place);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Attaches the /etc that the jail gives to guests, as in sandboxes of template base: it has all that sandboxes
 * of the host have, with equal contents. */
static int attach_etc(Error *reterr) {
        _cleanup_(sharedetc_done) SharedEtc etc = SHAREDETC_EMPTY;
        int r = sharedetc_get(&etc, reterr);

        if (r >= 0 && mkdir(PLACE "/etc", 0755) < 0 && errno != EEXIST)
                r = -errno;
        return r < 0 ? r : tree_attach(etc.tree, AT_FDCWD, PLACE "/etc");
}

static int attach_lower(const Lower *lower) {
        char path[128];
        int r;

        (void) snprintf(path, sizeof(path), PLACE "/%s", lower->path);
        r = dir_make_parents(path, 0755);
        if (r >= 0 && mkdir(path, 0755) < 0 && errno != EEXIST)
                r = -errno;
        return r < 0 ? r : tree_attach(lower->tree, AT_FDCWD, path);
}

static int assemble(const Rootfs *fs, Error *reterr) {
        static const FsOption options[] = { { "mode", "0755" }, { "size", "16m" } };
        _cleanup_close_ int top = tree_make("tmpfs", options, ELEMENTSOF(options), 0);
        int r = top < 0 ? top : tree_attach(top, AT_FDCWD, PLACE);

        if (r >= 0)
                r = tree_host_copy_links(top, &furniture_overlays);
        if (r >= 0)
                r = copy_skeleton(top);
        if (r >= 0)
                r = attach_etc(reterr);
        for (size_t i = 0; r >= 0 && i < fs->n_lowers; i++)
                r = attach_lower(fs->lowers + i);
        if (r >= 0)
                r = tree_clone(AT_FDCWD, PLACE, /* recursive= */ true);
        return r < 0 ? error_set(reterr, r, "cannot put the host's directories together: %m") : r;
}

int tree_host_open(Error *reterr) {
        const JailSpec spec = { .id = "", .keep_fd = -EBADF, .disk_fd = -EBADF, .dev_fd = -EBADF };
        Rootfs fs;
        int r;

        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_PRIVATE_ALL, NULL) < 0)
                return error_set(reterr, -errno, "no mount namespace: %m");
        r = rootfs_init(&fs, &spec, /* privileged= */ true);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        r = rootfs_open(&fs, &spec, /* base= */ 0, reterr);
        if (r >= 0)
                r = assemble(&fs, reterr);
        rootfs_done(&fs, &spec);
        return r;
}
