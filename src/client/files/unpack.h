/* unpack.h: unpacks a tar stream into a local directory.
 *
 * The stream comes from a sandbox and is hostile: nothing is created outside the directory, no link is
 * followed on the way (not even one from the stream itself), set-id bits are never set, and devices are left
 * out.
 * Must not know: where the stream comes from. */
#pragma once

#include "base/error.h"

typedef struct Unpack Unpack;

/* The directory is borrowed. NULL: out of memory. */
Unpack *unpack_new(int dirfd);
Unpack *unpack_free(Unpack *u);
static inline void unpack_freep(Unpack **u) {
        *u = unpack_free(*u);
}
#define _cleanup_unpack_ _cleanup_(unpack_freep)

/* An HttpBody. */
int unpack_write(void *unpack, const void *data, size_t size);

/* Call at the end of the stream: sets what can only be set at the end. -EBADMSG: the stream is incomplete. */
int unpack_finish(Unpack *u);

const Error *unpack_error(const Unpack *u);
