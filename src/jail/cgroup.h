/* cgroup.h: resource limits and counters of one sandbox.
 *
 * One interface over cgroup v2 and the v1 controllers of old and hybrid hosts. Making and removing is the caller's side of
 * the wall; cgroup_enter() is called by the new process.
 * Must not know: who asked for the sandbox, how it is started, how its limits were chosen.
 *
 *      1. cgroup_make()     directories with limits written
 *      2. clone3 with cgroup_clone_fd() (v2); or the child is given cgroup_enter_fds() and calls cgroup_enter() (v1)
 *      3. cgroup_usage()    at any time, also after the last process is gone
 *      4. cgroup_remove()   kills what is left, takes the directories away
 *
 * Every directory made is called "cove-<id>". Those of a sandbox that outlives its maker are lasting: they are called
 * "cove-<instance>-<id>", root makes them at the top of each hierarchy, and so whoever knows the instance finds them again,
 * from any session: cgroup_find() one, cgroup_list() all. They can be frozen.
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
        uint64_t memory_bytes, pids; /* at this moment, without PID 1; of lasting groups only */
        bool has_memory_now, has_pids;
        bool has_memory, has_cpu, has_pids_peak, has_io_read;
        bool has_io_write; /* v1 counts direct writes only, which is worse than nothing */
} CgroupUsage;

#define CGROUP_EMPTY { .version = CGROUP_NONE }

/* Which version the host has at /sys/fs/cgroup. */
CgroupVersion cgroup_detect(void);

/* Plans the paths without making anything, so that they can be written down first. -EOPNOTSUPP: no cgroups at all. */
int cgroup_plan(const char *id, Cgroup *ret, Error *reterr);

/* The same for one that outlives us. An instance is named by a few of [a-z0-9_-]. */
int cgroup_plan_lasting(const char *instance, const char *id, Cgroup *ret, Error *reterr);
bool cgroup_instance_is_valid(const char *instance);

/* The lasting group of that id, wherever it stands; -ENOENT: there is none. Opens nothing: enough to freeze and to remove. */
int cgroup_find(const char *instance, const char *id, Cgroup *ret);

/* The same with its directories open: for its usage too, which takes no right but to read. */
int cgroup_open(const char *instance, const char *id, Cgroup *ret);

/* Calls the function for each id that has a lasting group of the instance in any hierarchy, once, in order. It ends the walk
 * with a negative errno, which is returned. */
int cgroup_list(const char *instance, int (*found)(const char *id, void *userdata), void *userdata);

/* Makes what was planned. *ret_missing gets the guards of controllers which this host does not have; any other failure
 * undoes what was done. -EACCES/-EPERM/-EROFS: no right to make cgroups here. -EEXIST: there is one of that name, which is left
 * alone. */
int cgroup_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr);

/* Descriptor for CLONE_INTO_CGROUP, or -EBADF on v1. */
int cgroup_clone_fd(const Cgroup *cg);

/* v1: what the child needs to move itself in; returns how many. None on v2, where clone3 has done it. */
size_t cgroup_enter_fds(const Cgroup *cg, int ret_fds[static _CGROUP_CONTROLLER_MAX]);

/* Moves the calling, single-threaded process. */
int cgroup_enter(const int *fds, size_t n_fds);

int cgroup_usage(const Cgroup *cg, CgroupUsage *ret);

/* A descriptor that says in bytes, as often as it is read from its beginning, how much memory is used. */
int cgroup_open_memory_usage(const Cgroup *cg);

/* CPU time of the whole tree so far; the one counter that is read while it runs. */
int cgroup_cpu_usec(const Cgroup *cg, usec_t *ret);

/* That nobody is in it, nor below it. Takes no right but to read. */
bool cgroup_is_empty(const Cgroup *cg);

/* Stops all processes of a lasting group where they are, or lets them go on. -EAGAIN: it is on its way, call again.
 * -EOPNOTSUPP: no freezer here. -ENOENT: the group is gone. */
int cgroup_freeze(const Cgroup *cg, bool freeze);

/* Its memory goes to swap, or back to its files, as far as there is room. Takes its time. -EOPNOTSUPP: the kernel cannot be asked. */
int cgroup_reclaim(const Cgroup *cg);

/* Kills everything in it and removes it; waits up to the given time for the dying. Idempotent. */
int cgroup_remove(Cgroup *cg, usec_t patience);

/* One attempt at that. -EBUSY: what is in it has been killed but is not dead yet, call again. */
int cgroup_try_remove(Cgroup *cg);

void cgroup_close(Cgroup *cg);
