/* dev.h: the sandbox's /dev.
 *
 * A directory of the writable layer, read-only, with null, zero, full, random, urandom and tty of the host, its own devpts
 * instance, shm out of the same layer, and the usual links. Runs inside, as guest root. It is filled before the pivot,
 * while the host's nodes can still be named, and put in place after it. */
#pragma once

#include "base/error.h"

/* In the layer's directory: fills the empty directories dev/ and shm/. *ret_tree is what goes to /dev, detached.
 * shared_tree: a copy of what dev_make_shared() made, which saves making it; -EBADF: none. */
int dev_fill(int shared_tree, int *ret_tree, Error *reterr);

/* Outside, as the host's root, for somebody who makes many sandboxes: nodes and links, as a detached tree to be copied by
 * dev_copy_shared() for each of them. To copy a detached tree takes Linux 6.15: -EOPNOTSUPP before. */
int dev_make_shared(Error *reterr);
int dev_copy_shared(int tree);

int dev_attach(int tree, Error *reterr);
