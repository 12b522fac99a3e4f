/* dev.h: the sandbox's /dev.
 *
 * A small read-only tmpfs with null, zero, full, random, urandom and tty of the host, its own devpts instance, shm out
 * of the writable layer, and the usual links. Runs inside, as guest root, before the old root is let go. */
#pragma once

#include "base/error.h"

/* root_fd: the host's root, where the device nodes come from. shm: a detached tree for /dev/shm. */
int dev_setup(int host_root_fd, int shm_tree, Error *reterr);
