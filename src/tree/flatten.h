/* flatten.h: what a disk has changed, carried over into the tree that it stands on (a copy of it, of course).
 *
 * Files by sharing their blocks where the file system can; permissions, owners, times, attributes and hard links among them. What stands in the way
 * is replaced, never written into. Sockets and devices are left out. */
#pragma once

#include "base/error.h"
#include "tree/unpack.h"

int flatten_disk(int tree, int disk, const UnpackLimits *limits, UnpackCounts *ret, Error *reterr);
