/* layer-reader.h: a tar stream as entries. With layer-writer the only doors to libarchive here.
 *
 * Every dialect of tar; names as the archive has them, not cleaned. Nothing is held but the current entry.
 * Must not know: trees, whiteouts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "tree/stream.h"

typedef struct LayerReaderEntry {
        const char *path, *target; /* of a link; as long as the entry is the current one */
        bool hard;
        mode_t mode;
        int64_t uid, gid;
        uint64_t size;
        struct timespec mtime;
} LayerReaderEntry;

typedef struct LayerReader LayerReader;

/* Once, at the start, while files can still be opened. */
void layer_prepare(void);

int layer_reader_new(TreeStream *stream, LayerReader **ret, Error *reterr); /* the stream stays the caller's, and must outlive it */
LayerReader *layer_reader_free(LayerReader *r);
void layer_reader_freep(LayerReader **r);

int layer_reader_next(LayerReader *r, LayerReaderEntry *ret, Error *reterr); /* 1, or 0 at the end */

/* The next piece of the current entry's content, and where in the file it belongs: what is between two is a hole. 0 at the end. */
int layer_reader_data(LayerReader *r, const void **ret, size_t *ret_size, uint64_t *ret_offset, Error *reterr);

/* Its next extended attribute; false at the end. */
bool layer_reader_attribute(LayerReader *r, const char **ret_name, const void **ret_value, size_t *ret_size);
