/* dev.h: the sandbox's /dev.
 *
 * Read-only: null, zero, full, random, urandom, tty, a devpts instance of its own, shm from the writable layer, and
 * the usual links. Root makes the nodes outside, in a file system of this sandbox's own. A plain user cannot: then
 * /dev is a directory of the writable layer and the nodes are the host's, bound inside, as guest root, before the
 * change of root, while their paths still exist. A lock on such a node is visible to the whole host. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* Outside, as the host's root: makes nodes and links for one sandbox, as a detached tree. */
int dev_make(Error *reterr);

/* In the layer's directory: fills the empty directories dev/ and shm/. *ret_tree is the future /dev: dev/ itself, or if
 * that is about to be removed a detached copy. made: from dev_make(); -EBADF: there is none. */
int dev_fill(int made, bool copy, int *ret_tree, Error *reterr);

int dev_attach(int tree, Error *reterr);
