/* dev.h: the sandbox's /dev.
 *
 * A directory of the writable layer, read-only, with null, zero, full, random, urandom and tty of the host, its own devpts
 * instance, shm out of the same layer, and the usual links. Runs inside, as guest root. It is filled before the pivot,
 * while the host's nodes can still be named, and put in place after it. */
#pragma once

#include "base/error.h"

/* In the layer's directory: fills the empty directories dev/ and shm/. *ret_tree is what goes to /dev, detached. */
int dev_fill(int *ret_tree, Error *reterr);

int dev_attach(int tree, Error *reterr);
