#include "cli/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/files.h"
#include "jail/ids.h"

typedef struct MachineLimit {
        const char *name, *purpose;
        const char *path;          /* a file with the number, or: */
        int (*get)(uint64_t *ret);
        uint64_t each, base;       /* what sandboxes need, and everything else beside them */
        const char *cure, *rest;   /* before and after the number needed */
        const char *needless;      /* why a plain user's daemon does not need it; NULL: it does */
} MachineLimit;

/* As coved will: root may raise the hard limit. */
static int limits_get_files(uint64_t *ret) {
        size_t all;
        int r = files_raise(&all, /* reterr= */ NULL);

        if (r >= 0)
                *ret = all;
        return r;
}

static int limits_get_ranges(uint64_t *ret) {
        IdRanges t;
        int r;

        id_ranges_init(&t, /* directory= */ NULL, 0);
        r = id_ranges_open(&t, /* reterr= */ NULL);
        if (r >= 0)
                *ret = t.n_fit;
        id_ranges_done(&t);
        return r;
}

static int limits_get_memory(uint64_t *ret) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

        if (pages < 0 || size < 0)
                return -errno;
        *ret = (uint64_t) pages * (uint64_t) size >> 20;
        return 0;
}

/* Measured on idle sandboxes, rounded up: two processes, 25 open files of them together, 1.5 MB. A command adds a shim and
 * its own processes. */
static const MachineLimit limits[] = {
        { "open-files", "coved's descriptors; half of them are for clients", NULL, limits_get_files, FILES_OF_SANDBOX, FILES_OF_DAEMON,
          "LimitNOFILE=", " of the service, or ulimit -n", NULL },
        { "id-ranges", "user ids, 65,536 for each sandbox", NULL, limits_get_ranges, 1, 16, "limits.idRanges: ", " in cove.yaml (at most 49151)", "its sandboxes have one id" },
        { "pid-max", "processes, those of commands included", "/proc/sys/kernel/pid_max", NULL, 3, 1000, "sysctl kernel.pid_max=", "", NULL },
        { "threads-max", "threads of the whole machine", "/proc/sys/kernel/threads-max", NULL, 3, 1000, "sysctl kernel.threads-max=", "", NULL },
        { "netns-max", "network namespaces made ahead", "/proc/sys/user/max_net_namespaces", NULL, 1, 64, "sysctl user.max_net_namespaces=", "", "its sandboxes own theirs" },
        { "file-max", "open files of the whole machine", "/proc/sys/fs/file-max", NULL, 40, 100000, "sysctl fs.file-max=", "", NULL },
        { "memory", "MB for idle sandboxes, beside what their programs use", NULL, limits_get_memory, 2, 512, "", " MB of memory, or fewer sandboxes", NULL },
};
const size_t limits_n = ELEMENTSOF(limits);

const char *limits_name(size_t i) {
        return limits[i].name;
}

const char *limits_purpose(size_t i) {
        return limits[i].purpose;
}

Finding limits_find(size_t i, unsigned sandboxes, bool privileged) {
        const MachineLimit *l = limits + i;
        uint64_t needed = l->base + l->each * sandboxes, has = 0;
        Finding f = { .ok = true };
        int r = 0;

        if (!privileged && l->needless) {
                (void) snprintf(f.detail, sizeof(f.detail), "a plain user's daemon needs none: %s", l->needless);
                return f;
        }
        r = l->path ? file_read_uint64(AT_FDCWD, l->path, &has) : l->get(&has);
        f.ok = r >= 0 && has >= needed;
        if (r < 0)
                (void) snprintf(f.detail, sizeof(f.detail), "cannot be read: %s", strerror(-r));
        else if (f.ok)
                (void) snprintf(f.detail, sizeof(f.detail), "%llu of %llu", (unsigned long long) needed, (unsigned long long) has);
        else
                (void) snprintf(f.detail, sizeof(f.detail), "%llu are needed and %llu are there, enough for %llu sandboxes", (unsigned long long) needed,
                                (unsigned long long) has, (unsigned long long) (has > l->base ? (has - l->base) / l->each : 0));
        if (r >= 0 && !f.ok)
                (void) snprintf(f.cure, sizeof(f.cure), "%s%llu%s", l->cure, (unsigned long long) needed, l->rest);
        return f;
}
