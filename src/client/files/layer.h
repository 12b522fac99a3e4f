/* layer.h: an unpacked layer (OCI: names that begin with .wh. are about what is not there) as the upper of an overlay, which txn/ can compare and
 * apply. What is in it is an enemy's work: nothing is followed. Must not know: where it comes from. */
#pragma once

#include "base/error.h"

/* .wh.NAME becomes a whiteout of NAME, .wh..wh..opq makes its directory opaque. */
int layer_to_upper(int upper_fd, Error *reterr);

/* What is below a path of the inside. -ENOENT: nothing; -ENOTDIR, -ELOOP: it is no directory. */
int layer_open_part(int upper_fd, const char *path);

/* Directories that are on both sides get the permissions of those that are there: an archive names them only because something is in them. */
int layer_adopt_modes(int dir_fd, int upper_fd, Error *reterr);
