/* cgroup-v1.c: the old controllers, one hierarchy each.
 *
 * A process moves itself by writing "0" to a `tasks` file. A write of another pid to cgroup.procs makes the kernel
 * stop all forks of the machine for milliseconds; this write does not. */

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/cgroup-ops.h"

static const struct {
        const char *name;
        GuardSet guard; /* what is missing without it */
} controllers[_CGROUP_CONTROLLER_MAX] = {
        [CGROUP_MEMORY]  = { "memory",  GUARD_BIT(GUARD_MEMORY) },
        [CGROUP_PIDS]    = { "pids",    GUARD_BIT(GUARD_PIDS)   },
        [CGROUP_CPU]     = { "cpu",     GUARD_BIT(GUARD_CPU)    },
        [CGROUP_CPUACCT] = { "cpuacct", 0                       },
        [CGROUP_IO]      = { "blkio",   GUARD_BIT(GUARD_IO)     },
        [CGROUP_FREEZER] = { "freezer", 0                       },
};

#define CPU_PERIOD_USEC 100000u

/* Below our own group, so that limits set on us apply to our sandboxes too. */
static int plan_below_own(Cgroup *cg, CgroupController c, const char *name, const char *own_text) {
        char own[CGROUP_OWN_PATH_MAX];
        int n;

        if (cgroup_own_path(own_text, controllers[c].name, own, sizeof(own)) < 0)
                return 0; /* a kernel without this controller */
        n = snprintf(cg->dirs[c].path, sizeof(cg->dirs[c].path), CGROUP_MOUNT "/%s%s/%s", controllers[c].name, own,
                        name);
        if ((size_t) n >= sizeof(cg->dirs[c].path))
                return -ENAMETOOLONG;
        cg->controllers |= 1u << c;
        return 0;
}

/* In a container the path that /proc names may not exist in the mounted hierarchy; the top of the mount is then
 * ours. */
static void plan_at_top(CgroupDir *dir, CgroupController c) {
        char name[CGROUP_PATH_MAX];

        (void) snprintf(name, sizeof(name), "%s", strrchr(dir->path, '/') + 1);
        (void) snprintf(dir->path, sizeof(dir->path), CGROUP_MOUNT "/%s/%.64s", controllers[c].name, name);
}

static bool is_cgroup(int fd) {
        struct statfs fs;
        return fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP_SUPER_MAGIC;
}

/* cpu and cpuacct are often mounted together, one name a link to the other. */
static bool same_hierarchy(CgroupController a, CgroupController b) {
        char path[64];
        struct stat sa, sb;

        (void) snprintf(path, sizeof(path), CGROUP_MOUNT "/%s", controllers[a].name);
        if (stat(path, &sa) < 0)
                return false;
        (void) snprintf(path, sizeof(path), CGROUP_MOUNT "/%s", controllers[b].name);
        return stat(path, &sb) == 0 && sa.st_dev == sb.st_dev;
}

static void read_own(char ret[static CGROUP_OWN_MAX]) {
        if (file_read(AT_FDCWD, "/proc/self/cgroup", ret, CGROUP_OWN_MAX) < 0)
                ret[0] = '\0';
}

/* At the top, where a daemon that is restarted from elsewhere finds them. A missing hierarchy is noticed when
 * its group is made. */
static int plan_lasting_of_root(Cgroup *cg, const char *name) {
        for (CgroupController c = 0; c < _CGROUP_CONTROLLER_MAX; c++)
                (void) snprintf(cg->dirs[c].path, sizeof(cg->dirs[c].path), CGROUP_MOUNT "/%s/%s", controllers[c].name, name);
        cg->controllers = (1u << _CGROUP_CONTROLLER_MAX) - 1;
        return 0;
}

static int v1_plan(Cgroup *cg, const char *name, Error *reterr) {
        char own_text[CGROUP_OWN_MAX];

        if (cg->lasting && geteuid() == 0)
                return plan_lasting_of_root(cg, name);
        read_own(own_text);
        for (CgroupController c = 0; c < _CGROUP_CONTROLLER_MAX; c++) {
                int r = c == CGROUP_FREEZER && !cg->lasting ? 0 : plan_below_own(cg, c, name, own_text);
                if (r < 0)
                        return error_set(reterr, r, "path of our own %s cgroup", controllers[c].name);
        }
        return 0;
}

static size_t v1_bases(bool near_own, CgroupBase ret[static CGROUP_BASES_MAX]) {
        char own_text[CGROUP_OWN_MAX], own[CGROUP_OWN_PATH_MAX] = "";
        size_t n = 0;

        if (near_own)
                read_own(own_text);
        for (CgroupController c = 0; c < _CGROUP_CONTROLLER_MAX; c++) {
                if (near_own && cgroup_own_path(own_text, controllers[c].name, own, sizeof(own)) < 0)
                        continue;
                ret[n].controller = c;
                (void) snprintf(ret[n++].path, sizeof(ret->path), CGROUP_MOUNT "/%s%s", controllers[c].name, own);
        }
        return n;
}

static int cgroup_v1_limit_memory(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        int r = cgroup_limit(dir, "memory.limit_in_bytes", limits->memory_bytes, reterr);
        if (r < 0)
                return r;
        /* Memory and swap together; absent when the kernel does not count swap, as when it has none. */
        r = cgroup_limit(dir, "memory.memsw.limit_in_bytes", limits->memory_bytes, reterr);
        if (r < 0 && r != -ENOENT)
                return r;
        /* The kernel counts memory of TCP sockets separately. */
        r = cgroup_limit(dir, "memory.kmem.tcp.limit_in_bytes", limits->memory_bytes, reterr);
        return r == -ENOENT ? 0 : r;
}

static int cgroup_v1_limit_cpu(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        int r;

        if (limits->cpu_milli == 0)
                return 0;
        r = cgroup_limit(dir, "cpu.cfs_period_us", CPU_PERIOD_USEC, reterr);
        if (r < 0)
                return r;
        return cgroup_limit(dir, "cpu.cfs_quota_us", (uint64_t) limits->cpu_milli * CPU_PERIOD_USEC / 1000, reterr);
}

static int cgroup_v1_limit_pids(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        return cgroup_limit(dir, "pids.max", MIN_OF((uint64_t) limits->pids + limits->pids_room + 1, CGROUP_PIDS_MAX), reterr);
}

static int no_limit(const CgroupDir *dir, const JailLimits *limits, Error *reterr) {
        return 0;
}

static int (*const limit_functions[_CGROUP_CONTROLLER_MAX])(const CgroupDir *, const JailLimits *, Error *) = {
        [CGROUP_MEMORY] = cgroup_v1_limit_memory,
        [CGROUP_PIDS] = cgroup_v1_limit_pids,
        [CGROUP_CPU] = cgroup_v1_limit_cpu,
        [CGROUP_CPUACCT] = no_limit,
        [CGROUP_IO] = no_limit,
        [CGROUP_FREEZER] = no_limit,
};

static int cgroup_v1_make_one(CgroupDir *dir, CgroupController c, const JailLimits *limits, Error *reterr) {
        int r = cgroup_dir_make(dir, reterr);
        if (r == -ENOENT) {
                plan_at_top(dir, c);
                r = cgroup_dir_make(dir, reterr);
        }
        if (r < 0)
                return r;
        if (!is_cgroup(dir->fd))
                return error_set(reterr, -EOPNOTSUPP, CGROUP_MOUNT "/%s is no cgroup hierarchy", controllers[c].name);
        r = limit_functions[c](dir, limits, reterr);
        if (r < 0)
                return r;
        dir->enter_fd = openat(dir->fd, "tasks", O_WRONLY | O_CLOEXEC);
        if (dir->enter_fd < 0)
                return error_set(reterr, -errno, "cannot open %s/tasks: %m", dir->path);
        return 0;
}

static void cgroup_v1_leave_out(Cgroup *cg, CgroupController c) {
        cg->dirs[c].path[0] = '\0';
        cg->controllers &= ~(1u << c);
}

static int v1_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr) {
        GuardSet missing = 0;

        if (!limits->count || same_hierarchy(CGROUP_CPU, CGROUP_CPUACCT))
                cgroup_v1_leave_out(cg, CGROUP_CPUACCT);
        for (CgroupController c = 0; c < _CGROUP_CONTROLLER_MAX; c++) {
                int r = -ENOENT;

                if (cg->controllers & (1u << c))
                        r = cgroup_v1_make_one(cg->dirs + c, c, limits, reterr);
                if (r == -ENOENT && cg->dirs[c].fd < 0 && (cg->lasting || !(cg->controllers & (1u << c)))) {
                        cgroup_v1_leave_out(cg, c);
                        missing |= controllers[c].guard;
                } else if (r < 0)
                        return r;
        }
        *ret_missing = missing;
        return 0;
}

static int cpuacct_fd(const Cgroup *cg) {
        int fd = cg->dirs[CGROUP_CPUACCT].fd;
        return fd >= 0 ? fd : cg->dirs[CGROUP_CPU].fd;
}

static int v1_cpu_usec(const Cgroup *cg, usec_t *ret) {
        uint64_t nsec;
        int r = file_read_uint64(cpuacct_fd(cg), "cpuacct.usage", &nsec);

        if (r < 0)
                return r;
        *ret = nsec / 1000;
        return 0;
}

/* blkio.throttle.io_service_bytes: lines "8:0 Read 4096". */
static int cgroup_v1_read_io(int dirfd, CgroupUsage *ret) {
        char text[8192], *state = NULL;
        ssize_t n = file_read(dirfd, "blkio.throttle.io_service_bytes_recursive", text, sizeof(text));

        if (n < 0)
                n = file_read(dirfd, "blkio.throttle.io_service_bytes", text, sizeof(text));
        if (n < 0)
                return (int) n;
        for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
                unsigned long long bytes;

                if (sscanf(line, "%*u:%*u Read %llu", &bytes) == 1)
                        ret->io_read_bytes += bytes;
        }
        return 0;
}

static int v1_usage(const Cgroup *cg, CgroupUsage *ret) {
        const CgroupDir *memory = cg->dirs + CGROUP_MEMORY, *pids = cg->dirs + CGROUP_PIDS, *io = cg->dirs + CGROUP_IO;

        if (memory->fd >= 0) {
                ret->has_memory = file_read_uint64(memory->fd, "memory.max_usage_in_bytes", &ret->memory_peak_bytes) >= 0;
                (void) cgroup_read_key(memory->fd, "memory.oom_control", "oom_kill", &ret->oom_kills);
        }
        if (pids->fd >= 0)
                ret->has_pids_peak = file_read_uint64(pids->fd, "pids.peak", &ret->pids_peak) >= 0;
        if (cg->lasting && memory->fd >= 0)
                ret->has_memory_now = file_read_uint64(memory->fd, "memory.usage_in_bytes", &ret->memory_bytes) >= 0;
        if (cg->lasting && pids->fd >= 0)
                ret->has_pids = file_read_uint64(pids->fd, "pids.current", &ret->pids) >= 0;
        if (io->fd >= 0)
                ret->has_io_read = cgroup_v1_read_io(io->fd, ret) >= 0;

        ret->has_cpu = v1_cpu_usec(cg, &ret->cpu_usec) >= 0;
        if (ret->has_cpu) {
                uint64_t user = 0, system = 0;

                /* Usually counted in ticks; readers scale them to the sum, which is precise. */
                (void) file_read_uint64(cpuacct_fd(cg), "cpuacct.usage_user", &user);
                (void) file_read_uint64(cpuacct_fd(cg), "cpuacct.usage_sys", &system);
                ret->cpu_user_usec = user / 1000;
                ret->cpu_system_usec = system / 1000;
        }
        return 0;
}

/* The kernel completes the freezing, and notices that it is complete, only when the state is read. */
static int v1_freeze(const Cgroup *cg, bool freeze) {
        const CgroupDir *dir = cg->dirs + CGROUP_FREEZER;
        const char *wanted = freeze ? "FROZEN" : "THAWED";
        char path[CGROUP_FILE_MAX], state[32];
        ssize_t n;
        int r;

        if (!dir->path[0])
                return -EOPNOTSUPP;
        cgroup_file_path(dir, "freezer.state", path, sizeof(path));
        r = file_write(AT_FDCWD, path, wanted);
        if (r < 0)
                return r;
        n = file_read(AT_FDCWD, path, state, sizeof(state));
        if (n < 0)
                return (int) n;
        return strncmp(state, wanted, strlen(wanted)) == 0 ? 0 : -EAGAIN;
}

/* Memory that cannot be reclaimed stays; this is not a failure. */
static int v1_reclaim(const Cgroup *cg) {
        const CgroupDir *dir = cg->dirs + CGROUP_MEMORY;
        char path[CGROUP_FILE_MAX];
        int r;

        if (!dir->path[0])
                return -EOPNOTSUPP;
        cgroup_file_path(dir, "memory.force_empty", path, sizeof(path));
        r = file_write(AT_FDCWD, path, "0");
        return r == -ENOENT ? -EOPNOTSUPP : r == -EBUSY || r == -EAGAIN ? 0 : r;
}

const CgroupOps cgroup_v1_ops = {
        .plan = v1_plan,
        .make = v1_make,
        .usage = v1_usage,
        .cpu_usec = v1_cpu_usec,
        .kill = cgroup_kill_listed,
        .freeze = v1_freeze,
        .reclaim = v1_reclaim,
        .bases = v1_bases,
};
