/* paths-find.h: where paths of rules lead, and what is on the way.
 *
 * Must not know: mounts. */
#pragma once

#include "base/error.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

#define PATHS_MOUNTS_MAX 256

typedef enum MountKind {
        MOUNT_PIN, /* stays as it is, but cannot be moved */
        MOUNT_WRITABLE,
        MOUNT_READ_ONLY,
        MOUNT_DENIED,
} MountKind;

typedef struct MountPlace {
        MountKind kind;
        char *path;  /* canonical but for a last part that is a link itself (pins only) */
        int tree;    /* writable: its copy, taken before everything became read-only */
        bool directory;
} MountPlace;

typedef struct MountPlan {
        MountPlace places[PATHS_MOUNTS_MAX];
        size_t n;
} MountPlan;

void mount_plan_done(MountPlan *p);

/* Makes what must be there and is not. Sorted when it returns: what is above comes first. Each path is there once. */
int mount_plan_make(MountPlan *p, const Rootfs *fs, const JailSpec *spec, Error *reterr);
