/* dev.h: the sandbox's /dev.
 *
 * A read-only directory with null, zero, full, random, urandom and tty of the host, its own devpts instance, shm out of
 * the writable layer, and the usual links. Runs inside, as guest root, before the old root is let go. */
#pragma once

#include "base/error.h"

/* host_root_fd: where the device nodes come from. dev_tree, shm_tree: detached trees of two empty directories of the
 * writable layer. */
int dev_setup(int host_root_fd, int dev_tree, int shm_tree, Error *reterr);
