/* layer.h: converts an unpacked layer (OCI: names that begin with .wh. are about what is absent) to the upper
 * directory of an overlay, which txn/ can compare and apply. Its content is hostile: no link is followed.
 * Must not know: where the layer comes from. */
#pragma once

#include "base/error.h"

/* Replaces .wh.NAME by a whiteout of NAME; .wh..wh..opq makes its directory opaque. */
int layer_to_upper(int upper_fd, Error *reterr);

/* Opens the directory at a path of the sandbox. -ENOENT: it does not exist. -ENOTDIR, -ELOOP: not a
 * directory. */
int layer_open_part(int upper_fd, const char *path);

/* Gives the upper's directories the permissions of the existing ones: an archive lists a directory also just
 * because a file is in it. */
int layer_adopt_modes(int dir_fd, int upper_fd, Error *reterr);
