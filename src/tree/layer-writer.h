/* layer-writer.h: entries as a tar stream, compressed, with both digests. With layer-reader the only doors to libarchive here.
 *
 * Plain headers, extended ones where they are needed; no times but the modification's, whole seconds; no names of users. The same entries give the same bytes.
 * Must not know: where entries come from. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tree/stream.h"

typedef struct LayerWriter LayerWriter;

int layer_writer_new(int fd, Compression compression, LayerWriter **ret, Error *reterr);
LayerWriter *layer_writer_free(LayerWriter *w); /* without an end: the stream stays visibly cut off */
void layer_writer_freep(LayerWriter **w);

/* target: of a link; hard: a name of what was put before. content: of a regular file, -EBADF: it is empty; its attributes go with it. */
typedef struct LayerPut {
        const char *path, *target;
        bool hard;
        struct stat st;
        int content;
} LayerPut;

int layer_writer_put(LayerWriter *w, const LayerPut *p, Error *reterr);
int layer_writer_end(LayerWriter *w, StreamSummary *ret, Error *reterr);
