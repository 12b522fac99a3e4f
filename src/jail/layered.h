/* layered.h: binds with a layer: a directory of the host that the guest may change as it likes, and that stays as it is.
 *
 * An overlay: lower = the bind's source, read-only and id-mapped as binds are; upper = upper/ of the layer, whose files have the ids of the
 * inside where there is more than one (a plain user's: their own), so that another sandbox with another range of ids can go on with it.
 * Only the source's own file system is there: what is mounted below it is not.
 * Must not know: what becomes of the changes. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

/* Like the rest of rootfs_open() and rootfs_restrict(): the layer as a detached tree. userns_fd -EBADF: no id map. */
int layered_open(const JailBind *bind, Error *reterr);
int layered_restrict(const JailBind *bind, int layer_tree, int userns_fd, Error *reterr);

/* Inside, in the directory of the writable layer, before the pivot: *tree, which is the source, becomes the overlay. */
int layered_make(const JailBind *bind, size_t number, int layer_tree, int *tree, Error *reterr);
