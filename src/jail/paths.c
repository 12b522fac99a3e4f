#include "jail/paths.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "jail/paths-find.h"
#include "jail/tree.h"

#define COVER_ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define UNUSED_DIRECTORY "/sys" /* exists in every sandbox, and is empty */
#define COVER_DIRECTORY  "directory"
#define COVER_FILE       "file"

/* Does not follow a link at the end: a link can be a mount point too. */
static int place_copy(const char *path) {
        int tree = kernel_open_tree(AT_FDCWD, path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (unsigned) (AT_RECURSIVE | AT_SYMLINK_NOFOLLOW));
        return tree < 0 ? -errno : tree;
}

static int take_writable(MountPlan *plan, Strv *ret_writable, Error *reterr) {
        for (size_t i = 0; i < plan->n; i++) {
                MountPlace *place = plan->places + i;
                int r;

                if (place->kind != MOUNT_WRITABLE)
                        continue;
                place->tree = place_copy(place->path);
                if (place->tree < 0)
                        return error_set(reterr, place->tree, "writable path '%s'", place->path);
                r = strv_push(ret_writable, place->path);
                if (r < 0)
                        return error_set(reterr, r, "writable path '%s'", place->path);
        }
        return 0;
}

static int paths_set_attributes(const char *path, uint64_t set, uint64_t clear, bool recursive) {
        struct mount_attr attr = { .attr_set = set, .attr_clr = clear };

        return kernel_mount_setattr(AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attr) < 0 ? -errno : 0;
}

/* Mounts below /proc that were read-only stay so: only the listed mounts themselves become writable again.
 * Guests write to files of their own processes there, and terminals get their owners. */
static int paths_seal(Error *reterr) {
        static const char *const open_again[] = { "/proc", "/dev/pts" };
        int r = paths_set_attributes("/", MOUNT_ATTR_RDONLY, 0, /* recursive= */ true);

        if (r < 0)
                return error_set(reterr, r, "everything read-only");
        for (size_t i = 0; i < ELEMENTSOF(open_again); i++) {
                r = paths_set_attributes(open_again[i], 0, MOUNT_ATTR_RDONLY, /* recursive= */ false);
                if (r < 0)
                        return error_set(reterr, r, "%s", open_again[i]);
        }
        return 0;
}

static int mount_place(MountPlace *place, Error *reterr) {
        int r = 0;

        if (place->tree < 0)
                place->tree = place_copy(place->path);
        if (place->tree < 0)
                return error_set(reterr, place->tree, "'%s'", place->path);
        if (place->kind == MOUNT_READ_ONLY)
                r = tree_restrict(place->tree, MOUNT_ATTR_RDONLY, /* userns_fd= */ -EBADF, /* recursive= */ true);
        if (r >= 0)
                r = tree_attach(place->tree, AT_FDCWD, place->path);
        return r < 0 ? error_set(reterr, r, "'%s'", place->path) : 0;
}

/* Covers of denied paths: an empty directory and an empty file. Guest root may look into files of any id it
 * knows, and finds nothing; others have no access. */
typedef struct Covers {
        int fs; /* a detached tree; -EBADF: not made yet */
        bool attached;
} Covers;

static int make_covers(bool single_id) {
        static const FsOption options[] = {
                { "size",      "4k"   },
                { "nr_inodes", "4"    },
                { "mode",      "0700" },
        };
        static const char *const names[] = { COVER_DIRECTORY, COVER_FILE };
        _cleanup_close_ int fs = tree_make("tmpfs", options, ELEMENTSOF(options), COVER_ATTRIBUTES & ~MOUNT_ATTR_RDONLY);

        if (fs < 0)
                return fs;
        if (mkdirat(fs, COVER_DIRECTORY, 0) < 0 || mknodat(fs, COVER_FILE, S_IFREG, 0) < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(names) && !single_id; i++)
                if (fchownat(fs, names[i], JAIL_INIT_ID, JAIL_INIT_ID, 0) < 0)
                        return -errno;
        return TAKE_FD(fs);
}

/* Before Linux 6.15 only an attached tree can be copied, so the covers are attached for a while where nothing
 * else is. Detaching them waits for every CPU. */
static int copy_cover(Covers *c, bool directory) {
        const char *name = directory ? COVER_DIRECTORY : COVER_FILE;
        int tree = tree_clone(c->fs, name, /* recursive= */ false), r;

        if (tree != -EINVAL || c->attached)
                return tree;
        r = tree_attach(c->fs, AT_FDCWD, UNUSED_DIRECTORY);
        if (r < 0)
                return r;
        c->attached = true;
        return tree_clone(c->fs, name, /* recursive= */ false);
}

static int paths_cover(Covers *c, const Rootfs *fs, const MountPlace *place) {
        _cleanup_close_ int tree = -EBADF;
        int r;

        if (c->fs < 0)
                c->fs = make_covers(!fs->privileged);
        if (c->fs < 0)
                return c->fs;
        tree = copy_cover(c, place->directory);
        if (tree < 0)
                return tree;
        r = tree_restrict(tree, COVER_ATTRIBUTES, /* userns_fd= */ -EBADF, /* recursive= */ false);
        return r < 0 ? r : tree_attach(tree, AT_FDCWD, place->path);
}

static int cover_denied(const Rootfs *fs, const MountPlan *plan, Error *reterr) {
        Covers covers = { .fs = -EBADF };
        int r = 0;

        for (size_t i = 0; i < plan->n && r >= 0; i++)
                if (plan->places[i].kind == MOUNT_DENIED) {
                        r = paths_cover(&covers, fs, plan->places + i);
                        if (r < 0)
                                (void) error_set(reterr, r, "denied path '%s'", plan->places[i].path);
                }
        covers.fs = fd_close(covers.fs);
        if (r >= 0 && covers.attached && umount2(UNUSED_DIRECTORY, MNT_DETACH) < 0)
                return error_set(reterr, -errno, "covers of denied paths");
        return r;
}

static int mount_places(MountPlan *plan, Error *reterr) {
        for (size_t i = 0; i < plan->n; i++) {
                int r = plan->places[i].kind == MOUNT_DENIED ? 0 : mount_place(plan->places + i, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

int paths_apply(const Rootfs *fs, const JailSpec *spec, Strv *ret_writable, Error *reterr) {
        MountPlan plan = { .n = 0 };
        int r;

        ret_writable->max = RULES_PATHS_MAX;
        r = mount_plan_make(&plan, fs, spec, reterr);
        if (r >= 0)
                r = take_writable(&plan, ret_writable, reterr);
        if (r >= 0 && spec->rules->flags & RULES_SEALED)
                r = paths_seal(reterr);
        if (r >= 0)
                r = mount_places(&plan, reterr);
        if (r >= 0)
                r = cover_denied(fs, &plan, reterr);
        mount_plan_done(&plan);
        return r;
}
