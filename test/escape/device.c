/* device.c: disks, memory and other drivers of the host. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "probe.h"

static const struct {
        const char *name;
        unsigned major, minor;
} nodes[] = {
        { "null",     1, 3 },
        { "zero",    1, 5 },
        { "full",    1, 7 },
        { "random",  1, 8 },
        { "urandom", 1, 9 },
        { "tty",     5, 0 },
};

static const char *const others[] = { ".", "..", "fd", "mqueue", "ptmx", "pts", "shm", "stderr", "stdin",
        "stdout" };

static Verdict check_entry(const char *name) {
        char path[300];
        struct stat st;

        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                if (strcmp(name, others[i]) == 0)
                        return HELD;
        (void) snprintf(path, sizeof(path), "/dev/%s", name);
        if (stat(path, &st) < 0)
                return HELD;
        for (size_t i = 0; i < ELEMENTSOF(nodes); i++)
                if (strcmp(name, nodes[i].name) == 0)
                        return S_ISCHR(st.st_mode) && st.st_rdev == makedev(nodes[i].major, nodes[i].minor)
                                               ? HELD
                                               : escaped("%s is device %u:%u", path, major(st.st_rdev),
                                                                 minor(st.st_rdev));
        return escaped("%s is there", path);
}

static Verdict try_listing(char **args) {
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/dev");
        if (!dir)
                return broken("/dev: %m");
        while ((entry = readdir(dir)))
                v = worst(v, check_entry(entry->d_name));
        (void) closedir(dir);
        for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
                char path[300];

                (void) snprintf(path, sizeof(path), "/dev/%s", nodes[i].name);
                if (access(path, F_OK) < 0)
                        v = worst(v, broken("%s: %m", path));
        }
        return v;
}

static Verdict try_names(char **args) {
        static const char *const names[] = {
                "mem",
                "kmem",
                "port",
                "kmsg",
                "sda",
                "vda",
                "nvme0n1",
                "xvda",
                "dm-0",
                "loop0",
                "loop-control",
                "mapper/control",
                "kvm",
                "fuse",
                "net/tun",
                "vsock",
                "vhost-net",
                "vhost-vsock",
                "uinput",
                "input/event0",
                "hpet",
                "nvram",
                "watchdog",
                "dri/card0",
                "console",
                "tty0",
                "tty1",
                "ttyS0",
                "snapshot",
                "cpu/0/msr",
                "userfaultfd",
                "btrfs-control",
                "autofs",
                "rtc0",
                "hwrng",
                "vfio/vfio",
                "cuse",
                "ppp",
                "uhid",
                "rfkill",
                "bus/usb/001/001",
                "sg0",
                "zero/../../dev/mem",
        };
        char path[64];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                (void) snprintf(path, sizeof(path), "/dev/%s", names[i]);
                v = worst(v, failed(path, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)));
        }
        return v;
}

/* Made where the guest can write, then opened, in case that only one of the two is refused. */
static Verdict make_and_open(mode_t type, unsigned major_number, unsigned minor_number) {
        static const char *const dirs[] = { "/tmp", "/workspace", "/dev", "/dev/shm", "/home/user", "/run" };
        char path[64];
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
                (void) snprintf(path, sizeof(path), "%s/node", dirs[i]);
                if (mknod(path, type | 0666, makedev(major_number, minor_number)) < 0) {
                        if (errno == EPERM || errno == EACCES || errno == EROFS || errno == ENOENT ||
                                        errno == ENOSPC)
                                continue;
                        return broken("mknod %s: %m", path);
                }
                v = worst(v, escaped("device %u:%u was made as %s", major_number, minor_number, path));
                v = worst(v, failed("opening it", open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)));
                (void) unlink(path);
        }
        return v;
}

/* The arguments are the numbers of the device that holds the host's root file system. */
static Verdict try_mknod_disk(char **args) {
        return make_and_open(S_IFBLK, (unsigned) number_or_die(arg_or_die(args, 0)),
                        (unsigned) number_or_die(arg_or_die(args, 1)));
}

static Verdict try_mknod_memory(char **args) {
        return worst(make_and_open(S_IFCHR, 1, 1), make_and_open(S_IFCHR, 1, 4)); /* mem, port */
}

static Verdict try_mknod_kmsg(char **args) {
        return make_and_open(S_IFCHR, 1, 11);
}

static Verdict try_mknod_harmless(char **args) {
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(nodes); i++)
                v = worst(v, make_and_open(S_IFCHR, nodes[i].major, nodes[i].minor));
        return v;
}

/* The same mode again: no harm is done when it works, and the host sees it by the change time. */
static Verdict try_chmod(char **args) {
        for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
                char path[32];
                struct stat st;

                (void) snprintf(path, sizeof(path), "/dev/%s", nodes[i].name);
                if (stat(path, &st) < 0)
                        return broken("%s: %m", path);
                tried(chmod(path, st.st_mode & 07777));
                tried(utimensat(AT_FDCWD, path, (struct timespec[2]) { st.st_atim, st.st_mtim }, 0));
        }
        return HELD;
}

static Verdict try_pts(char **args) {
        struct dirent *entry;
        Verdict v = HELD;
        DIR *dir;

        dir = opendir("/dev/pts");
        if (!dir)
                return broken("/dev/pts: %m");
        while ((entry = readdir(dir)))
                if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
                        v = escaped("/dev/pts/%s is a terminal of somebody else", entry->d_name);
        (void) closedir(dir);
        return v;
}

static Verdict try_tty(char **args) {
        return failed("/dev/tty", open("/dev/tty", O_RDWR | O_CLOEXEC));
}

/* clang-format off */
const Attempt device_attempts[] = {
        { "dev-listing", try_listing, AS_BOTH,
          "/dev holds six harmless devices and nothing else" },
        { "dev-names", try_names, AS_BOTH,
          "disks, memory, consoles and virtual machine devices cannot be opened by name" },
        { "dev-mknod-disk", try_mknod_disk, AS_BOTH,
          "no device node can be made: there is no CAP_MKNOD and every mount is nodev" },
        { "dev-mknod-memory", try_mknod_memory, AS_BOTH,
          "the same for the host's memory and ports" },
        { "dev-mknod-kmsg", try_mknod_kmsg, AS_BOTH,
          "the same for the kernel's log" },
        { "dev-mknod-harmless", try_mknod_harmless, AS_BOTH,
          "there are no exceptions for harmless numbers" },
        { "dev-chmod", try_chmod, AS_BOTH,
          "the nodes are the host's inodes, and the guest does not own them" },
        { "dev-pts", try_pts, AS_BOTH,
          "terminals are an instance of their own: the host's are not listed" },
        { "dev-tty", try_tty, AS_BOTH,
          "a new session has no controlling terminal, so the caller's is not at /dev/tty" },
        { NULL },
};
/* clang-format on */
