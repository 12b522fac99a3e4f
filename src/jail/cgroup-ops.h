/* cgroup-ops.h: what each cgroup version does its own way. Private to cgroup.c, cgroup-v1.c and cgroup-v2.c. */
#pragma once

#include "jail/cgroup.h"

#define CGROUP_MOUNT "/sys/fs/cgroup"

typedef struct CgroupOps {
        int (*plan)(Cgroup *cg, const char *name, Error *reterr);
        int (*make)(Cgroup *cg, const JailLimits *limits, GuardSet *ret_missing, Error *reterr);
        int (*usage)(const Cgroup *cg, CgroupUsage *ret);
        int (*cpu_usec)(const Cgroup *cg, usec_t *ret);
        int (*kill)(const CgroupDir *dir);
        void (*leave)(Cgroup *cg); /* undoes what make() did to ourselves; may be NULL */
} CgroupOps;

extern const CgroupOps cgroup_v1_ops, cgroup_v2_ops;

/* Makes the directory and opens it. */
int cgroup_dir_make(CgroupDir *dir, Error *reterr);

/* Writes a limit; the error names file and value. */
int cgroup_limit(const CgroupDir *dir, const char *file, uint64_t value, Error *reterr);

#define CGROUP_OWN_MAX 4096 /* of /proc/self/cgroup */

/* The path of our own group in a hierarchy, out of the text of /proc/self/cgroup; the top is "". The controller "" names
 * the v2 line. */
int cgroup_own_path(const char *text, const char *controller, char *ret, size_t size);

/* A value of a "key value" file such as memory.events or cpu.stat. */
int cgroup_read_key(int dirfd, const char *file, const char *key, uint64_t *ret);
