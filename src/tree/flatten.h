/* flatten.h: applies the changes of a disk to a copy of the tree that is its base.
 *
 * File content is shared (reflink) where the file system supports it. Permissions, owners, times, attributes
 * and hard links among the files are kept. An existing file is replaced, never written into. Sockets and
 * devices are left out. */
#pragma once

#include "base/error.h"
#include "tree/unpack.h"

int flatten_disk(int tree, int disk, const UnpackLimits *limits, UnpackCounts *ret, Error *reterr);
