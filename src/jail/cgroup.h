/* cgroup.h: resource limits and counters of one sandbox.
 *
 * One interface over cgroup v2 and the v1 controllers of old and hybrid hosts. Every directory made is called
 * "cove-<id>". Making and removing is the caller's side of the wall; cgroup_enter() is called by the new process.
 * Must not know: who asked for the sandbox, how it is started, how its limits were chosen.
 *
 *      1. cgroup_make()     directories with limits written
 *      2. clone3 with cgroup_clone_fd() (v2); or the child is given cgroup_enter_fds() and calls cgroup_enter() (v1)
 *      3. cgroup_usage()    at any time, also after the last process is gone
 *      4. cgroup_remove()   kills what is left, takes the directories away
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "jail/guard.h"
#include "jail/spec.h"

typedef enum CgroupController {
        CGROUP_MEMORY,
        CGROUP_PIDS,
        CGROUP_CPU,
        CGROUP_CPUACCT, /* v1 only: in v2 CPU time is counted without a controller */
        CGROUP_IO,
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
        bool has_memory, has_cpu, has_pids_peak, has_io_read;
        bool has_io_write; /* v1 counts direct writes only, which is worse than nothing */
} CgroupUsage;

#define CGROUP_EMPTY { .version = CGROUP_NONE }

/* Which version the host has at /sys/fs/cgroup. */
CgroupVersion cgroup_detect(void);

/* Plans the paths without making anything, so that they can be written down first. -EOPNOTSUPP: no cgroups at all. */
int cgroup_plan(const char *id, Cgroup *ret, Error *reterr);

/* Makes what was planned. *ret_missing gets the guards of controllers which this host does not have; any other failure
 * undoes what was done. -EACCES/-EPERM/-EROFS: no right to make cgroups here. */
int cgroup_make(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr);

/* Descriptor for CLONE_INTO_CGROUP, or -EBADF on v1. */
int cgroup_clone_fd(const Cgroup *cg);

/* v1: what the child needs to move itself in; returns how many. None on v2, where clone3 has done it. */
size_t cgroup_enter_fds(const Cgroup *cg, int ret_fds[static _CGROUP_CONTROLLER_MAX]);

/* Moves the calling, single-threaded process. */
int cgroup_enter(const int *fds, size_t n_fds);

int cgroup_usage(const Cgroup *cg, CgroupUsage *ret);

/* CPU time of the whole tree so far; the one counter that is read while it runs. */
int cgroup_cpu_usec(const Cgroup *cg, usec_t *ret);

/* Kills everything in it and removes it; waits up to the given time for the dying. Idempotent. */
int cgroup_remove(Cgroup *cg, usec_t patience);

void cgroup_close(Cgroup *cg);
