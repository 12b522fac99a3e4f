/* unpack.h: applies a layer to a tree.
 *
 *      names       are cleaned. Names that lead upwards are refused; absolute ones are taken below the tree
 *      replacing   an existing file is replaced, never written into: another tree may share its inode. Only directories stay, with new metadata
 *      whiteouts   ".wh.NAME" and ".wh..wh..opq" remove only what was there before this layer, wherever in the layer they appear
 *      links       hard links must name a file in the tree. Symbolic links are stored unchanged; they are followed below the tree only
 *      devices     are left out and counted: a sandbox has its own. Sockets cannot be in a tar
 *      ids         0 to 65535, the range of a sandbox; others are refused
 *      attributes  see attributes.h
 *      limits      -EFBIG for bytes (holes count too), -E2BIG for entries
 *
 * Directories get their times at the end. Nothing is synced: the caller that publishes the tree does that. */
#pragma once

#include "base/error.h"
#include "tree/layer-reader.h"

typedef struct UnpackLimits {
        uint64_t bytes, entries;
} UnpackLimits;

typedef struct UnpackCounts {
        uint64_t entries, bytes;
        uint64_t devices; /* left out */
} UnpackCounts;

int unpack_layer(int tree, LayerReader *reader, const UnpackLimits *limits, UnpackCounts *ret, Error *reterr);
