/* delta-disk.h: tells the jail's own files on a sandbox's disk (jail/furniture.h) from the guest's. Private
 * to delta*.c.
 *
 *      on a template     upper-root is the overlay's upper of "/"
 *      on the host       root/ is "/" except for the mount points of overlays; their uppers are upper-usr etc. */
#pragma once

#include "tree/delta.h"

typedef enum DiskJudgement {
        DISK_GUEST,   /* not made by the jail: compare it with the base, if the base has it */
        DISK_OURS,    /* unchanged since the jail made it; a directory may contain other files */
        DISK_NOTHING, /* ignored, with everything below it */
        DISK_BEFORE,  /* the jail made it as *ret: compare it with that */
} DiskJudgement;

/* now: NULL if the file no longer exists. on_host: the disk has the host's files as its base. in_root: the
 * path is in the root directory of such a disk, not in the upper of one of its overlays. */
DiskJudgement disk_judge(int base, bool on_host, bool in_root, const char *path, const DeltaSide *now, DeltaSide *ret);

/* On the host: the upper directory of an overlay's mount point, such as "upper-etc-alternatives". false: the
 * path is no such mount point. */
bool disk_upper_name(const char *path, char *ret, size_t size);

/* On the host: calls `function` for each file that the jail put into `directory` when it made the disk. The
 * guest may have deleted it since. */
int disk_each_furniture(const char *directory, int (*function)(const char *name, void *userdata), void *userdata);
