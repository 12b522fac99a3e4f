/* unpack.h: a tar stream into a directory of ours.
 *
 * What is in the stream comes out of a sandbox and is an enemy's work: nothing is made outside of the directory, no link is
 * followed on the way (not even one that the stream itself has made), nobody gets set-id bits, and devices are left out.
 * Must not know: where the stream comes from. */
#pragma once

#include "base/error.h"

typedef struct Unpack Unpack;

/* The directory is borrowed. NULL: no memory. */
Unpack *unpack_new(int dirfd);
Unpack *unpack_free(Unpack *u);
static inline void unpack_freep(Unpack **u) {
        *u = unpack_free(*u);
}
#define _cleanup_unpack_ _cleanup_(unpack_freep)

/* An HttpBody. */
int unpack_write(void *unpack, const void *data, size_t size);

/* All has come: sets what can only be set at the end. -EBADMSG: not all has come. */
int unpack_finish(Unpack *u);

const Error *unpack_error(const Unpack *u);
