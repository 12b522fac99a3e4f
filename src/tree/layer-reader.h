/* layer-reader.h: a tar stream as entries. Only this file and layer-writer may use libarchive in this room.
 *
 * Reads every dialect of tar. Names are as in the archive, not cleaned. Only the current entry is kept in
 * memory.
 * Must not know: trees, whiteouts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "tree/stream.h"

typedef struct LayerReaderEntry {
        /* target: of a link. Both are valid while the entry is the current one. */
        const char *path, *target;
        bool hard;
        mode_t mode;
        int64_t uid, gid;
        uint64_t size;
        struct timespec mtime;
} LayerReaderEntry;

typedef struct LayerReader LayerReader;

/* Call it once at the start, while files can still be opened. */
void layer_prepare(void);

/* The caller keeps the stream, which must outlive the reader. */
int layer_reader_new(TreeStream *stream, LayerReader **ret, Error *reterr);
LayerReader *layer_reader_free(LayerReader *r);
void layer_reader_freep(LayerReader **r);

int layer_reader_next(LayerReader *r, LayerReaderEntry *ret, Error *reterr); /* 1, or 0 at the end */

/* The next piece of the current entry's content, and its offset in the file. A gap between two pieces is a
 * hole. 0 at the end. */
int layer_reader_data(LayerReader *r, const void **ret, size_t *ret_size, uint64_t *ret_offset, Error *reterr);

/* The next extended attribute of the current entry; false at the end. */
bool layer_reader_attribute(LayerReader *r, const char **ret_name, const void **ret_value, size_t *ret_size);
