/* layered.h: binds with a layer: the guest may change a directory of the host, and the directory stays as it is.
 *
 * An overlay: lower = the bind's source, read-only and id-mapped as binds are; upper = upper/ of the layer. Files in
 * the upper have the ids of the inside, so that another sandbox with another range of ids can continue with it; a
 * plain user's sandbox has a single id, and its files belong to that user. The overlay shows only the source's own
 * file system, not what is mounted below it.
 * Must not know: what becomes of the changes. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

/* Parts of rootfs_open() and rootfs_restrict(), for the layer as a detached tree. userns_fd -EBADF: no id map. */
int layered_open(const JailBind *bind, Error *reterr);
int layered_restrict(const JailBind *bind, int layer_tree, int userns_fd, Error *reterr);

/* Inside, in the directory of the writable layer, before the change of root: replaces *tree, the source, by the overlay. */
int layered_make(const JailBind *bind, size_t number, int layer_tree, int *tree, Error *reterr);
