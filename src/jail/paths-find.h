/* paths-find.h: resolves the paths of rules, and the directories and links on the way, into a list of mounts.
 *
 * Must not know: mounts. */
#pragma once

#include "base/error.h"
#include "jail/rootfs.h"
#include "jail/spec.h"

#define PATHS_MOUNTS_MAX 256

typedef enum MountKind {
        MOUNT_PIN, /* only keeps the directory or link from being renamed */
        MOUNT_WRITABLE,
        MOUNT_READ_ONLY,
        MOUNT_DENIED,
} MountKind;

typedef struct MountPlace {
        MountKind kind;
        char *path;  /* canonical; only the last part of a pin may be a link */
        int tree;    /* writable: a copy of the mount, taken before everything became read-only */
        bool directory;
} MountPlace;

typedef struct MountPlan {
        MountPlace places[PATHS_MOUNTS_MAX];
        size_t n;
} MountPlan;

void mount_plan_done(MountPlan *p);

/* Makes missing files and directories that a rule requires. On return the places are sorted, parents first, and each
 * path appears once. */
int mount_plan_make(MountPlan *p, const Rootfs *fs, const JailSpec *spec, Error *reterr);
