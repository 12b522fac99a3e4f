#include "jail/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/tree.h"

/* Files that cannot be opened and directories that are empty: what they tell, or steer, is the host's business. */
static const char *const masked_files[] = {
        "/proc/kallsyms",      /* kernel addresses */
        "/proc/kcore",         /* the host's memory */
        "/proc/keys",          /* keyrings are not namespaced */
        "/proc/key-users",
        "/proc/kmsg",
        "/proc/kpagecount",
        "/proc/kpageflags",
        "/proc/latency_stats",
        "/proc/sched_debug",   /* names of the host's processes */
        "/proc/sysrq-trigger", /* reboots */
        "/proc/timer_list",    /* names and pids of the host's processes */
        "/proc/timer_stats",
        "/proc/vmallocinfo",
        "/proc/interrupts",    /* timing side channels on the host's input */
        "/proc/slabinfo",
};

static const char *const masked_directories[] = {
        "/proc/acpi",
        "/proc/asound",
        "/proc/driver",
        "/proc/scsi",
};

static const char *const readonly[] = {
        "/proc/bus",
        "/proc/fs",
        "/proc/irq",
        "/proc/sys",
};

/* No namespace can be made inside, also where the syscall filter was left out. Each namespace type has its count in
 * the user namespace that was just made; its root may lower it. */
static const char *const namespace_limits[] = {
        "max_user_namespaces", "max_mnt_namespaces", "max_pid_namespaces",    "max_net_namespaces",
        "max_ipc_namespaces",  "max_uts_namespaces", "max_cgroup_namespaces", "max_time_namespaces",
};

#define PROC_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* By a descriptor from before /proc/sys became read-only, and after it: a detached mount counts as a mount namespace. */
static int close_namespaces(int sysctl_fd, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(namespace_limits); i++) {
                int r = file_write(sysctl_fd, namespace_limits[i], "0");
                if (r < 0 && r != -ENOENT)
                        return error_set(reterr, r, "/proc/sys/user/%s", namespace_limits[i]);
        }
        return 0;
}

/* What this kernel does not have needs no mask. */
static int cover(const char *source, const char *const *targets, size_t n, uint64_t attributes, Error *reterr) {
        for (size_t i = 0; i < n; i++) {
                int r;

                if (access(targets[i], F_OK) < 0)
                        continue;
                r = tree_bind(source ? source : targets[i], targets[i], PROC_ATTRIBUTES | attributes, false);
                if (r < 0)
                        return error_set(reterr, r, "%s", targets[i]);
        }
        return 0;
}

int proc_setup(Error *reterr) {
        _cleanup_close_ int tree = -EBADF, sysctl = -EBADF;
        int r;

        tree = tree_make("proc", NULL, 0, PROC_ATTRIBUTES, /* ret_failed= */ NULL);
        if (tree == -EPERM)
                return error_set(reterr, tree,
                                "the kernel refuses a new /proc: parts of this one are covered, as in a container");
        if (tree < 0)
                return error_set(reterr, tree, "proc");
        r = tree_attach(tree, AT_FDCWD, "/proc");
        if (r < 0)
                return error_set(reterr, r, "/proc");

        sysctl = open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (sysctl < 0)
                return error_set(reterr, -errno, "/proc/sys/user");
        r = cover("/dev/null", masked_files, ELEMENTSOF(masked_files), MOUNT_ATTR_RDONLY, reterr);
        if (r < 0)
                return r;
        r = cover("/sys", masked_directories, ELEMENTSOF(masked_directories), MOUNT_ATTR_RDONLY, reterr);
        if (r < 0)
                return r;
        r = cover(NULL, readonly, ELEMENTSOF(readonly), MOUNT_ATTR_RDONLY, reterr);
        if (r < 0)
                return r;
        return close_namespaces(sysctl, reterr);
}
