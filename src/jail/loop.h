/* loop.h: files as block devices.
 *
 * Every device clears itself when its last user has gone: a mount, or a descriptor. The descriptor that is given back keeps it until then.
 * Must not know: what is in the file. */
#pragma once

#include <stddef.h>

#include "base/error.h"

#define LOOP_PATH_MAX 32

/* name: what `losetup` shows of it. */
int loop_attach(int file_fd, const char *name, char ret_path[static LOOP_PATH_MAX], Error *reterr);

/* The device that this very file is on already; -ENOENT: none. */
int loop_find(int file_fd, char ret_path[static LOOP_PATH_MAX], Error *reterr);

/* The file has another size now. */
int loop_take_size(int loop_fd);
