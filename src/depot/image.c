#include "depot/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"
#include "depot/btrfs.h"
#include "jail/loop.h"
#include "jail/tree.h"

#define BYTES_UNIT (UINT64_C(1) << 20)

static const char *const programs[] = { "/usr/sbin/mkfs.btrfs", "/sbin/mkfs.btrfs", "/usr/bin/mkfs.btrfs" };

static const char *depot_image_find_program(void) {
        for (size_t i = 0; i < ELEMENTSOF(programs); i++)
                if (access(programs[i], X_OK) == 0)
                        return programs[i];
        return NULL;
}

int depot_image_program(Error *reterr) {
        return depot_image_find_program() ? 0 : error_set(reterr, -ENOENT, "mkfs.btrfs is missing (apt-get install btrfs-progs)");
}

static int depot_image_make_file_system(int image_fd, Error *reterr) {
        const char *program = depot_image_find_program();
        char *environment[] = { NULL };
        /* One copy of file data: the host's disk is as reliable as it is. Two copies of metadata, for the sake
         * of the space that is reserved for it from the start: with one copy it is 8M, whatever the size, and
         * when a guest's file has taken all the rest, not even a directory could be made. Nothing is discarded,
         * since that would give the space back. */
        const char *const argv[] = { program, "-q", "-f", "-K", "-L", "cove", "-d", "single", "-m", "dup", "/proc/self/fd/3", NULL };
        int r, status;
        pid_t pid;

        if (!program)
                return depot_image_program(reterr);
        r = program_start(&(ProgramStart) { program, argv, environment, (const int[]) { -EBADF, -EBADF, -EBADF, image_fd }, 4 }, &pid);
        if (r < 0)
                return error_set(reterr, r, "cannot run %s: %m", program);
        if (waitpid(pid, &status, 0) < 0)
                return error_set(reterr, -errno, "%s: %m", program);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return error_set(reterr, -EIO, "%s could not make a file system (is storage.size below 256M?)", program);
        return 0;
}

/* Disables copy-on-write of the image file: copy-on-write below copy-on-write only fragments it. Other file systems
 * have no such flag. */
static void set_no_copies(int image_fd) {
        int flags;

        if (btrfs_is(image_fd) && ioctl(image_fd, FS_IOC_GETFLAGS, &flags) == 0) {
                flags |= FS_NOCOW_FL;
                (void) ioctl(image_fd, FS_IOC_SETFLAGS, &flags);
        }
}

/* The image has no name before it is complete. */
int depot_image_make(int state_fd, const DepotBounds *bounds, Error *reterr) {
        _cleanup_close_ int image = openat(state_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        uint64_t most = depot_size_most(state_fd, bounds, /* own_bytes= */ 0), size = MAX_OF(depot_size_begin(bounds, most), BTRFS_BYTES_MIN);
        char path[64];
        int r;

        if (image < 0)
                return error_set(reterr, -errno, "cannot make a file in the state directory: %m");
        if (bounds->most_bytes > 0 && bounds->most_bytes < BTRFS_BYTES_MIN)
                return error_set(reterr, -ERANGE, "storage.size: %lluM is less than %lluM", (unsigned long long) (bounds->most_bytes / BYTES_UNIT),
                                (unsigned long long) (BTRFS_BYTES_MIN / BYTES_UNIT));
        set_no_copies(image);
        r = depot_size_reserve(image, size, reterr);
        if (r < 0)
                return r;
        r = depot_image_make_file_system(image, reterr);
        if (r < 0)
                return r;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", image);
        if (fsync(image) < 0 || linkat(AT_FDCWD, path, state_fd, DEPOT_IMAGE, AT_SYMLINK_FOLLOW) < 0 || fsync(state_fd) < 0)
                return error_set(reterr, -errno, DEPOT_IMAGE ": %m");
        return 0;
}

/* The directory belongs to another user, who could have put a link to any of root's files there. */
int depot_image_open(int state_fd, Error *reterr) {
        _cleanup_close_ int image = openat(state_fd, DEPOT_IMAGE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;

        if (image < 0 && errno == ENOENT)
                return -ENOENT;
        if (image < 0 && errno == ELOOP)
                return error_set(reterr, -EPERM, DEPOT_IMAGE " is a link; it must be a file of root's own");
        if (image < 0 || fstat(image, &st) < 0)
                return error_set(reterr, -errno, DEPOT_IMAGE ": %m");
        if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) || st.st_nlink != 1)
                return error_set(reterr, -EPERM, DEPOT_IMAGE " is not a file of root's own with mode 0600 and one name");
        return TAKE_FD(image);
}

/* Locked while it looks for an existing device: otherwise two processes could both find none, and make two. */
static int get_device(int image_fd, char path[static LOOP_PATH_MAX], Error *reterr) {
        int loop;

        if (flock(image_fd, LOCK_EX) < 0)
                return error_set(reterr, -errno, DEPOT_IMAGE ": %m");
        loop = loop_find(image_fd, path, reterr);
        if (loop == -ENOENT)
                loop = loop_attach(image_fd, DEPOT_IMAGE, path, reterr);
        (void) flock(image_fd, LOCK_UN);
        return loop;
}

int depot_image_mount(int image_fd, int top_fd, Error *reterr) {
        _cleanup_close_ int loop = -EBADF, tree = -EBADF, top = -EBADF;
        char path[LOOP_PATH_MAX];
        const FsOption options[] = {
                { "source",    path },
                { "nodiscard", NULL }, /* otherwise removed files make holes in the image, whose space is reserved */
                { "commit",    "5"  }, /* seconds: removed files make room in a quota only after a commit */
        };
        int r;

        loop = get_device(image_fd, path, reterr);
        if (loop < 0)
                return loop;
        tree = tree_make("btrfs", options, ELEMENTSOF(options), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME);
        if (tree < 0)
                return error_set(reterr, tree, "cannot mount " DEPOT_IMAGE ": %m (see the kernel's log)");
        top = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (top < 0 || fchmod(top, 0700) < 0)
                return error_set(reterr, -errno, DEPOT_IMAGE ": %m");
        depot_size_settle(image_fd, loop, top);
        r = tree_attach(tree, top_fd, "");
        return r < 0 ? error_set(reterr, r, "cannot attach the depot: %m") : 0;
}
