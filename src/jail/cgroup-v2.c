/* cgroup-v2.c: the unified hierarchy.
 *
 * Where the sandbox's group goes, the first that works:
 *   - as root: at the top, beside the slices;
 *   - beside our own group, when the parent is delegated to us (a user manager's slice);
 *   - below our own group, when that is delegated to us (Delegate=yes) and no other process is in it: a group with
 *     controllers for its children may hold no processes, so we first move into a leaf. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/cgroup-ops.h"

#define CPU_PERIOD_USEC 100000u

static int cgroup_v2_limit_cpu(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        int r;

        if (limits->cpu_milli == 0)
                return 0;
        r = file_write_format(dir->fd, "cpu.max", "%llu %u",
                        (unsigned long long) limits->cpu_milli * CPU_PERIOD_USEC / 1000, CPU_PERIOD_USEC);
        return r < 0 ? error_set(reterr, r, "cannot write %s/cpu.max: %m", dir->path) : 0;
}

static int cgroup_v2_limit_memory(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        int r = cgroup_limit(dir, "memory.max", limits->memory_bytes, reterr);
        if (r < 0)
                return r;
        /* No swap: memory.max and memory.swap.max add up. The file is absent on a kernel without swap. */
        r = cgroup_limit(dir, "memory.swap.max", 0, reterr);
        return r == -ENOENT ? 0 : r;
}

static int cgroup_v2_limit_pids(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        return cgroup_limit(dir, "pids.max", MIN_OF((uint64_t) limits->pids + limits->pids_room + 1, CGROUP_PIDS_MAX), reterr);
}

/* No limit is set with the io controller: a group of its own makes the sandbox one party among others for the
 * disk, and counts its use. */
static const struct {
        const char *name;
        CgroupController controller;
        Guard guard;
        int (*limit)(const CgroupDir *dir, const JailLimits *limits, Error *reterr);
} controllers[] = {
        { "memory", CGROUP_MEMORY, GUARD_MEMORY, cgroup_v2_limit_memory },
        { "pids",   CGROUP_PIDS,   GUARD_PIDS,   cgroup_v2_limit_pids   },
        { "cpu",    CGROUP_CPU,    GUARD_CPU,    cgroup_v2_limit_cpu    },
        { "io",     CGROUP_IO,     GUARD_IO,     NULL         },
};

static bool may_write(const char *directory, const char *file) {
        char path[CGROUP_FILE_MAX];

        (void) snprintf(path, sizeof(path), "%s/%s", directory, file);
        return access(path, W_OK) == 0;
}

static bool delegated(const char *directory) {
        return access(directory, W_OK) == 0 && may_write(directory, "cgroup.procs") &&
               may_write(directory, "cgroup.subtree_control");
}

static int cgroup_v2_own_directory(char *ret, size_t size) {
        char own_text[CGROUP_OWN_MAX], own[CGROUP_OWN_PATH_MAX];
        ssize_t n = file_read(AT_FDCWD, "/proc/self/cgroup", own_text, sizeof(own_text));
        int r = n < 0 ? (int) n : cgroup_own_path(own_text, "", own, sizeof(own));

        if (r >= 0)
                (void) snprintf(ret, size, CGROUP_MOUNT "%s", own);
        return r;
}

/* Finds the group that will contain the sandbox's, and whether we must leave it first. */
static int cgroup_v2_find_base(char *ret, size_t size, bool *ret_step_aside, Error *reterr) {
        char path[CGROUP_BASE_MAX], *slash;
        int r;

        *ret_step_aside = false;
        if (geteuid() == 0 && delegated(CGROUP_MOUNT)) {
                (void) snprintf(ret, size, "%s", CGROUP_MOUNT);
                return 0;
        }

        r = cgroup_v2_own_directory(path, sizeof(path));
        if (r < 0)
                return error_set(reterr, r, "cannot find our own cgroup: %m");

        slash = strrchr(path, '/');
        if (strcmp(path, CGROUP_MOUNT) != 0) {
                *slash = '\0';
                if (delegated(path)) {
                        (void) snprintf(ret, size, "%s", path);
                        return 0;
                }
                *slash = '/';
        }
        if (delegated(path)) {
                (void) snprintf(ret, size, "%s", path);
                *ret_step_aside = true;
                return 0;
        }
        return error_set(reterr, -EACCES, "cgroup %s is not delegated to us", path);
}

static int v2_plan(Cgroup *cg, const char *name, Error *reterr) {
        char base[CGROUP_BASE_MAX];
        bool leaves;
        int r;

        r = cgroup_v2_find_base(base, sizeof(base), &leaves, reterr);
        if (r < 0)
                return r;
        (void) snprintf(cg->home, sizeof(cg->home), "%s", base);
        (void) snprintf(cg->dirs[0].path, sizeof(cg->dirs[0].path), "%s/%s", base, name);
        if (leaves && cg->lasting) /* one for the whole instance */
                (void) snprintf(cg->leaf, sizeof(cg->leaf), "%s/%.*s-main", base, (int) (strrchr(name, '-') - name), name);
        else if (leaves)
                (void) snprintf(cg->leaf, sizeof(cg->leaf), "%s/%s-main", base, name);
        return 0;
}

static size_t v2_bases(bool near_own, CgroupBase ret[static CGROUP_BASES_MAX]) {
        ret[0].controller = ret[1].controller = CGROUP_MEMORY;
        if (!near_own) {
                (void) snprintf(ret[0].path, sizeof(ret[0].path), "%s", CGROUP_MOUNT);
                return 1;
        }
        if (cgroup_v2_own_directory(ret[0].path, sizeof(ret[0].path)) < 0)
                return 0;
        (void) snprintf(ret[1].path, sizeof(ret[1].path), "%s", ret[0].path);
        if (strcmp(ret[0].path, CGROUP_MOUNT) == 0)
                return 1;
        *strrchr(ret[1].path, '/') = '\0';
        return 2;
}

static int move_us(const char *directory, pid_t companion) {
        char path[CGROUP_FILE_MAX];

        (void) snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
        if (companion > 0) {
                int r = file_write_format(AT_FDCWD, path, "%d", companion);
                if (r < 0 && r != -ESRCH)
                        return r;
        }
        return file_write(AT_FDCWD, path, "0");
}

/* Moves all processes of a group to another one: a daemon's own processes, in a group that is delegated to it. */
static int cgroup_v2_move_all(const char *from, const char *to) {
        char source[CGROUP_FILE_MAX], target[CGROUP_FILE_MAX], text[65536], *state = NULL;
        ssize_t n;

        (void) snprintf(source, sizeof(source), "%s/cgroup.procs", from);
        (void) snprintf(target, sizeof(target), "%s/cgroup.procs", to);
        n = file_read(AT_FDCWD, source, text, sizeof(text));
        if (n < 0)
                return (int) n;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                int r = file_write(AT_FDCWD, target, line);
                if (r < 0 && r != -ESRCH)
                        return r;
        }
        return 0;
}

static int step_aside(Cgroup *cg, Error *reterr) {
        int r;

        if (mkdir(cg->leaf, 0755) < 0 && !(errno == EEXIST && cg->lasting))
                return error_set(reterr, -errno, "cannot make cgroup %s: %m", cg->leaf);
        r = cg->lasting ? cgroup_v2_move_all(cg->home, cg->leaf) : move_us(cg->leaf, cg->companion);
        return r < 0 ? error_set(reterr, r, "cannot move to cgroup %s: %m", cg->leaf) : 0;
}

static bool cgroup_v2_has_word(const char *text, const char *word) {
        size_t n = strlen(word);

        for (const char *p = text; (p = strstr(p, word)); p += n)
                if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\n' || p[n] == '\0'))
                        return true;
        return false;
}

/* Enables the available controllers that are off, one by one, so that a refused one does not prevent the others. */
static void enable_controllers(const char *base) {
        char path[CGROUP_FILE_MAX], on[512] = "";

        (void) snprintf(path, sizeof(path), "%s/cgroup.subtree_control", base);
        (void) file_read(AT_FDCWD, path, on, sizeof(on));
        for (size_t i = 0; i < ELEMENTSOF(controllers); i++)
                if (!cgroup_v2_has_word(on, controllers[i].name)) {
                        char word[16];
                        (void) snprintf(word, sizeof(word), "+%s", controllers[i].name);
                        (void) file_write(AT_FDCWD, path, word);
                }
}

static int v2_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr) {
        CgroupDir *dir = cg->dirs;
        GuardSet missing = 0;
        char have[512] = "";
        int r;

        if (cg->leaf[0]) {
                r = step_aside(cg, reterr);
                if (r < 0)
                        return r;
        }
        enable_controllers(cg->home);

        r = cgroup_dir_make(dir, reterr);
        if (r < 0)
                return r;
        (void) file_read(dir->fd, "cgroup.controllers", have, sizeof(have));
        for (size_t i = 0; i < ELEMENTSOF(controllers); i++) {
                if (!cgroup_v2_has_word(have, controllers[i].name)) {
                        missing |= GUARD_BIT(controllers[i].guard);
                        continue;
                }
                cg->controllers |= 1u << controllers[i].controller;
                if (!controllers[i].limit)
                        continue;
                r = controllers[i].limit(dir, limits, reterr);
                if (r < 0)
                        return r;
        }
        *ret_missing = missing;
        return 0;
}

static int v2_cpu_usec(const Cgroup *cg, usec_t *ret) {
        return cgroup_read_key(cg->dirs[0].fd, "cpu.stat", "usage_usec", ret);
}

/* io.stat: lines "8:0 rbytes=1 wbytes=2 rios=…". */
static int cgroup_v2_read_io(int dirfd, CgroupUsage *ret) {
        char text[8192], *state = NULL;
        ssize_t n = file_read(dirfd, "io.stat", text, sizeof(text));

        if (n < 0)
                return (int) n;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                unsigned long long in, out;
                const char *p = strstr(line, "rbytes=");

                if (p && sscanf(p, "rbytes=%llu wbytes=%llu", &in, &out) == 2) {
                        ret->io_read_bytes += in;
                        ret->io_write_bytes += out;
                }
        }
        return 0;
}

static int v2_usage(const Cgroup *cg, CgroupUsage *ret) {
        int fd = cg->dirs[0].fd;

        if (cg->controllers & (1u << CGROUP_MEMORY)) {
                /* memory.peak since Linux 5.19. */
                ret->has_memory = file_read_uint64(fd, "memory.peak", &ret->memory_peak_bytes) >= 0;
                (void) cgroup_read_key(fd, "memory.events", "oom_kill", &ret->oom_kills);
        }
        if (cg->controllers & (1u << CGROUP_PIDS)) /* pids.peak since Linux 6.1 */
                ret->has_pids_peak = file_read_uint64(fd, "pids.peak", &ret->pids_peak) >= 0;
        if (cg->lasting) {
                ret->has_memory_now = file_read_uint64(fd, "memory.current", &ret->memory_bytes) >= 0;
                ret->has_pids = file_read_uint64(fd, "pids.current", &ret->pids) >= 0;
        }
        if (cg->controllers & (1u << CGROUP_IO))
                ret->has_io_read = ret->has_io_write = cgroup_v2_read_io(fd, ret) >= 0;

        ret->has_cpu = v2_cpu_usec(cg, &ret->cpu_usec) >= 0;
        (void) cgroup_read_key(fd, "cpu.stat", "user_usec", &ret->cpu_user_usec);
        (void) cgroup_read_key(fd, "cpu.stat", "system_usec", &ret->cpu_system_usec);
        return 0;
}

static int v2_kill(const CgroupDir *dir) {
        char path[CGROUP_FILE_MAX];
        int r;

        cgroup_file_path(dir, "cgroup.kill", path, sizeof(path));
        r = file_write(AT_FDCWD, path, "1");
        return r == -ENOENT ? cgroup_kill_listed(dir) : r; /* until Linux 5.14 */
}

static int v2_freeze(const Cgroup *cg, bool freeze) {
        char path[CGROUP_FILE_MAX];
        uint64_t frozen;
        int r;

        cgroup_file_path(cg->dirs, "cgroup.freeze", path, sizeof(path));
        r = file_write(AT_FDCWD, path, freeze ? "1" : "0");
        if (r < 0)
                return r;
        cgroup_file_path(cg->dirs, "cgroup.events", path, sizeof(path));
        r = cgroup_read_key(AT_FDCWD, path, "frozen", &frozen);
        if (r < 0)
                return r;
        return (frozen != 0) == freeze ? 0 : -EAGAIN;
}

/* Asks for all memory: the kernel reclaims what it can and then fails with -EAGAIN. Since Linux 5.19. */
static int v2_reclaim(const Cgroup *cg) {
        char path[CGROUP_FILE_MAX], bytes[32];
        ssize_t n;
        int r;

        cgroup_file_path(cg->dirs, "memory.current", path, sizeof(path));
        n = file_read(AT_FDCWD, path, bytes, sizeof(bytes));
        if (n < 0)
                return n == -ENOENT ? -EOPNOTSUPP : (int) n;
        cgroup_file_path(cg->dirs, "memory.reclaim", path, sizeof(path));
        r = file_write(AT_FDCWD, path, bytes);
        return r == -ENOENT ? -EOPNOTSUPP : r == -EAGAIN || r == -EBUSY ? 0 : r;
}

/* The leaf can be removed once we are back in its parent, which takes no processes while controllers are
 * enabled for its children. A group that two runs share keeps its controllers for the other run. */
static void v2_leave(Cgroup *cg) {
        char path[CGROUP_FILE_MAX];

        if (!cg->leaf[0])
                return;
        (void) snprintf(path, sizeof(path), "%s/cgroup.subtree_control", cg->home);
        for (size_t i = 0; i < ELEMENTSOF(controllers); i++) {
                char word[16];
                (void) snprintf(word, sizeof(word), "-%s", controllers[i].name);
                (void) file_write(AT_FDCWD, path, word);
        }
        (void) move_us(cg->home, cg->companion);
        (void) rmdir(cg->leaf);
}

const CgroupOps cgroup_v2_ops = {
        .plan = v2_plan,
        .make = v2_make,
        .usage = v2_usage,
        .cpu_usec = v2_cpu_usec,
        .kill = v2_kill,
        .freeze = v2_freeze,
        .reclaim = v2_reclaim,
        .bases = v2_bases,
        .leave = v2_leave,
};
