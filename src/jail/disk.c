#include "jail/disk.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "jail/loop.h"
#include "jail/tree.h"

#define DISK_ATTRIBUTES  (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define BYTES_PER_INODE  4096 /* tmpfs inodes cost kernel memory: they are limited along with the bytes */
#define INODES_MIN       4096
#define IMAGE_DIRECTORY  "/var/tmp"
#define IMAGE_BYTES_MIN  (UINT64_C(2) << 20) /* the minimum of mkfs.ext4 */
#define IMAGE_BLOCK      "4096" /* LOOP_SECTOR; small images would have blocks of 1024 bytes */

static const char *const backing_names[_DISK_BACKING_MAX] = {
        [DISK_MEMORY] = "memory",
        [DISK_IMAGE] = "image",
        [DISK_DIRECTORY] = "directory",
        [DISK_TREE] = "tree",
};

const char *disk_backing_name(DiskBacking b) {
        return backing_names[b];
}

/* An overlay needs extended attributes to replace a directory of its lower layer. A tmpfs supports user.* attributes
 * since Linux 6.6. */
static bool tmpfs_takes_attributes(void) {
        _cleanup_close_ int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

        return fd >= 0 && fsetxattr(fd, "user.cove", "y", 1, 0) == 0;
}

DiskBacking disk_choose(const JailSpec *spec, bool privileged) {
        if (jail_is_kept(spec))
                return DISK_TREE;
        if (spec->keep_dir)
                return DISK_DIRECTORY;
        if (privileged && spec->limits.disk_bytes > spec->limits.memory_bytes / 2)
                return DISK_IMAGE;
        /* Only guest root can change what belongs to the template. */
        if (privileged && spec->uid == 0 && !tmpfs_takes_attributes())
                return DISK_IMAGE;
        return DISK_MEMORY;
}

static int open_tmpfs(uint64_t bytes, const char *mode, Error *reterr) {
        char size[32], inodes[32];
        const FsOption options[] = {
                { "size",      size   },
                { "nr_inodes", inodes },
                { "mode",      mode   },
        };
        int tree;

        (void) snprintf(size, sizeof(size), "%llu", (unsigned long long) bytes);
        (void) snprintf(inodes, sizeof(inodes), "%llu",
                        (unsigned long long) MAX_OF(bytes / BYTES_PER_INODE, (uint64_t) INODES_MIN));
        tree = tree_make("tmpfs", options, ELEMENTSOF(options), DISK_ATTRIBUTES);
        if (tree < 0)
                return error_set(reterr, tree, "tmpfs of %s bytes", size);
        return tree;
}

int disk_open_memory(uint64_t bytes, Error *reterr) {
        return open_tmpfs(bytes, "0755", reterr);
}

int disk_open_shm(uint64_t bytes, Error *reterr) {
        return open_tmpfs(bytes, "1777", reterr);
}

int disk_open_tree(int fd, const char *what, Error *reterr) {
        int tree = kernel_open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

        return tree < 0 ? error_set(reterr, -errno, "cannot open %s: %m", what) : tree;
}

int disk_open_directory(const char *path, int fd, uid_t owner, gid_t group, Error *reterr) {
        int tree;

        /* The guest's root, which is no real user of the host, must be able to write there. No other user may
         * enter: the guest can leave set-id programs of its own ids. */
        if (fchmod(fd, 0700) < 0 || (geteuid() == 0 && fchown(fd, owner, group) < 0))
                return error_set(reterr, -errno, "cannot hand '%s' to the sandbox: %m", path);
        tree = tree_clone_same(path, fd, /* recursive= */ false);
        if (tree == -ESTALE)
                return error_set(reterr, tree, "'%s' is another directory now", path);
        if (tree < 0)
                return error_set(reterr, tree, "cannot use '%s' as the writable layer: %m", path);
        return tree;
}

static int disk_make_file_system(int image_fd, Error *reterr) {
        static const char *const candidates[] = { "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4" };
        posix_spawn_file_actions_t actions;
        char *environment[] = { NULL };
        int r = ENOENT, status;
        pid_t pid;

        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        (void) posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        (void) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        (void) posix_spawn_file_actions_adddup2(&actions, image_fd, 3);

        for (size_t i = 0; i < ELEMENTSOF(candidates) && r == ENOENT; i++) {
                /* No journal: the image dies with the sandbox. Lazy tables are never filled in (noinit_itable). */
                const char *argv[] = { candidates[i], "-q", "-F", "-b", IMAGE_BLOCK, "-m", "0", "-O", "^has_journal,^resize_inode", "-E",
                        "lazy_itable_init=1,nodiscard", "/proc/self/fd/3", NULL };
                r = posix_spawn(&pid, candidates[i], &actions, NULL, (char *const *) argv, environment);
        }
        (void) posix_spawn_file_actions_destroy(&actions);
        if (r != 0)
                return error_set(reterr, -r, "cannot run mkfs.ext4: %m (apt-get install e2fsprogs)");
        if (waitpid(pid, &status, 0) < 0)
                return error_set(reterr, -errno, "mkfs.ext4: %m");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return error_set(reterr, -EIO, "mkfs.ext4 failed on an image in " IMAGE_DIRECTORY);
        return 0;
}

int disk_open_image(uint64_t bytes, Error *reterr) {
        _cleanup_close_ int image = -EBADF, loop = -EBADF;
        char path[LOOP_PATH_MAX];
        const FsOption options[] = {
                { "source",        path },
                { "noinit_itable", NULL },
        };
        int tree, r;

        if (bytes < IMAGE_BYTES_MIN)
                return error_set(reterr, -EINVAL, "a disk image needs at least 2M");
        image = open(IMAGE_DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (image < 0)
                return error_set(reterr, -errno, "cannot make a disk image in " IMAGE_DIRECTORY ": %m");
        if (ftruncate(image, (off_t) bytes) < 0)
                return error_set(reterr, -errno, "cannot make a disk image of %llu bytes: %m",
                                (unsigned long long) bytes);
        r = disk_make_file_system(image, reterr);
        if (r < 0)
                return r;
        loop = loop_attach(image, "cove sandbox", path, reterr);
        if (loop < 0)
                return loop;

        /* From here on the mount holds the device; when the mount is removed, the device clears itself. */
        tree = tree_make("ext4", options, ELEMENTSOF(options), DISK_ATTRIBUTES);
        if (tree < 0)
                return error_set(reterr, tree, "cannot mount the disk image on %s: %m", path);
        return tree;
}
