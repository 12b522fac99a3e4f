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
#define COVERS           "/sys" /* an empty directory of every sandbox */
#define COVER_DIRECTORY  COVERS "/directory"
#define COVER_FILE       COVERS "/file"

/* Neither of them is followed when it is a link: a link is a place like any other. */
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

static int set_attributes(const char *path, uint64_t set, uint64_t clear, bool recursive) {
        struct mount_attr attr = { .attr_set = set, .attr_clr = clear };

        return kernel_mount_setattr(AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attr) < 0 ? -errno : 0;
}

/* What was read-only in /proc before stays so: only the mounts themselves are opened again. Guests write to their own
 * processes' files there, and terminals get their owners. */
static int seal(Error *reterr) {
        static const char *const open_again[] = { "/proc", "/dev/pts" };
        int r = set_attributes("/", MOUNT_ATTR_RDONLY, 0, /* recursive= */ true);

        if (r < 0)
                return error_set(reterr, r, "everything read-only");
        for (size_t i = 0; i < ELEMENTSOF(open_again); i++) {
                r = set_attributes(open_again[i], 0, MOUNT_ATTR_RDONLY, /* recursive= */ false);
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

/* What lies over what is denied: an empty directory, or an empty file. Guest root may look into what belongs to any id it knows,
 * and finds nothing; others may not look. Older kernels copy only what is attached: for a while it is, where nothing else is. */
static int attach_covers(bool single_id) {
        static const FsOption options[] = {
                { "size",      "4k"   },
                { "nr_inodes", "4"    },
                { "mode",      "0700" },
        };
        static const char *const names[] = { COVER_DIRECTORY, COVER_FILE };
        _cleanup_close_ int fs = tree_make("tmpfs", options, ELEMENTSOF(options), COVER_ATTRIBUTES & ~MOUNT_ATTR_RDONLY);
        int r;

        if (fs < 0)
                return fs;
        r = tree_attach(fs, AT_FDCWD, COVERS);
        if (r < 0)
                return r;
        if (mkdir(COVER_DIRECTORY, 0) < 0 || mknod(COVER_FILE, S_IFREG, 0) < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(names) && !single_id; i++)
                if (chown(names[i], JAIL_INIT_ID, JAIL_INIT_ID) < 0)
                        return -errno;
        return 0;
}

static int cover_denied(const Rootfs *fs, const MountPlan *plan, Error *reterr) {
        bool attached = false;

        for (size_t i = 0; i < plan->n; i++) {
                const MountPlace *place = plan->places + i;
                int r = 0;

                if (place->kind != MOUNT_DENIED)
                        continue;
                if (!attached)
                        r = attach_covers(!fs->privileged);
                if (r < 0)
                        return error_set(reterr, r, "covers of denied paths");
                attached = true;
                r = tree_bind(place->directory ? COVER_DIRECTORY : COVER_FILE, place->path, COVER_ATTRIBUTES, /* recursive= */ false);
                if (r < 0)
                        return error_set(reterr, r, "denied path '%s'", place->path);
        }
        if (attached && umount2(COVERS, MNT_DETACH) < 0)
                return error_set(reterr, -errno, "covers of denied paths");
        return 0;
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
                r = seal(reterr);
        if (r >= 0)
                r = mount_places(&plan, reterr);
        if (r >= 0)
                r = cover_denied(fs, &plan, reterr);
        mount_plan_done(&plan);
        return r;
}
