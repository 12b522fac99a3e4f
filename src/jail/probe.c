#include "jail/probe.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/id.h"
#include "base/kernel.h"
#include "confine/caps.h"
#include "confine/landlock.h"
#include "confine/rlimits.h"
#include "confine/seccomp.h"
#include "jail/disk.h"
#include "jail/emptyns.h"
#include "jail/ids.h"
#include "jail/net.h"
#include "jail/tree.h"
#include "jail/userns.h"

static const char *const level_names[_PROBE_LEVEL_MAX] = {
        [PROBE_FULL] = "full",
        [PROBE_PARTIAL] = "partial",
        [PROBE_ROOTLESS] = "rootless",
        [PROBE_REDUCED] = "reduced",
        [PROBE_NONE] = "none",
};

const char *probe_level_name(ProbeLevel l) {
        return level_names[l];
}

static void lack(Finding *f, int r, const char *cure, const char *format, ...) _printf_(4, 5);
static void lack(Finding *f, int r, const char *cure, const char *format, ...) {
        va_list ap;

        f->ok = false;
        errno = -r; /* for %m */
        va_start(ap, format);
        (void) vsnprintf(f->detail, sizeof(f->detail), format, ap);
        va_end(ap);
        (void) snprintf(f->cure, sizeof(f->cure), "%s", cure ? cure : "");
}

static void good(Finding *f, const char *format, ...) _printf_(2, 3);
static void good(Finding *f, const char *format, ...) {
        va_list ap;

        f->ok = true;
        f->cure[0] = '\0';
        va_start(ap, format);
        (void) vsnprintf(f->detail, sizeof(f->detail), format, ap);
        va_end(ap);
}

/* Runs a function in a process with new namespaces and ids mapped as a sandbox has them; returns what it returns. */
static int in_namespaces(uint64_t flags, bool privileged, int (*function)(void *arg), void *arg) {
        struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };
        int go[2], status, r = 0;
        char byte = 0;
        pid_t pid;

        if (pipe2(go, O_CLOEXEC) < 0)
                return -errno;
        pid = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (pid < 0) {
                r = -errno;
                (void) close(go[0]);
                (void) close(go[1]);
                return r;
        }
        if (pid == 0) {
                (void) close(go[1]);
                if (read(go[0], &byte, 1) != 1)
                        _exit(EPERM);
                if (privileged && (flags & CLONE_NEWUSER) && (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0))
                        _exit(errno);
                _exit(function ? -function(arg) : 0);
        }
        if (flags & CLONE_NEWUSER)
                r = userns_write_maps(pid, &(IdMap) {
                        .outside_uid = privileged ? ID_RANGE_FIRST : geteuid(),
                        .outside_gid = privileged ? ID_RANGE_FIRST : getegid(),
                        .count = privileged ? ID_RANGE_SIZE : 1,
                        .single = !privileged,
                });
        if (r >= 0)
                (void) write(go[1], &byte, 1);
        (void) close(go[0]);
        (void) close(go[1]);
        if (waitpid(pid, &status, 0) < 0)
                return -errno;
        if (r < 0)
                return r;
        return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* Finds a sysctl that restricts user namespaces, and returns the command that lifts the restriction. */
static const char *userns_cure(void) {
        static const struct {
                const char *path;
                uint64_t bad;
                const char *cure;
        } causes[] = {
                { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
                        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" },
                { "/proc/sys/kernel/unprivileged_userns_clone", 0, "sudo sysctl -w kernel.unprivileged_userns_clone=1" },
                { "/proc/sys/user/max_user_namespaces", 0, "sudo sysctl -w user.max_user_namespaces=15000" },
        };

        for (size_t i = 0; i < ELEMENTSOF(causes); i++) {
                uint64_t value;
                if (file_read_uint64(AT_FDCWD, causes[i].path, &value) >= 0 && value == causes[i].bad)
                        return causes[i].cure;
        }
        return "";
}

static void probe_namespaces(Probe *p) {
        static const struct {
                Guard guard;
                uint64_t flag;
                const char *since;
        } types[] = {
                { GUARD_USERNS,   0,               "3.8"  },
                { GUARD_PIDNS,    CLONE_NEWPID,    "3.8"  },
                { GUARD_MOUNTNS,  CLONE_NEWNS,     "3.8"  },
                { GUARD_IPCNS,    CLONE_NEWIPC,    "3.8"  },
                { GUARD_UTSNS,    CLONE_NEWUTS,    "3.8"  },
                { GUARD_NETNS,    CLONE_NEWNET,    "3.8"  },
                { GUARD_CGROUPNS, CLONE_NEWCGROUP, "4.6"  },
                { GUARD_TIMENS,   CLONE_NEWTIME,   "5.6"  },
        };

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                Finding *f = p->guards + types[i].guard;
                int r = in_namespaces(CLONE_NEWUSER | types[i].flag, p->privileged, NULL, NULL);

                if (r >= 0)
                        good(f, "made one");
                else if (r == -EINVAL || r == -ENOSYS)
                        lack(f, r, "", "this kernel has none (Linux %s has)", types[i].since);
                else
                        lack(f, r, userns_cure(), "%m");
        }
        if (p->privileged)
                p->guards[GUARD_ID_RANGE] = p->guards[GUARD_USERNS];
        else
                lack(p->guards + GUARD_ID_RANGE, -EPERM, "sudo cove run …", "a plain user has one id; root has 12288 ranges");
        if (p->guards[GUARD_ID_RANGE].ok)
                good(p->guards + GUARD_ID_RANGE, "%u ids out of %u ranges", ID_RANGE_SIZE, ID_RANGE_COUNT);
}

static int try_emptyns(void *arg) {
        EmptyNs e = EMPTYNS_NONE;

        return emptyns_make(&e, arg);
}

/* Inside: a private tmpfs with an overlay on it, and pivot_root onto it. */
static int try_rootfs(void *arg) {
        static const FsOption options[] = {
                { "lowerdir", "low" }, { "upperdir", "up" }, { "workdir", "work" }, { "userxattr", NULL },
        };
        Error error;
        int tree, r;

        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return -errno;
        tree = disk_open_memory(1 << 20, &error);
        if (tree < 0)
                return tree;
        r = tree_attach(tree, AT_FDCWD, "/sys");
        if (r < 0)
                return r;
        if (fchdir(tree) < 0 || mkdir("low", 0755) < 0 || mkdir("up", 0755) < 0 || mkdir("work", 0755) < 0 ||
                        mkdir("root", 0755) < 0)
                return -errno;
        tree = tree_make("overlay", options, ELEMENTSOF(options), 0);
        if (tree < 0)
                return tree;
        r = tree_attach(tree, AT_FDCWD, "root");
        if (r < 0)
                return r;
        return chdir("root") < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ? -errno : 0;
}

static int try_proc(void *arg) {
        int tree = tree_make("proc", NULL, 0, 0);
        return tree < 0 ? tree : 0;
}

static int try_dev(void *arg) {
        int tree = tree_clone(AT_FDCWD, "/dev/null", false);

        if (tree < 0)
                return tree;
        tree = tree_make("devpts", NULL, 0, 0);
        return tree < 0 ? tree : 0;
}

static int try_loopback(void *arg) {
        return net_loopback_up();
}

static int try_caps(void *arg) {
        int r = caps_drop_bounding(CAPS_ALL, 0);
        return r < 0 ? r : caps_set(0);
}

static int try_no_new_privs(void *arg) {
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int try_seccomp(void *arg) {
        int r = seccomp_probe();

        if (r < 0)
                return r;
        r = try_no_new_privs(NULL);
        return r < 0 ? r : seccomp_load(SECCOMP_NOSUID);
}

static int try_landlock(void *arg) {
        int r = try_no_new_privs(NULL);
        return r < 0 ? r : landlock_confine_to_root();
}

static int try_keyring(void *arg) {
        return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ? -errno : 0;
}

static int try_session(void *arg) {
        return setsid() < 0 ? -errno : 0;
}

static int try_rlimits(void *arg) {
        return rlimits_apply(&(GuestRlimits) { 64, RLIMIT_VALUE_UNSET, RLIMIT_VALUE_UNSET, RLIMIT_VALUE_UNSET });
}

static int try_descriptors(void *arg) {
        return kernel_close_range(3, ~0u, 0) < 0 ? -errno : 0;
}

#define IN_USER  CLONE_NEWUSER
#define IN_MOUNT (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID)

static const struct {
        Guard guard;
        uint64_t namespaces;
        int (*function)(void *arg);
        const char *done;    /* what worked */
        const char *cure;    /* what usually helps */
} trials[] = {
        { GUARD_ROOTFS, IN_MOUNT, try_rootfs, "overlay on tmpfs, pivot_root",
                "use Linux 5.11 or newer with overlayfs (modprobe overlay), and a root that is no initramfs" },
        { GUARD_PROC, IN_MOUNT, try_proc, "mounted one",
                "run outside of a container, or give it an unmasked /proc (docker: --security-opt systempaths=unconfined)" },
        { GUARD_DEV, IN_MOUNT, try_dev, "bound a node, mounted devpts", "" },
        { GUARD_NETNS, CLONE_NEWUSER | CLONE_NEWNET, try_loopback, "loopback is up", "" },
        { GUARD_CAPABILITIES, IN_USER, try_caps, "dropped", "" },
        { GUARD_NO_NEW_PRIVS, 0, try_no_new_privs, "set", "" },
        { GUARD_SECCOMP, 0, try_seccomp, "filters loaded", "use a kernel with CONFIG_SECCOMP_FILTER (Linux 4.14 or newer)" },
        { GUARD_LANDLOCK, 0, try_landlock, "confined", "add landlock to the lsm= list of the kernel command line (Linux 5.13)" },
        { GUARD_KEYRING, 0, try_keyring, "joined a new one", "use a kernel with CONFIG_KEYS" },
        { GUARD_SESSION, 0, try_session, "made one", "" },
        { GUARD_RLIMITS, 0, try_rlimits, "set", "" },
        { GUARD_DESCRIPTORS, 0, try_descriptors, "close_range", "use Linux 5.9 or newer" },
};

static void probe_trials(Probe *p) {
        for (size_t i = 0; i < ELEMENTSOF(trials); i++) {
                Finding *f = p->guards + trials[i].guard;
                int r = in_namespaces(trials[i].namespaces, p->privileged, trials[i].function, NULL);
                const char *cure = trials[i].cure;

                if (r >= 0) {
                        good(f, "%s", trials[i].done);
                        continue;
                }
                if ((r == -EPERM || r == -EACCES) && trials[i].namespaces && userns_cure()[0])
                        cure = userns_cure();
                lack(f, r, cure, "%m");
        }
        /* Not a guard: without it the daemon's sandboxes start by pivot_root, as those of `cove run` do. */
        if (p->privileged && p->guards[GUARD_ROOTFS].ok && in_namespaces(0, p->privileged, try_emptyns, NULL) >= 0)
                good(p->guards + GUARD_ROOTFS, "overlay on tmpfs, pivot_root; the daemon's begin in an empty mount namespace");
        if (p->guards[GUARD_LANDLOCK].ok)
                good(p->guards + GUARD_LANDLOCK, "ABI %d", landlock_probe());
        good(p->guards + GUARD_ENVIRONMENT, "always");
}

static void probe_idmap(Probe *p) {
        _cleanup_close_ int tree = -EBADF, userns = -EBADF;
        Finding *f = p->guards + GUARD_IDMAP;
        int r;

        if (!p->privileged) {
                lack(f, -EPERM, "sudo cove run …", "only root can map the ids of a mount");
                return;
        }
        tree = tree_clone(AT_FDCWD, "/usr", false);
        userns = userns_make(&(IdMap) { .outside_uid = ID_RANGE_FIRST, .outside_gid = ID_RANGE_FIRST, .count = ID_RANGE_SIZE });
        r = tree < 0 ? tree : userns < 0 ? userns : tree_restrict(tree, MOUNT_ATTR_RDONLY, userns, false);
        if (r < 0)
                lack(f, r, "put /usr on ext4, xfs or btrfs and use Linux 5.19 or newer (in a container /usr is an overlay)",
                                "/usr: %m");
        else
                good(f, "mapped /usr");
}

static const char *cgroup_cure(const Probe *p) {
        if (p->cgroup == CGROUP_NONE)
                return "sudo mount -t cgroup2 none /sys/fs/cgroup";
        if (p->privileged)
                return p->cgroup == CGROUP_V2 ? "mount -o remount,rw /sys/fs/cgroup" : "mount -o remount,rw /sys/fs/cgroup/memory";
        if (p->cgroup == CGROUP_V2)
                return "systemd-run --user --scope -p Delegate=yes -- cove run …";
        return "sudo cove run …  (cgroup v1 cannot be delegated to a plain user)";
}

static void probe_cgroup(Probe *p) {
        static const Guard guards[] = { GUARD_MEMORY, GUARD_CPU, GUARD_PIDS, GUARD_IO };
        const JailLimits limits = { .memory_bytes = 64 << 20, .cpu_milli = 500, .pids = 16, .count = true };
        char id[JAIL_ID_LENGTH + 1];
        Error error = { 0 };
        GuardSet missing = 0;
        Cgroup cg;
        int r;

        p->cgroup = cgroup_detect();
        r = id_make(id);
        if (r >= 0)
                r = cgroup_plan(id, &cg, &error);
        if (r >= 0) {
                r = cgroup_make(&cg, &limits, &missing, &error);
                (void) cgroup_remove(&cg, USEC_PER_SEC);
                cgroup_close(&cg);
        }
        for (size_t i = 0; i < ELEMENTSOF(guards); i++) {
                Finding *f = p->guards + guards[i];

                if (r < 0)
                        lack(f, r, cgroup_cure(p), "%.200s", error.text);
                else if (missing & GUARD_BIT(guards[i]))
                        lack(f, -EOPNOTSUPP, p->cgroup == CGROUP_V2 ? "enable it in cgroup.subtree_control of the parent group, or boot with cgroup_enable=memory" :
                                                                      "mount the controller below /sys/fs/cgroup",
                                        "the controller is not there");
                else
                        good(f, "cgroup %s", p->cgroup == CGROUP_V2 ? "v2" : "v1");
        }
}

static int try_disk_memory(void *arg) {
        Error error;
        int tree = disk_open_memory(1 << 20, &error);
        return tree < 0 ? tree : 0;
}

static void probe_disk(Probe *p) {
        Finding *f = p->guards + GUARD_DISK;
        Error error = { 0 };
        int r = in_namespaces(IN_MOUNT, p->privileged, try_disk_memory, NULL);

        if (r < 0) {
                lack(f, r, userns_cure(), "tmpfs: %m");
                return;
        }
        if (!p->privileged) {
                good(f, "in memory; disk images are root's");
                return;
        }
        r = disk_open_image(8 << 20, &error);
        if (r < 0) {
                lack(f, r, "apt-get install e2fsprogs; modprobe loop", "in memory yes, disk images no: %.160s", error.text);
                return;
        }
        (void) fd_close(r);
        good(f, "in memory and as disk images");
}

static void find_level(Probe *p) {
        GuardSet plain = GUARD_BIT(GUARD_ID_RANGE) | GUARD_BIT(GUARD_IDMAP) | GUARDS_OF_CGROUP;

        p->level = PROBE_FULL;
        for (Guard g = 0; g < _GUARD_MAX; g++) {
                ProbeLevel l;

                if (p->guards[g].ok)
                        continue;
                if (!guard_is_optional(g))
                        l = PROBE_NONE;
                else if (g == GUARD_LANDLOCK)
                        l = PROBE_PARTIAL;
                else if (!p->privileged && (plain & GUARD_BIT(g)))
                        l = PROBE_ROOTLESS;
                else
                        l = PROBE_REDUCED;
                p->level = MAX_OF(p->level, l);
        }
}

void probe_host(Probe *ret) {
        *ret = (Probe) { .privileged = userns_is_host_root() > 0 };
        probe_namespaces(ret);
        probe_trials(ret);
        probe_idmap(ret);
        probe_cgroup(ret);
        probe_disk(ret);
        probe_networks(ret);
        find_level(ret);
}
