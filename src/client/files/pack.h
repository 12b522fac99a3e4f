/* pack.h: a local directory as a tar stream.
 *
 * Entries come depth first, with names relative to the directory, which is itself left out. Symbolic links
 * stay links; other special files are skipped with a warning. The stream is produced piece by piece: only the
 * current path is held.
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

/* Leaves out names that match the patterns (base/ignore.h), except those in `always`. Both lists are
 * borrowed. */
void pack_leave_out(Pack *p, const Strv *patterns, const Strv *always);

/* A CallSource: fills the buffer. 0: the end. */
ssize_t pack_read(void *pack, void *buffer, size_t size);

/* The error, after pack_read() has failed. */
const Error *pack_error(const Pack *p);
