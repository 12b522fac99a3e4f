/* fs.c: ways to the host's files by path, by symbolic link, by descriptor and by handle, and to more rights by a file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

#define LEVELS 64 /* deeper than any mount point */

static const char *const starts[] = {
        "",
        "/workspace",
        "/tmp",
        "/usr/bin",
        "/home/user",
        "/dev/shm",
        "/proc",
        "/proc/self/cwd",
        "/proc/self/root",
        "/run",
};

static Verdict try_marker(char **args) {
        return reach_marker("");
}

static Verdict try_dotdot(char **args) {
        char path[PATH_MAX];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(starts); i++) {
                size_t n = (size_t) snprintf(path, sizeof(path), "%s", starts[i]);

                for (int k = 0; k < LEVELS; k++)
                        n += (size_t) snprintf(path + n, sizeof(path) - n, "/..");
                v = worst(v, reach_marker(path));
        }
        return v;
}

static Verdict climb(int fd) {
        Verdict v = HELD;

        for (int i = 0; i < LEVELS && v == HELD; i++) {
                int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

                v = reach_marker_at(fd, ".");
                if (up < 0)
                        break;
                (void) close(fd);
                fd = up;
        }
        (void) close(fd);
        return v;
}

static Verdict try_dotdot_fd(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(starts); i++) {
                int fd = open(*starts[i] ? starts[i] : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

                if (fd >= 0)
                        v = worst(v, climb(fd));
        }
        return v;
}

static Verdict try_symlink(char **args) {
        static const char *const prefixes[] = { "", "/proc/1/root", "/proc/self/root",
                "/proc/self/cwd/../../../../.." };
        char target[PATH_MAX], dir[] = "/tmp/link-XXXXXX", link[64];
        Verdict v = HELD;

        if (!mkdtemp(dir))
                return broken("/tmp: %m");
        (void) snprintf(link, sizeof(link), "%s/link", dir);
        for (size_t i = 0; i < ELEMENTSOF(prefixes); i++) {
                int fd;

                (void) snprintf(target, sizeof(target), "%s%s", prefixes[i], fact_or_die("MARKER"));
                if (symlink(target, link) < 0)
                        return broken("symlink: %m");
                fd = open(link, O_RDONLY | O_CLOEXEC);
                if (fd >= 0 && holds_token(fd))
                        v = escaped("a link to %s was followed to the host", target);
                (void) close(fd);
                (void) unlink(link);
        }
        (void) rmdir(dir);
        return v;
}

static Verdict try_proc_self(char **args) {
        static const char *const prefixes[] = {
                "/proc/self/cwd",
                "/proc/self/root",
                "/proc/thread-self/cwd",
                "/proc/thread-self/root",
                "/proc/self/cwd/..",
                "/proc/self/root/..",
                "/proc/self/fd/0/..",
                "/proc/self/fd/1/..",
                "/proc/self/fd/2/..",
                "/proc/self/exe/..",
                "/dev/stdin/..",
                "/dev/fd/0/../..",
        };
        char cwd[PATH_MAX];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(prefixes); i++)
                v = worst(v, reach_marker(prefixes[i]));
        if (getcwd(cwd, sizeof(cwd)) && cwd[0] != '/')
                v = worst(v, escaped("the working directory is outside: %s", cwd));
        return v;
}

/* The handle of inode 2, the root of ext4 and others, on each file system that can be named from inside. */
static Verdict open_root_handle(const char *point, const char *options, const char *type) {
        struct {
                struct file_handle head;
                unsigned inode, generation;
        } handle = {
                .head = { .handle_bytes = 8, .handle_type = 1 },
                  .inode = 2
        };
        int mount_fd, fd;
        Verdict v;

        mount_fd = open(point, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (mount_fd < 0)
                return HELD;
        fd = (int) syscall(SYS_open_by_handle_at, mount_fd, &handle, O_RDONLY | O_CLOEXEC);
        v = refused("open_by_handle_at", fd);
        (void) close(mount_fd);
        return v;
}

static Verdict try_handle(char **args) {
        return each_mount(open_root_handle);
}

static Verdict try_inherited_fds(char **args) {
        char path[64], target[PATH_MAX];
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/proc/self/fd");
        if (!dir)
                return broken("/proc/self/fd: %m");
        while ((entry = readdir(dir))) {
                int fd = atoi(entry->d_name);
                ssize_t n;

                if (fd <= STDERR_FILENO || fd == dirfd(dir))
                        continue;
                (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
                n = readlink(path, target, sizeof(target) - 1);
                target[n < 0 ? 0 : n] = '\0';
                v = worst(v, escaped("descriptor %d was inherited: %s", fd, target));
        }
        (void) closedir(dir);
        return v;
}

/* The runner gives a directory of the host as stdin, in which the marker lies. */
static Verdict try_stdin_directory(char **args) {
        static const char *const names[] = { "marker", "../marker", "." };
        struct stat st;
        Verdict v = HELD;

        if (fstat(STDIN_FILENO, &st) < 0 || !S_ISDIR(st.st_mode))
                return broken("stdin is not a directory");
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                int fd = openat(STDIN_FILENO, names[i], O_RDONLY | O_CLOEXEC);

                if (fd >= 0)
                        v = worst(v, escaped("\"%s\" was opened from the host's directory on stdin",
                                                     names[i]));
                (void) close(fd);
        }
        if (fchdir(STDIN_FILENO) == 0)
                v = worst(v, reach_marker("../../../../../../../../../.."));
        return v;
}

/* stdin is a file of the host, opened for reading. */
static Verdict try_reopen_stdin(char **args) {
        static const char *const paths[] = { "/proc/self/fd/0", "/dev/stdin", "/dev/fd/0" };
        Verdict v = HELD;

        if (!holds_token(STDIN_FILENO))
                return broken("stdin is not the runner's file");
        for (size_t i = 0; i < ELEMENTSOF(paths); i++) {
                v = worst(v, failed("reopening stdin for writing", open(paths[i], O_WRONLY | O_CLOEXEC)));
                v = worst(v, failed("truncating stdin", truncate(paths[i], 0)));
        }
        v = worst(v, failed("writing to stdin", write(STDIN_FILENO, "x", 1)));
        v = worst(v, failed("changing the mode of stdin", fchmod(STDIN_FILENO, 0777)));
        return worst(v, failed("changing the owner of stdin", fchown(STDIN_FILENO, getuid(), getgid())));
}

static Verdict try_system_write(char **args) {
        static const char *const dirs[] = { "/", "/usr", "/usr/bin", "/usr/lib", "/bin", "/lib", "/sbin",
                "/etc", "/root", "/var/lib" };
        char path[64];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
                (void) snprintf(path, sizeof(path), "%s/cove-escape", dirs[i]);
                v = worst(v, failed(path, open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)));
        }
        v = worst(v, unwritable("/usr/bin/env"));
        v = worst(v, unwritable("/etc/passwd"));
        return worst(v, failed("unlinking /usr/bin/env", unlink("/usr/bin/env")));
}

/* As guest root these succeed; the runner looks whether the host sees them. The name is its argument. */
static Verdict try_overlay_write(char **args) {
        static const char *const dirs[] = {
                "/",
                "/usr",
                "/usr/bin",
                "/usr/lib",
                "/usr/share",
                "/usr/local",
                "/bin",
                "/lib",
                "/etc",
                "/var",
                "/var/lib",
                "/opt",
                "/root",
                "/home",
                "/srv",
                "/mnt",
                "/media",
                "/boot",
                "/tmp",
                "/var/tmp",
                "/run",
                "/dev/shm",
                "/workspace",
        };
        char path[PATH_MAX];
        size_t n = 0;

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
                (void) snprintf(path, sizeof(path), "%s/%s", dirs[i], arg_or_die(args, 0));
                n += write_file(path, "from inside\n") == 0;
        }
        if (chmod("/usr/bin/env", 0700) < 0)
                return broken("guest root cannot change its own overlay: %m");
        return n == 0 ? broken("nothing could be written anywhere") : HELD;
}

static Verdict has_flags(const char *point, const char *options, const char *type) {
        bool is_dev = strncmp(point, "/dev/", 5) == 0 || strcmp(point, "/dev") == 0;
        Verdict v = HELD;

        if (!strstr(options, "nosuid"))
                v = escaped("%s (%s) is mounted without nosuid", point, type);
        if (!is_dev && !strstr(options, "nodev"))
                v = escaped("%s (%s) is mounted without nodev", point, type);
        return v;
}

static Verdict try_mount_flags(char **args) {
        return each_mount(has_flags);
}

static Verdict is_host_root(const char *point, const char *options, const char *type) {
        char id[64];
        struct stat st;

        if (stat(point, &st) < 0)
                return HELD;
        (void) snprintf(id, sizeof(id), "%llu:%llu", (unsigned long long) st.st_dev,
                        (unsigned long long) st.st_ino);
        return strcmp(id, fact_or_die("ROOT")) == 0 ? escaped("%s is the host's root directory", point)
                                                    : HELD;
}

static Verdict try_old_root(char **args) {
        static const char *const names[] = { "/oldroot", "/old_root", "/.oldroot", "/.old", "/put_old",
                "/.pivot_root", "/host", "/newroot" };
        Verdict v = each_mount(is_host_root);

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                v = worst(v, absent(names[i]));
        return v;
}

/* overlayfs names its layers in mountinfo; these are host paths and must lead nowhere. */
static Verdict try_overlay_layers(char **args) {
        static const char *const keys[] = { "upperdir=", "workdir=" };
        char text[65536], path[PATH_MAX];
        Verdict v = HELD;

        if (read_file("/proc/self/mountinfo", text, sizeof(text)) < 0)
                return broken("/proc/self/mountinfo: %m");
        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                for (const char *p = strstr(text, keys[i]); p; p = strstr(p + 1, keys[i])) {
                        p += strlen(keys[i]);
                        (void) snprintf(path, sizeof(path), "%.*s", (int) strcspn(p, ",\n "), p);
                        if (path[0] == '/')
                                v = worst(v, absent(path));
                }
        return v;
}

static Verdict try_overlay_xattr(char **args) {
        static const char *const names[] = { "trusted.overlay.redirect", "trusted.overlay.opaque",
                "trusted.overlay.metacopy" };
        char dir[] = "/tmp/overlay-XXXXXX";
        Verdict v = HELD;

        if (!mkdtemp(dir))
                return broken("/tmp: %m");
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                v = worst(v, failed(names[i], setxattr(dir, names[i], "/", 1, 0)));
        (void) rmdir(dir);
        return v;
}

/* mkdir, chroot into it without going there, climb, chroot again. */
static Verdict try_chroot(char **args) {
        char dir[] = "/tmp/chroot-XXXXXX";

        if (!mkdtemp(dir))
                return broken("/tmp: %m");
        if (chdir("/") < 0 || chroot(dir) < 0)
                return rmdir(dir) < 0 ? broken("rmdir: %m") : HELD;
        for (int i = 0; i < LEVELS; i++)
                if (chdir("..") < 0)
                        break;
        if (chroot(".") < 0)
                return HELD;
        return reach_marker("");
}

static Verdict try_chroot_fd(char **args) {
        int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char dir[] = "/tmp/chroot-XXXXXX";

        if (root < 0 || !mkdtemp(dir))
                return broken("/: %m");
        if (chroot(dir) < 0)
                return HELD;
        if (fchdir(root) < 0)
                return broken("fchdir: %m");
        for (int i = 0; i < LEVELS; i++)
                if (chdir("..") < 0)
                        break;
        return reach_marker(".");
}

/* Two directories, one below the other, each kept over the chroot into it. */
static Verdict try_chroot_twice(char **args) {
        char dir[] = "/tmp/chroot-XXXXXX";
        int kept[2];

        if (!mkdtemp(dir))
                return broken("/tmp: %m");
        for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
                kept[i] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (chroot(i == 0 ? dir : "..") < 0)
                        return HELD;
        }
        for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
                if (fchdir(kept[i]) < 0)
                        return broken("fchdir: %m");
                for (int k = 0; k < LEVELS; k++)
                        if (chdir("..") < 0)
                                break;
                if (chroot(".") < 0)
                        return broken("chroot: %m");
        }
        return worst(reach_marker(""), reach_marker("."));
}

static Verdict ran_with_more(const char *path, uid_t drop_to) {
        uid_t expected = drop_to == (uid_t) -1 ? geteuid() : drop_to, euid;
        unsigned long long effective;
        Verdict v = HELD;

        if (exec_whoami(path, drop_to, &euid, &effective) < 0)
                return broken("%s did not run", path);
        if (euid != expected)
                v = escaped("executing %s as uid %u gave euid %u", path, (unsigned) expected,
                                (unsigned) euid);
        if (effective != 0)
                v = escaped("executing %s as uid %u gave capabilities %llx", path, (unsigned) expected,
                                effective);
        return v;
}

/* The argument is a set-uid-root copy of the probe which the runner made on the host. */
static Verdict try_setuid(char **args) {
        return ran_with_more(arg_or_die(args, 0), (uid_t) -1);
}

static Verdict try_setuid_own(char **args) {
        if (copy_self("/tmp/suid", 06755) < 0)
                return HELD;
        return ran_with_more("/tmp/suid", 1000);
}

static Verdict try_filecap_own(char **args) {
        struct vfs_cap_data data = {
                .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                .data = { { .permitted = 1u << CAP_SETUID | 1u << CAP_CHOWN } },
        };

        if (copy_self("/tmp/fcap", 0755) < 0)
                return broken("/tmp/fcap: %m");
        if (setxattr("/tmp/fcap", "security.capability", &data, sizeof(data), 0) < 0)
                return HELD;
        return ran_with_more("/tmp/fcap", 1000);
}

/* clang-format off */
const Attempt fs_attempts[] = {
        { "fs-marker", try_marker, AS_BOTH,
          "the host's files do not exist inside under their own names" },
        { "fs-dotdot", try_dotdot, AS_BOTH,
          ".. of the root directory is the root directory: nothing is above it" },
        { "fs-dotdot-fd", try_dotdot_fd, AS_BOTH,
          "climbing by openat(fd, \"..\") ends at the sandbox's root" },
        { "fs-symlink", try_symlink, AS_BOTH,
          "a symbolic link is resolved in the sandbox's tree, wherever it points" },
        { "fs-proc-self", try_proc_self, AS_BOTH,
          "the magic links of /proc/self stay inside" },
        { "fs-handle", try_handle, AS_BOTH,
          "open_by_handle_at goes past every path, so it is closed" },
        { "fs-inherited-fds", try_inherited_fds, AS_BOTH,
          "no descriptor of the caller but stdin, stdout and stderr is passed on" },
        { "fs-stdin-directory", try_stdin_directory, AS_BOTH,
          "Landlock refuses what does not lie beneath the sandbox's root, also through an open descriptor" },
        { "fs-reopen-stdin", try_reopen_stdin, AS_BOTH,
          "a file given for reading cannot be opened again for writing: to the host the guest is nobody" },
        { "fs-system-write", try_system_write, AS_USER,
          "the system's files belong to guest root" },
        { "fs-overlay-write", try_overlay_write, AS_ROOT,
          "what guest root writes to /usr and /etc stays in the private overlay" },
        { "fs-mount-flags", try_mount_flags, AS_BOTH,
          "every mount is nosuid, and nodev outside of /dev" },
        { "fs-old-root", try_old_root, AS_BOTH,
          "no directory of the host is mounted, and none that was a root before" },
        { "fs-overlay-layers", try_overlay_layers, AS_BOTH,
          "the overlay's layers are not reachable by the paths that mountinfo names" },
        { "fs-overlay-xattr", try_overlay_xattr, AS_BOTH,
          "overlayfs obeys its own attributes, so the guest must not be able to set them" },
        { "fs-chroot", try_chroot, AS_BOTH,
          "the double chroot leads to the root of the mount namespace, which is the sandbox's" },
        { "fs-chroot-fd", try_chroot_fd, AS_BOTH,
          "a descriptor kept over chroot leads out of the chroot and no further" },
        { "fs-chroot-twice", try_chroot_twice, AS_BOTH,
          "nor do two chroots and a descriptor from before each" },
        { "fs-setuid", try_setuid, AS_USER,
          "no_new_privs and nosuid: a set-uid-root file of the host gives nothing" },
        { "fs-filecap", try_setuid, AS_USER,
          "no_new_privs and nosuid: file capabilities of the host give nothing" },
        { "fs-setuid-own", try_setuid_own, AS_ROOT,
          "a set-uid file made inside gives nothing to the guest's other users" },
        { "fs-filecap-own", try_filecap_own, AS_ROOT,
          "file capabilities set inside give nothing to the guest's other users" },
        { NULL },
};
/* clang-format on */
