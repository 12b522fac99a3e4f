/* unpack.h: a layer laid over a tree.
 *
 *      names          cleaned; those that lead upwards are refused, absolute ones are below the tree
 *      what is there  is replaced, never written into (its inode may be that of another tree's file); only directories stay, with new metadata
 *      whiteouts      ".wh.NAME" and ".wh..wh..opq" take away what was there before this layer, wherever in the layer they come
 *      links          hard ones to what the tree has; symbolic ones as they are: whoever follows them follows them below the tree
 *      devices        are left out, and counted: a sandbox has its own; sockets cannot be in a tar
 *      ids            0 to 65535, what a sandbox has; others are refused
 *      attributes     attributes.h
 *      bounds         -EFBIG for bytes (holes count, too), -E2BIG for entries
 *
 * Directories get their times when everything is in. Nothing is synced: whoever publishes the tree does that. */
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
