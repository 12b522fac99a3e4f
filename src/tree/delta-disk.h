/* delta-disk.h: the disk of a sandbox, of which a part is the jail's own (jail/furniture.h); delta.h's own.
 *
 *      on a template     upper-root is the overlay's upper of "/"
 *      on the host       root/ is "/" but for the places of overlays, whose uppers are upper-usr and its like */
#pragma once

#include "tree/delta.h"

typedef enum DiskJudgement {
        DISK_GUEST,   /* nothing of ours: compare with what it stands on, if there is something */
        DISK_OURS,    /* is as we made it; a directory may have something in it */
        DISK_NOTHING, /* is not looked at, nor what is below it */
        DISK_BEFORE,  /* as we made it, it was *ret */
} DiskJudgement;

/* now: NULL: it is not there any more. */
/* on_host: the disk stands on the host's files; in_root: and this is its root directory, not the upper of an overlay in it. */
DiskJudgement disk_judge(int base, bool on_host, bool in_root, const char *path, const DeltaSide *now, DeltaSide *ret);

/* Of the host's: "upper-etc-alternatives" for the place of an overlay; false: the path is none. */
bool disk_upper_name(const char *path, char *ret, size_t size);

/* What was in a directory of the host's template when it was made, and may be gone: calls for each name. */
int disk_each_furniture(const char *directory, int (*function)(const char *name, void *userdata), void *userdata);
