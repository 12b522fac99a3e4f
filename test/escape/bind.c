/* bind.c: from a directory that the host has lent (--bind) to what lies beside it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define LEVELS 12

/* "outside" lies beside the directory that was bound. */
static Verdict climb_to_outside(int fd) {
        Verdict v = HELD;

        for (int i = 0; i < LEVELS && v == HELD; i++) {
                int found = openat(fd, "outside", O_RDONLY | O_CLOEXEC), up;

                if (found >= 0 && holds_token(found))
                        v = escaped("%d levels above the bound directory is the host", i);
                (void) close(found);
                up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                (void) close(fd);
                if (up < 0)
                        return v;
                fd = up;
        }
        (void) close(fd);
        return v;
}

static Verdict try_dotdot(char **args) {
        int fd = open(arg_or_die(args, 0), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? broken("%s: %m", args[0]) : climb_to_outside(fd);
}

/* The arguments are links which the host made in the bound directory: absolute and relative, to a file and to a
 * directory. */
static Verdict try_symlink(char **args) {
        Verdict v = HELD;

        (void) arg_or_die(args, 0);
        for (char **path = args; *path; path++) {
                char below[PATH_MAX];

                for (int i = 0; i < 2; i++) {
                        int fd;

                        (void) snprintf(below, sizeof(below), "%s%s", *path, i ? "/outside" : "");
                        fd = open(below, O_RDONLY | O_CLOEXEC);
                        if (fd >= 0 && holds_token(fd))
                                v = escaped("%s leads to the host", below);
                        (void) close(fd);
                }
        }
        return v;
}

static bool wait_for_file(const char *path) {
        for (int i = 0; i < 3000; i++) { /* half a minute; the sandbox has one */
                if (access(path, F_OK) == 0)
                        return true;
                (void) nanosleep(&(struct timespec) { .tv_nsec = 10 * 1000 * 1000 }, NULL);
        }
        return false;
}

/* The host moves a directory out of the bound one while we stand in it. Says "ready", waits for "go". */
static Verdict try_moved(char **args) {
        char path[PATH_MAX];
        int fd;

        (void) snprintf(path, sizeof(path), "%s/inner/deep", arg_or_die(args, 0));
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || chdir(path) < 0)
                return broken("%s: %m", path);
        (void) snprintf(path, sizeof(path), "%s/ready", args[0]);
        if (write_file(path, "") < 0)
                return broken("%s: %m", path);
        (void) snprintf(path, sizeof(path), "%s/go", args[0]);
        if (!wait_for_file(path))
                return broken("the runner did not move the directory");
        return worst(climb_to_outside(fd), climb_to_outside(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

/* Every way to change a read-only directory that holds "file" and "dir". */
static Verdict change(const char *dir) {
        char file[PATH_MAX], other[PATH_MAX];
        Verdict v = HELD;

        (void) snprintf(file, sizeof(file), "%s/file", dir);
        (void) snprintf(other, sizeof(other), "%s/other", dir);
        if (access(file, F_OK) < 0)
                return broken("%s: %m", file);
        v = worst(v, failed("open for writing", open(file, O_WRONLY | O_CLOEXEC)));
        v = worst(v, failed("create", open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)));
        v = worst(v, failed("O_TMPFILE", open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0644)));
        v = worst(v, failed("truncate", truncate(file, 0)));
        v = worst(v, failed("chmod", chmod(file, 0777)));
        v = worst(v, failed("chown", chown(file, getuid(), getgid())));
        v = worst(v, failed("utimensat", utimensat(AT_FDCWD, file, NULL, 0)));
        v = worst(v, failed("setxattr", setxattr(file, "user.cove", "x", 1, 0)));
        v = worst(v, failed("link", link(file, other)));
        v = worst(v, failed("symlink", symlink("file", other)));
        v = worst(v, failed("mkdir", mkdir(other, 0755)));
        v = worst(v, failed("mkfifo", mkfifo(other, 0644)));
        v = worst(v, failed("rename", rename(file, other)));
        return worst(v, failed("unlink", unlink(file)));
}

static Verdict try_readonly(char **args) {
        return change(arg_or_die(args, 0));
}

/* The same file by other names: /proc/self/fd, a descriptor opened for reading, a shared mapping. */
static Verdict try_readonly_fd(char **args) {
        char path[PATH_MAX], link[64];
        Verdict v = HELD;
        int fd;

        (void) snprintf(path, sizeof(path), "%s/file", arg_or_die(args, 0));
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return broken("%s: %m", path);
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        v = worst(v, unwritable(link));
        v = worst(v, failed("fchmod", fchmod(fd, 0777)));
        v = worst(v, failed("ftruncate", ftruncate(fd, 0)));
        v = worst(v, failed("futimens", futimens(fd, NULL)));
        if (mmap(NULL, 1, PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
                v = escaped("a read-only file was mapped for writing");
        return v;
}

static Verdict try_remount(char **args) {
        const char *dir = arg_or_die(args, 0);
        /* struct mount_attr, in the words of the first kernel that had it */
        unsigned long long attr[4] = { [1] = 1 /* clear MOUNT_ATTR_RDONLY */ };
        Verdict v = HELD;

        v = worst(v, refused("remount", mount(NULL, dir, NULL, MS_REMOUNT | MS_BIND, NULL)));
        v = worst(v, refused("remount of the file system", mount(NULL, dir, NULL, MS_REMOUNT, NULL)));
        v = worst(v, refused("mount_setattr", syscall(442, AT_FDCWD, dir, 0, attr, sizeof(attr))));
        v = worst(v, refused("umount", umount2(dir, MNT_DETACH)));
        v = worst(v, refused("bind elsewhere", mount(dir, "/tmp", NULL, MS_BIND, NULL)));
        return worst(v, change(dir));
}

static void leave(const char *dir, const char *name, mode_t mode) {
        char path[PATH_MAX];

        (void) snprintf(path, sizeof(path), "%s/%s", dir, name);
        tried(copy_self(path, 0755));
        tried(chown(path, 0, 0));
        tried(chmod(path, mode));
}

/* Each by another call, since a filter must know them all. The runner looks at what is there afterwards. */
static Verdict try_leave_setuid(char **args) {
        const char *dir = arg_or_die(args, 0);
        char path[PATH_MAX];
        int fd;

        leave(dir, "by-chmod", 04755);
        leave(dir, "by-chmod-both", 06755);
        leave(dir, "setgid", 02755);

        leave(dir, "by-fchmod", 0755);
        (void) snprintf(path, sizeof(path), "%s/by-fchmod", dir);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        tried(fchmod(fd, 04755));
        (void) close(fd);

        leave(dir, "by-fchmodat2", 0755);
        (void) snprintf(path, sizeof(path), "%s/by-fchmodat2", dir);
        tried(syscall(452, AT_FDCWD, path, 04755, 0));
        tried(syscall(SYS_fchmodat, AT_FDCWD, path, 0xffffffff00000000ul | 04755));

        (void) snprintf(path, sizeof(path), "%s/by-open", dir);
        (void) close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 04755));
        (void) snprintf(path, sizeof(path), "%s/by-creat", dir);
        (void) close(creat(path, 04755));
        (void) snprintf(path, sizeof(path), "%s/by-mknod", dir);
        tried(mknod(path, S_IFREG | 04755, 0));
        (void) snprintf(path, sizeof(path), "%s/by-mkdir", dir);
        tried(mkdir(path, 06777));
        tried(chmod(path, 06777));
        return HELD;
}

/* The mode behind a pointer (openat2), a file without a name that gets one later, one made elsewhere. */
static Verdict try_leave_setuid_oddly(char **args) {
        const char *dir = arg_or_die(args, 0);
        unsigned long long how[3] = { O_CREAT | O_WRONLY | O_CLOEXEC, 04755, 0 };
        char path[PATH_MAX], link[64];
        int fd;

        (void) snprintf(path, sizeof(path), "%s/by-openat2", dir);
        (void) close((int) syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(how)));

        fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 04755);
        if (fd < 0)
                fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0755);
        tried(fchmod(fd, 04755));
        (void) snprintf(path, sizeof(path), "%s/by-tmpfile", dir);
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        tried(linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
        (void) close(fd);

        /* made elsewhere, then moved or linked in */
        tried(copy_self("/tmp/suid", 04755));
        (void) snprintf(path, sizeof(path), "%s/by-rename", dir);
        tried(rename("/tmp/suid", path));
        (void) snprintf(path, sizeof(path), "%s/by-link", dir);
        tried(linkat(AT_FDCWD, "/tmp/suid", AT_FDCWD, path, 0));
        return HELD;
}

/* The host's own set-uid file lies in the bound directory. A writer with CAP_FSETID over it would keep the bit. */
static Verdict try_rewrite_setuid(char **args) {
        char path[PATH_MAX];
        int fd;

        (void) snprintf(path, sizeof(path), "%s/suid", arg_or_die(args, 0));
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
                return HELD;
        tried(write(fd, "wrecked", 7));
        (void) close(fd);
        return HELD;
}

static Verdict try_leave_filecap(char **args) {
        struct vfs_cap_data data = {
                .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                .data = { { .permitted = ~0u, .inheritable = ~0u } },
        };
        struct {
                uint64_t value;
                uint32_t size, flags;
        } by_pointer = { (uintptr_t) &data, sizeof(data), 0 };
        char path[PATH_MAX];
        int fd;

        leave(arg_or_die(args, 0), "filecap", 0755);
        (void) snprintf(path, sizeof(path), "%s/filecap", args[0]);
        tried(setxattr(path, "security.capability", &data, sizeof(data), 0));
        tried(lsetxattr(path, "security.capability", &data, sizeof(data), 0));
        fd = open(path, O_RDONLY | O_CLOEXEC);
        tried(fsetxattr(fd, "security.capability", &data, sizeof(data), 0));
        tried(syscall(463 /* setxattrat */, AT_FDCWD, path, 0, "security.capability", &by_pointer,
                        sizeof(by_pointer)));
        (void) close(fd);
        return HELD;
}

static Verdict try_leave_device(char **args) {
        const char *dir = arg_or_die(args, 0);
        char path[PATH_MAX];
        Verdict v = HELD;

        (void) snprintf(path, sizeof(path), "%s/mem", dir);
        v = worst(v, refused("mknod of memory", mknod(path, S_IFCHR | 0666, makedev(1, 1))));
        (void) snprintf(path, sizeof(path), "%s/disk", dir);
        return worst(v, refused("mknod of a disk", mknod(path, S_IFBLK | 0666, makedev(8, 0))));
}

/* clang-format off */
const Attempt bind_attempts[] = {
        { "bind-dotdot", try_dotdot, AS_BOTH,
          "above a bound directory is the sandbox's tree, not the host's" },
        { "bind-symlink", try_symlink, AS_BOTH,
          "a link in a bound directory is resolved inside, where its target does not exist" },
        { "bind-moved", try_moved, AS_BOTH,
          "a directory that leaves the bound tree has no parent any more for those inside" },
        { "bind-readonly", try_readonly, AS_BOTH,
          "a bind is read-only unless asked otherwise" },
        { "bind-readonly-fd", try_readonly_fd, AS_BOTH,
          "read-only is a property of the mount, so descriptors and mappings are read-only too" },
        { "bind-remount", try_remount, AS_BOTH,
          "nobody inside may change a mount, so read-only stays read-only" },
        { "bind-setuid", try_leave_setuid, AS_BOTH,
          "a writable bind must never give the host a set-uid file of its root" },
        { "bind-setuid-oddly", try_leave_setuid_oddly, AS_BOTH,
          "nor by calls that hide the mode, nor by a file made elsewhere" },
        { "bind-setuid-rewrite", try_rewrite_setuid, AS_BOTH,
          "a set-uid file of the host in a writable bind loses the bit, or is not written" },
        { "bind-filecap", try_leave_filecap, AS_BOTH,
          "file capabilities left in a writable bind must mean nothing on the host" },
        { "bind-device", try_leave_device, AS_BOTH,
          "no device node can be left in a writable bind for somebody outside to open" },
        { NULL },
};
/* clang-format on */
