/* loop.h: files as block devices.
 *
 * A device clears itself when its last user is gone: a mount or a descriptor. The returned descriptor keeps the device.
 * Must not know: what is in the file. */
#pragma once

#include <stddef.h>

#include "base/error.h"

#define LOOP_PATH_MAX 32
#define LOOP_SECTOR   4096 /* the file system in the file needs blocks of this size or larger */

/* name: shown by `losetup`. */
int loop_attach(int file_fd, const char *name, char ret_path[static LOOP_PATH_MAX], Error *reterr);

/* Finds the device that this very file is attached to; -ENOENT: none. */
int loop_find(int file_fd, char ret_path[static LOOP_PATH_MAX], Error *reterr);

/* Makes the device take over a changed file size. */
int loop_take_size(int loop_fd);
