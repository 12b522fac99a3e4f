/* disk.h: the writable layer of a sandbox.
 *
 * One file system holds everything writable, so a single size limits it all; the guest gets ENOSPC at the limit.
 *
 *      memory      a tmpfs of that size, made inside; counts as the sandbox's memory
 *      image       a sparse ext4 image on a loop device, for more than half of the memory limit, and for guest root on
 *                  kernels whose tmpfs has no user.* attributes; the image has no name and the loop device clears
 *                  itself, so nothing remains, whichever process is killed
 *      directory   one that the caller keeps; no limit is possible there
 *      tree        a directory of the depot, with ids from 0 on, that outlives the sandbox; the depot enforces its limit,
 *                  and the guest gets EDQUOT. /dev/shm is memory then
 *
 * Must not know: what is written into it. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "jail/spec.h"

typedef enum DiskBacking {
        DISK_MEMORY,
        DISK_IMAGE,
        DISK_DIRECTORY,
        DISK_TREE,
        _DISK_BACKING_MAX,
} DiskBacking;

const char *disk_backing_name(DiskBacking b);

DiskBacking disk_choose(const JailSpec *spec, bool privileged);

/* For image, directory and tree, before the sandbox's processes exist. Each returns a detached tree. */
int disk_open_image(uint64_t bytes, Error *reterr);
int disk_open_directory(const char *path, int fd, uid_t owner, gid_t group, Error *reterr);
int disk_open_tree(int fd, const char *what, Error *reterr); /* any of the depot's */

/* For memory, inside. Returns a detached tree. */
int disk_open_memory(uint64_t bytes, Error *reterr);

/* Likewise, for /dev/shm beside a layer that outlives the sandbox. */
int disk_open_shm(uint64_t bytes, Error *reterr);
