/* layer-writer.h: writes entries as a compressed tar stream, and computes both digests. Only this file and
 * layer-reader may use libarchive in this room.
 *
 * Uses plain headers, and extended ones where needed. The only time is the mtime, in whole seconds. User and
 * group names are omitted. The same entries always give the same bytes.
 * Must not know: where entries come from. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tree/stream.h"

typedef struct LayerWriter LayerWriter;

int layer_writer_new(int fd, Compression compression, LayerWriter **ret, Error *reterr);
LayerWriter *layer_writer_free(LayerWriter *w); /* without an end: the stream is recognizably cut off */
void layer_writer_freep(LayerWriter **w);

/* target: of a link. hard: the target is the path of an earlier entry. content: descriptor of a regular file,
 * which also supplies the extended attributes; -EBADF: the file is empty. */
typedef struct LayerPut {
        const char *path, *target;
        bool hard;
        struct stat st;
        int content;
} LayerPut;

int layer_writer_put(LayerWriter *w, const LayerPut *p, Error *reterr);
int layer_writer_end(LayerWriter *w, StreamSummary *ret, Error *reterr);
