/* stream.h: the bytes of a layer, read, hashed as they come and as they are inside, and uncompressed, all by a thread of its own, so that
 * it goes on while files are written.
 *
 * A few blocks lie between the two; nothing else grows.
 * Must not know: tar, trees. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "tree/codec.h"
#include "tree/digest.h"

typedef struct TreeStream TreeStream;

typedef struct StreamSummary {
        char digest[DIGEST_TEXT_SIZE];  /* of what came */
        char diff_id[DIGEST_TEXT_SIZE]; /* of what was in it */
        Compression compression;
        uint64_t size, inner_size;
} StreamSummary;

int tree_stream_new(int fd, TreeStream **ret, Error *reterr);
TreeStream *tree_stream_free(TreeStream *s); /* at any time */
void stream_freep(TreeStream **s);

/* The next block, there until the next call; 0 at the end. */
ssize_t stream_next(TreeStream *s, const void **ret, Error *reterr);

/* Takes what is left, at most `rest` bytes of it: padding behind the archive. */
int stream_finish(TreeStream *s, uint64_t rest, StreamSummary *ret, Error *reterr);
