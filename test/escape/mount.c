/* mount.c: changing what is mounted: new file systems, old ones elsewhere, masks taken away. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

static Verdict mount_type(const char *source, const char *type, const char *options) {
        char what[64];

        (void) snprintf(what, sizeof(what), "mounting %s", type);
        return refused(what, mount(source, "/tmp", type, 0, options));
}

static Verdict try_tmpfs(char **args) {
        return mount_type("none", "tmpfs", NULL);
}

static Verdict try_proc(char **args) {
        return worst(mount_type("proc", "proc", NULL), mount_type("sysfs", "sysfs", NULL));
}

static Verdict try_cgroup(char **args) {
        Verdict v = worst(mount_type("none", "cgroup2", NULL),
                        mount_type("none", "cgroup", "none,name=escape"));

        v = worst(v, mount_type("none", "cgroup", "memory"));
        return worst(v, mount_type("none", "cgroup", "rdma"));
}

static Verdict try_overlay(char **args) {
        return mount_type("none", "overlay", "lowerdir=/usr,upperdir=/tmp,workdir=/tmp");
}

static Verdict try_devices(char **args) {
        return worst(mount_type("none", "devtmpfs", NULL),
                        worst(mount_type("none", "devpts", NULL), mount_type("none", "mqueue", NULL)));
}

static Verdict try_kernel_types(char **args) {
        static const char *const types[] = { "debugfs", "tracefs", "securityfs", "bpf", "binfmt_misc",
                "configfs", "efivarfs", "fusectl", "pstore", "hugetlbfs", "nfs", "autofs", "ramfs" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                v = worst(v, mount_type("none", types[i], NULL));
        return v;
}

/* The argument is the host's disk. */
static Verdict try_disk(char **args) {
        return worst(mount_type("/dev/vda", "ext4", NULL), mount_type("/dev/sda1", "ext4", NULL));
}

static Verdict try_bind(char **args) {
        Verdict v = refused("bind mount", mount("/", "/tmp", NULL, MS_BIND | MS_REC, NULL));

        v = worst(v, refused("move mount", mount("/proc", "/tmp", NULL, MS_MOVE, NULL)));
        return worst(v, refused("bind over a masked file",
                                        mount("/dev/zero", "/proc/kcore", NULL, MS_BIND, NULL)));
}

static Verdict try_propagation(char **args) {
        Verdict v = refused("shared propagation", mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL));

        return worst(v, refused("slave propagation", mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL)));
}

static Verdict remount_one(const char *point, const char *options, const char *type) {
        unsigned long long attr[4] = { [1] = 0xf /* clear RDONLY, NOSUID, NODEV, NOEXEC */ };
        Verdict v = refused(point, mount(NULL, point, NULL, MS_REMOUNT | MS_BIND, NULL));

        return worst(v, refused(point, syscall(442 /* mount_setattr */, AT_FDCWD, point, 0, attr,
                                                       sizeof(attr))));
}

static Verdict try_remount(char **args) {
        return each_mount(remount_one);
}

static Verdict umount_one(const char *point, const char *options, const char *type) {
        return refused(point, umount2(point, MNT_DETACH | UMOUNT_NOFOLLOW));
}

static Verdict try_umount(char **args) {
        return each_mount(umount_one);
}

static Verdict try_fsopen(char **args) {
        static const char *const types[] = { "tmpfs", "proc", "overlay", "cgroup2", "ext4", "sysfs" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                v = worst(v, refused("fsopen", syscall(SYS_fsopen, types[i], 0)));
        v = worst(v, refused("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0)));
        v = worst(v, refused("fsconfig", syscall(SYS_fsconfig, 0, 6, NULL, NULL, 0)));
        return worst(v, refused("fsmount", syscall(SYS_fsmount, 0, 0, 0)));
}

static Verdict try_open_tree(char **args) {
        Verdict v = HELD;

        v = worst(v, refused("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/",
                                                          1 /* OPEN_TREE_CLONE */ | AT_RECURSIVE)));
        v = worst(v, refused("open_tree_attr", syscall(467, AT_FDCWD, "/", 1, NULL, 0)));
        return worst(v, refused("move_mount",
                                        syscall(SYS_move_mount, AT_FDCWD, "/proc", AT_FDCWD, "/tmp", 0)));
}

static Verdict try_pivot(char **args) {
        if (mkdir("/tmp/new", 0755) < 0 && errno != EEXIST)
                return broken("/tmp/new: %m");
        return refused("pivot_root", syscall(SYS_pivot_root, "/tmp/new", "/tmp/new"));
}

/* Beneath the root directory are the sandbox's own layers. */
static Verdict try_root(char **args) {
        static const char *const names[] = { "/", "/..", "/proc/self/root" };
        static const int flags[] = { 0, MNT_DETACH, MNT_FORCE, MNT_EXPIRE };
        int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                for (size_t k = 0; k < ELEMENTSOF(flags); k++)
                        v = worst(v, refused("unmounting the root directory", umount2(names[i], flags[k])));
        v = worst(v, refused("moving it", mount("/", "/tmp", NULL, MS_MOVE, NULL)));
        v = worst(v, refused("moving it by its descriptor", syscall(SYS_move_mount, root, "", AT_FDCWD, "/tmp", 4 /* F_EMPTY_PATH */)));
        v = worst(v, refused("mounting over it", mount("none", "/", "tmpfs", 0, NULL)));
        v = worst(v, refused("mounting beneath it", syscall(SYS_move_mount, root, "", AT_FDCWD, "/", 4 | 0x200 /* BENEATH */)));
        (void) close(root);
        return v;
}

/* The calls that name mounts by number, also those that no path shows. */
static Verdict try_list(char **args) {
        unsigned long long request[4] = { sizeof(request), ~0ull /* LSMT_ROOT */ }, found[64];
        Verdict v = refused("listmount", syscall(458, request, found, ELEMENTSOF(found), 0));

        return worst(v, refused("statmount", syscall(457, request, found, sizeof(found), 0)));
}

/* clang-format off */
const Attempt mount_attempts[] = {
        { "mount-tmpfs", try_tmpfs, AS_BOTH,
          "nothing can be mounted: no CAP_SYS_ADMIN, and the call is closed" },
        { "mount-proc", try_proc, AS_BOTH,
          "a fresh proc or sysfs would come without masks" },
        { "mount-cgroup", try_cgroup, AS_BOTH,
          "a cgroup mount gives release_agent and the limits (CVE-2022-0492)" },
        { "mount-overlay", try_overlay, AS_BOTH,
          "a second overlay would be one without our options" },
        { "mount-devices", try_devices, AS_BOTH,
          "device file systems would bring the host's devices" },
        { "mount-kernel", try_kernel_types, AS_BOTH,
          "the kernel's own file systems are the host's" },
        { "mount-disk", try_disk, AS_BOTH,
          "the host's disks cannot be mounted" },
        { "mount-bind", try_bind, AS_BOTH,
          "nor can what is mounted be moved or covered" },
        { "mount-propagation", try_propagation, AS_BOTH,
          "no mount event travels between sandbox and host" },
        { "mount-remount", try_remount, AS_BOTH,
          "no mount can lose read-only, nosuid or nodev" },
        { "mount-umount", try_umount, AS_BOTH,
          "masks and read-only covers cannot be taken away" },
        { "mount-fsopen", try_fsopen, AS_BOTH,
          "the descriptor-based mount calls are closed as well" },
        { "mount-open-tree", try_open_tree, AS_BOTH,
          "and those that clone and move trees" },
        { "mount-root", try_root, AS_BOTH,
          "the mount of the root directory stays: what it covers is not for the guest" },
        { "mount-list", try_list, AS_BOTH,
          "mounts that no path shows cannot be listed" },
        { "mount-pivot", try_pivot, AS_BOTH,
          "the root directory cannot be exchanged" },
        { NULL },
};
/* clang-format on */
