/* cgroup-ops.h: the operations that differ between cgroup v1 and v2. Private to cgroup*.c. */
#pragma once

#include "jail/cgroup.h"

#define CGROUP_MOUNT "/sys/fs/cgroup"
#define CGROUP_PIDS_MAX UINT64_C(4194304) /* the kernel takes no more */

#define CGROUP_OWN_MAX      4096 /* of /proc/self/cgroup */
#define CGROUP_OWN_PATH_MAX (CGROUP_PATH_MAX / 2)
#define CGROUP_BASE_MAX     (CGROUP_PATH_MAX - 128)
#define CGROUP_FILE_MAX     (CGROUP_PATH_MAX + 64)

/* A directory that contains our groups. */
typedef struct CgroupBase {
        CgroupController controller; /* v1: the controller of this hierarchy; v2: the first one, for all */
        char path[CGROUP_BASE_MAX];
} CgroupBase;

#define CGROUP_BASES_MAX _CGROUP_CONTROLLER_MAX

typedef struct CgroupOps {
        int (*plan)(Cgroup *cg, const char *name, Error *reterr);
        int (*make)(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr);
        int (*usage)(const Cgroup *cg, CgroupUsage *ret);
        int (*cpu_usec)(const Cgroup *cg, usec_t *ret);
        int (*kill)(const CgroupDir *dir);
        int (*freeze)(const Cgroup *cg, bool freeze);
        int (*reclaim)(const Cgroup *cg);
        /* The directories that may contain lasting groups: the top of the hierarchy, where root makes them, or near our
         * own group. Returns their number. */
        size_t (*bases)(bool near_own, CgroupBase ret[static CGROUP_BASES_MAX]);
        void (*leave)(Cgroup *cg); /* undoes the move of our own processes by make(); may be NULL */
} CgroupOps;

extern const CgroupOps cgroup_v1_ops, cgroup_v2_ops;
const CgroupOps *cgroup_ops(CgroupVersion version);

/* Makes the directory and opens it. */
int cgroup_dir_make(CgroupDir *dir, Error *reterr);

/* Writes a limit; the error names file and value. */
int cgroup_limit(const CgroupDir *dir, const char *file, uint64_t value, Error *reterr);

/* Sends SIGKILL to every process in the group's cgroup.procs. */
int cgroup_kill_listed(const CgroupDir *dir);

/* A file of a group by name, for groups whose directory is not open. */
void cgroup_file_path(const CgroupDir *dir, const char *file, char *ret, size_t size);

/* The path of our own group in a hierarchy, out of the text of /proc/self/cgroup; the top is "". The controller "" names
 * the v2 line. */
int cgroup_own_path(const char *text, const char *controller, char *ret, size_t size);

/* A value of a "key value" file such as memory.events or cpu.stat. */
int cgroup_read_key(int dirfd, const char *file, const char *key, uint64_t *ret);
