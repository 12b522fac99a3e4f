/* cgroup.h: resource limits and counters of one sandbox.
 *
 * One interface over cgroup v2 and the v1 controllers of old and hybrid hosts. The side outside the sandbox makes and
 * removes groups; the new process calls cgroup_enter().
 * Must not know: who asked for the sandbox, how it is started, how its limits were chosen.
 *
 *      1. cgroup_make()     directories with limits written
 *      2. clone3 with cgroup_clone_fd() (v2); or the child is given cgroup_enter_fds() and calls cgroup_enter() (v1)
 *      3. cgroup_usage()    at any time, also after the last process is gone
 *      4. cgroup_remove()   kills the remaining processes, removes the directories
 *
 * Every directory made is called "cove-<id>". The groups of a sandbox that outlives its maker are lasting: they are
 * called "cove-<instance>-<id>" and root makes them at the top of each hierarchy. A caller that knows the instance
 * finds them again from any session: one by cgroup_find(), all by cgroup_list(). Lasting groups can be frozen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "jail/spec.h"
#include "wire/guard.h"

typedef enum CgroupController {
        CGROUP_MEMORY,
        CGROUP_PIDS,
        CGROUP_CPU,
        CGROUP_CPUACCT, /* v1 only: in v2 CPU time is counted without a controller */
        CGROUP_IO,
        CGROUP_FREEZER, /* v1 only, lasting groups only: in v2 every group can be frozen */
        _CGROUP_CONTROLLER_MAX,
} CgroupController;

#define CGROUP_PATH_MAX 512

typedef enum CgroupVersion {
        CGROUP_NONE,
        CGROUP_V1,
        CGROUP_V2,
} CgroupVersion;

/* One directory: v2 has one for all controllers, v1 one for each. */
typedef struct CgroupDir {
        char path[CGROUP_PATH_MAX];
        int fd;       /* the directory */
        int enter_fd; /* v1: its tasks file, open for writing; the child writes itself there */
} CgroupDir;

typedef struct Cgroup {
        CgroupVersion version;
        CgroupDir dirs[_CGROUP_CONTROLLER_MAX];
        unsigned controllers; /* bit set of those in use */
        bool lasting;

        /* v2 as a plain user: our own processes had to leave the delegated group for a leaf beside the sandbox. */
        char leaf[CGROUP_PATH_MAX];
        char home[CGROUP_PATH_MAX];
        pid_t companion; /* moves along; 0: none */
} Cgroup;

typedef struct CgroupUsage {
        uint64_t memory_peak_bytes;
        uint64_t cpu_usec, cpu_user_usec, cpu_system_usec;
        uint64_t pids_peak;
        uint64_t io_read_bytes, io_write_bytes;
        uint64_t oom_kills;
        uint64_t memory_bytes, pids; /* current values, pids without PID 1; of lasting groups only */
        bool has_memory_now, has_pids;
        bool has_memory, has_cpu, has_pids_peak, has_io_read;
        bool has_io_write; /* never on v1: it counts direct writes only, which misleads */
} CgroupUsage;

#define CGROUP_EMPTY { .version = CGROUP_NONE }

/* The version that the host has at /sys/fs/cgroup. */
CgroupVersion cgroup_detect(void);

/* Plans the paths without making anything, so that they can be written down first. -EOPNOTSUPP: no cgroups at all. */
int cgroup_plan(const char *id, Cgroup *ret, Error *reterr);

/* The same for a lasting group. An instance name consists of a few of [a-z0-9_-]. */
int cgroup_plan_lasting(const char *instance, const char *id, Cgroup *ret, Error *reterr);
bool cgroup_instance_is_valid(const char *instance);

/* Finds the lasting group of that id in any hierarchy; -ENOENT: there is none. Opens nothing: enough to freeze and to
 * remove. */
int cgroup_find(const char *instance, const char *id, Cgroup *ret);

/* The same with its directories open, for cgroup_usage(). Needs read access only. */
int cgroup_open(const char *instance, const char *id, Cgroup *ret);

/* Calls the function once for each id that has a lasting group of the instance in any hierarchy, in order. If the
 * function returns a negative errno, the walk ends with it. */
int cgroup_list(const char *instance, int (*found)(const char *id, void *userdata), void *userdata);

/* Makes the planned groups. *ret_missing gets the guards of controllers that this host does not have; any other failure
 * undoes everything. -EACCES/-EPERM/-EROFS: no right to make cgroups here. -EEXIST: a group of that name exists; it is
 * left alone. */
int cgroup_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr);

/* Descriptor for CLONE_INTO_CGROUP, or -EBADF on v1. */
int cgroup_clone_fd(const Cgroup *cg);

/* v1: the descriptors that the child needs to move itself in; returns their number. None on v2, where clone3 has done
 * it. */
size_t cgroup_enter_fds(const Cgroup *cg, int ret_fds[static _CGROUP_CONTROLLER_MAX]);

/* Moves the calling, single-threaded process. */
int cgroup_enter(const int *fds, size_t n_fds);

int cgroup_usage(const Cgroup *cg, CgroupUsage *ret);

/* A descriptor of the kernel's counter of used memory, in bytes: each read from its beginning gives the current
 * value. */
int cgroup_open_memory_usage(const Cgroup *cg);

/* CPU time of the whole tree so far; the only counter that is read while the sandbox runs. */
int cgroup_cpu_usec(const Cgroup *cg, usec_t *ret);

/* Whether no process is in the group or below it. Needs read access only. */
bool cgroup_is_empty(const Cgroup *cg);

/* Freezes or thaws all processes of a lasting group. -EAGAIN: in progress, call again. -EOPNOTSUPP: no freezer here.
 * -ENOENT: the group is gone. */
int cgroup_freeze(const Cgroup *cg, bool freeze);

/* Moves its memory to swap, or back to its files, as far as there is room. Slow. -EOPNOTSUPP: the kernel has no such
 * interface. */
int cgroup_reclaim(const Cgroup *cg);

/* Kills all processes in it and removes it; waits up to `patience` for them to die. Idempotent. */
int cgroup_remove(Cgroup *cg, usec_t patience);

/* One attempt at that. -EBUSY: its processes have been killed but are not dead yet, call again. */
int cgroup_try_remove(Cgroup *cg);

void cgroup_close(Cgroup *cg);
