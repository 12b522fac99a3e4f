/* dev.h: the sandbox's /dev.
 *
 * Read-only: null, zero, full, random, urandom, tty, an own devpts instance, shm out of the writable layer, and the usual links.
 * The nodes are in a file system of this sandbox's own, which the host's root makes outside. A plain user cannot: there it is a directory of the
 * writable layer and the nodes are the host's, bound inside, as guest root, before the pivot, while they can still be named; a lock on
 * one is everybody's then. */
#pragma once

#include "base/error.h"

/* Outside, as the host's root: nodes and links for one sandbox, as a detached tree. */
int dev_make(Error *reterr);

/* In the layer's directory: fills the empty directories dev/ and shm/. *ret_tree is what goes to /dev, detached.
 * made: of dev_make(); -EBADF: there is none. */
int dev_fill(int made, int *ret_tree, Error *reterr);

int dev_attach(int tree, Error *reterr);
