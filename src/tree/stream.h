/* stream.h: reads, decompresses and hashes a layer, in a thread of its own, while the caller writes files.
 * Both the compressed and the uncompressed bytes are hashed.
 *
 * A few blocks are buffered between the two threads; memory is bounded.
 * Must not know: tar, trees. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "tree/codec.h"
#include "tree/digest.h"

typedef struct TreeStream TreeStream;

typedef struct StreamSummary {
        char digest[DIGEST_TEXT_SIZE];  /* of the bytes as read */
        char diff_id[DIGEST_TEXT_SIZE]; /* of the uncompressed bytes */
        Compression compression;
        uint64_t size, inner_size;
} StreamSummary;

int tree_stream_new(int fd, TreeStream **ret, Error *reterr);
TreeStream *tree_stream_free(TreeStream *s); /* may be called at any time */
void stream_freep(TreeStream **s);

/* The next block, valid until the next call; 0 at the end. */
ssize_t stream_next(TreeStream *s, const void **ret, Error *reterr);

/* Reads the rest of the stream, the padding after the archive. More than `rest` bytes are an error
 * (-EBADMSG). */
int stream_finish(TreeStream *s, uint64_t rest, StreamSummary *ret, Error *reterr);
