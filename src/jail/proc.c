#include "jail/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/tree.h"

/* Masked: files cannot be opened, directories are empty. They describe or control the host. */
static const char *const masked_files[] = {
        "/proc/interrupts", /* timing of the host's devices */
        "/proc/kallsyms",   /* kernel addresses */
        "/proc/kcore",      /* the host's memory */
        "/proc/keys",       /* keyrings are not namespaced */
        "/proc/kmsg",
        "/proc/latency_stats",
        "/proc/sched_debug",   /* names of the host's processes; until Linux 5.13 */
        "/proc/sysrq-trigger", /* reboots */
        "/proc/timer_list",    /* names and pids of the host's processes */
};

static const char *const masked_directories[] = { "/proc/acpi", "/proc/asound", "/proc/driver", "/proc/scsi" };

/* All other writable files in /proc belong to the host's root, which no guest is; for these the kernel checks
 * the capabilities of the namespace. */
static const char *const readonly[] = { "/proc/sys" };

#define INOTIFY_INSTANCES "64"
#define PROC_ATTRIBUTES (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* No user namespace can be made inside, even without the syscall filter, and no other namespace can be made
 * without one. The count belongs to the namespace that was just made; its root may lower it. */
static int close_namespaces(Error *reterr) {
        int r = file_write(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0");

        if (r < 0)
                return error_set(reterr, r, "max_user_namespaces");
        /* A plain user's sandbox uses that user's own share, usually 128. */
        r = file_write(AT_FDCWD, "/proc/sys/user/max_inotify_instances", INOTIFY_INSTANCES);
        return r < 0 && r != -ENOENT ? error_set(reterr, r, "max_inotify_instances") : 0;
}

/* Binds one source over several targets. The first bind is restricted; the others are made from it and inherit
 * its flags, with one system call each. A path that this kernel does not have needs no cover. */
static int cover_all(const char *source, const char *const *targets, size_t n, Error *reterr) {
        const char *model = NULL;

        for (size_t i = 0; i < n; i++) {
                int r;

                if (model)
                        r = mount(model, targets[i], NULL, MS_BIND, NULL) < 0 ? -errno : 0;
                else
                        r = tree_bind(source, targets[i], PROC_ATTRIBUTES | MOUNT_ATTR_RDONLY, false);
                if (r == -ENOENT)
                        continue;
                if (r < 0)
                        return error_set(reterr, r, "%s", targets[i]);
                if (!model)
                        model = targets[i];
        }
        return 0;
}

static int make_readonly(Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(readonly); i++) {
                int r = tree_bind(readonly[i], readonly[i], PROC_ATTRIBUTES | MOUNT_ATTR_RDONLY, false);
                if (r < 0 && r != -ENOENT)
                        return error_set(reterr, r, "%s", readonly[i]);
        }
        return 0;
}

int proc_make(int *ret_tree, Error *reterr) {
        int tree = tree_make("proc", NULL, 0, PROC_ATTRIBUTES);

        if (tree == -EPERM)
                return error_set(reterr, tree,
                                "the kernel refuses a new /proc: parts of this one are covered, as in a container");
        if (tree < 0)
                return error_set(reterr, tree, "proc");
        *ret_tree = tree;
        return 0;
}

int proc_attach(int tree, Error *reterr) {
        int r;

        r = tree_attach(tree, AT_FDCWD, "/proc");
        if (r < 0)
                return error_set(reterr, r, "/proc");

        r = close_namespaces(reterr);
        if (r < 0)
                return r;
        r = cover_all("/dev/null", masked_files, ELEMENTSOF(masked_files), reterr);
        if (r < 0)
                return r;
        r = cover_all("/sys", masked_directories, ELEMENTSOF(masked_directories), reterr);
        if (r < 0)
                return r;
        return make_readonly(reterr);
}
