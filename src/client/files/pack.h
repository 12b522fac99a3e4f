/* pack.h: a directory of ours as a tar stream.
 *
 * Depth first, names relative to the directory, itself left out. Symbolic links stay links; what is no file, directory or link is
 * passed over with a warning. Read piece by piece, so nothing is held but the way down.
 * Must not know: where the stream goes. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"

typedef struct Pack Pack;

int pack_new(const char *directory, Pack **ret, Error *reterr);
Pack *pack_free(Pack *p);
static inline void pack_freep(Pack **p) {
        *p = pack_free(*p);
}
#define _cleanup_pack_ _cleanup_(pack_freep)

/* Names that fit the patterns (base/ignore.h) stay behind, but for those of `always`. Both are borrowed. */
void pack_leave_out(Pack *p, const Strv *patterns, const Strv *always);

/* A CallSource: fills the buffer; 0 at the end. */
ssize_t pack_read(void *pack, void *buffer, size_t size);

/* What went wrong, when pack_read() failed. */
const Error *pack_error(const Pack *p);
