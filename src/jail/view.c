#include "jail/view.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/meminfo.h"
#include "jail/tree.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define ATTRIBUTES (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define PLACE_MAX  128
#define VIEW_ROOM  "/dev/shm" /* where a file is made before it is put into place */
#define CPUINFO    "/proc/cpuinfo"
#define BLOCK_MAX  4096 /* bytes of one core in CPUINFO */

unsigned view_count_cores(const JailSpec *spec) {
        return (spec->limits.cpu_milli + 999) / 1000;
}

int view_take_cores(const JailSpec *spec, Error *reterr) {
        unsigned wanted = view_count_cores(spec), n, first, seen = 0;
        cpu_set_t have, chosen;

        /* Fails on a machine with more cores than a cpu_set_t can hold; such a machine has enough of them. */
        if (wanted == 0 || sched_getaffinity(0, sizeof(have), &have) < 0)
                return 0;
        n = (unsigned) CPU_COUNT(&have);
        if (wanted >= n)
                return 0;
        first = spec->first_core % n;
        CPU_ZERO(&chosen);
        for (unsigned core = 0; core < CPU_SETSIZE; core++)
                if (CPU_ISSET(core, &have)) {
                        if ((seen + n - first) % n < wanted)
                                CPU_SET(core, &chosen);
                        seen++;
                }
        return sched_setaffinity(0, sizeof(chosen), &chosen) < 0 ? error_set(reterr, -errno, "cores") : 0;
}

/* A file open for writing keeps its mount from becoming read-only (paths.c). PID 1 keeps this file open for its whole
 * life, so it opens it on a mount of its own. */
static int view_create(const char *place, bool lasts) {
        _cleanup_close_ int tree = -EBADF;
        const char *name = strrchr(place, '/') + 1;
        int fd;

        if (lasts) {
                tree = tree_clone(AT_FDCWD, VIEW_ROOM, /* recursive= */ false);
                if (tree < 0)
                        return tree;
        }
        fd = openat(lasts ? tree : AT_FDCWD, lasts ? name : place, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
        return fd < 0 ? -errno : fd;
}

/* The file is unlinked once it is in place; PID 1 keeps the descriptor. */
static int view_cover(const char *name, const char *target, const char *text, size_t size, int *ret_fd, Error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        char place[PLACE_MAX];
        int r;

        if (faccessat(AT_FDCWD, target, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : error_set(reterr, -errno, "%s", target);
        (void) snprintf(place, sizeof(place), VIEW_ROOM "/%s", name);
        fd = view_create(place, ret_fd != NULL);
        r = fd < 0 ? fd : fd_write_all(fd, text, size);
        if (r >= 0)
                r = tree_bind(place, target, ATTRIBUTES, /* recursive= */ false);
        if (fd >= 0 && unlink(place) < 0 && r >= 0)
                r = -errno;
        if (r < 0)
                return error_set(reterr, r, "%s", target);
        if (ret_fd)
                *ret_fd = TAKE_FD(fd);
        return 0;
}

static int cover_meminfo(const JailSpec *spec, const char *name, int *ret_fd, Error *reterr) {
        uint64_t total = spec->limits.memory_bytes;
        char text[MEMINFO_MAX];
        struct sysinfo host;

        if (total == 0 || total == UINT64_MAX)
                return 0;
        if (sysinfo(&host) == 0 && (uint64_t) host.totalram * host.mem_unit <= total)
                return 0;
        return view_cover(name, "/proc/meminfo", text, meminfo_format(total, 0, text), ret_fd, reterr);
}

/* Returns the length of the blocks of lines of that many cores, each ended by an empty line; 0: the text has fewer. */
static size_t blocks_length(const char *text, unsigned cores) {
        const char *p = text;

        for (unsigned i = 0; i < cores; i++) {
                p = strstr(p, "\n\n");
                if (!p)
                        return 0;
                p += 2;
        }
        return (size_t) (p - text);
}

/* Reads as much of the beginning as fits: the text of a large machine is long, and only the first cores are needed. */
static ssize_t read_beginning(const char *path, char *text, size_t size) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        ssize_t n = 1;
        size_t have = 0;

        if (fd < 0)
                return -errno;
        while (n > 0 && have < size - 1) {
                n = read(fd, text + have, size - 1 - have);
                if (n < 0)
                        return -errno;
                have += (size_t) n;
        }
        text[have] = '\0';
        return (ssize_t) have;
}

/* If the kernel describes its cores in another form, or at greater length, its own file stays visible. */
static int cover_cpuinfo(unsigned cores, const char *name, Error *reterr) {
        size_t size = (size_t) cores * BLOCK_MAX + 1, length = 0;
        char *text = malloc(size);
        int r = 0;

        if (!text)
                return error_set(reterr, -ENOMEM, CPUINFO);
        if (read_beginning(CPUINFO, text, size) > 0)
                length = blocks_length(text, cores);
        if (length > 0)
                r = view_cover(name, CPUINFO, text, length, NULL, reterr);
        free(text);
        return r;
}

static int put_online(int tree, unsigned cores) {
        static const char *const directories[] = { "devices", "devices/system", "devices/system/cpu" };
        _cleanup_close_ int fd = -EBADF;
        char text[32];

        for (size_t i = 0; i < ELEMENTSOF(directories); i++)
                if (mkdirat(tree, directories[i], 0555) < 0)
                        return -errno;
        fd = openat(tree, "devices/system/cpu/online", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
        if (fd < 0)
                return -errno;
        (void) snprintf(text, sizeof(text), cores > 1 ? "0-%u\n" : "0\n", cores - 1);
        return fd_write_all(fd, text, strlen(text));
}

/* A separate file system, since the empty directory beneath covers other paths too (proc.c). The file
 * "possible" is left out on purpose: programs use it to size arrays for the numbers of the cores that they run
 * on, which are the host's. */
static int cover_sys(unsigned cores, Error *reterr) {
        static const FsOption options[] = {
                { "size",      "64k"  },
                { "nr_inodes", "8"    },
                { "mode",      "0555" },
        };
        _cleanup_close_ int tree = tree_make("tmpfs", options, ELEMENTSOF(options), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
        int r = tree < 0 ? tree : put_online(tree, cores);

        if (r >= 0)
                r = tree_restrict(tree, ATTRIBUTES, /* userns_fd= */ -EBADF, /* recursive= */ false);
        if (r >= 0)
                r = tree_attach(tree, AT_FDCWD, "/sys");
        return r < 0 ? error_set(reterr, r, "/sys") : 0;
}

/* /proc/stat stays the kernel's: its readers expect counters that advance. */
static int cover_cores(const JailSpec *spec, const char *name, Error *reterr) {
        unsigned cores = view_count_cores(spec);
        int r;

        if (cores == 0 || cores >= (unsigned) get_nprocs())
                return 0;
        r = cover_cpuinfo(cores, name, reterr);
        return r < 0 ? r : cover_sys(cores, reterr);
}

/* The host's load would reveal what others do, and nothing counts the sandbox's own. */
static int cover_loadavg(const char *name, Error *reterr) {
        static const char none[] = "0.00 0.00 0.00 1/1 1\n";

        return view_cover(name, "/proc/loadavg", none, sizeof(none) - 1, NULL, reterr);
}

/* Files of a process that is not dumpable belong to the host's root. No guest runs yet that could look into
 * this one. */
static int view_open_own(const char *path) {
        int fd, r;

        if (prctl(PR_SET_DUMPABLE, 1) < 0)
                return -errno;
        fd = open(path, O_WRONLY | O_CLOEXEC);
        r = fd < 0 ? -errno : fd;
        return prctl(PR_SET_DUMPABLE, 0) < 0 ? -errno : r;
}

/* The time since the boot begins at zero now. No other clock changes: CLOCK_MONOTONIC is compared across the walls. */
static int uptime_put_offset(void) {
        _cleanup_close_ int fd = view_open_own("/proc/self/timens_offsets");
        struct timespec up;
        char text[64];
        int n;

        if (fd < 0)
                return fd;
        if (clock_gettime(CLOCK_BOOTTIME, &up) < 0)
                return -errno;
        n = snprintf(text, sizeof(text), "boottime -%lld 0\n", (long long) up.tv_sec);
        return fd_write_all(fd, text, (size_t) n);
}

/* The kernel accepts offsets until a process is in the namespace. The caller enters it too: before Linux 6.2 a
 * process may not vfork if its children are to be in another time namespace than its own. Not a guard: if it
 * fails, the guest sees the host's uptime. */
void view_begin_uptime(void) {
        _cleanup_close_ int own = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC), fresh = -EBADF;

        if (own < 0 || unshare(CLONE_NEWTIME) < 0)
                return;
        if (uptime_put_offset() >= 0)
                fresh = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
        if (fresh < 0 || setns(fresh, CLONE_NEWTIME) < 0)
                (void) setns(own, CLONE_NEWTIME);
}

int view_attach(const JailSpec *spec, const char *name, int *ret_meminfo_fd, Error *reterr) {
        int r = cover_meminfo(spec, name, ret_meminfo_fd, reterr);

        if (r >= 0)
                r = cover_loadavg(name, reterr);
        return r < 0 ? r : cover_cores(spec, name, reterr);
}
