/* sharedetc.h: one /etc that all sandboxes of a daemon on the host's template share as a lower layer.
 *
 * A copy, in a file system in memory, of the files on the lists of furniture.h that every user of the host may read.
 * Each sandbox has it id-mapped and read-only under an overlay of its own: one overlay instead of a bind or a copy
 * for each file. It is made again when the host's /etc has changed, for sandboxes made after that.
 * Runs outside, as the host's root. Must not know: any sandbox. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"

#define SHAREDETC_USER 1000 /* the default uid and gid of the guest */

typedef struct SharedEtc {
        int tree;        /* -EBADF: not made yet */
        Strv sources;    /* the copied directories and named files: a change of one makes the copy stale */
        uint64_t stamp;  /* hash over all sources when it was made */
        usec_t looked;   /* time of the last check */
} SharedEtc;

#define SHAREDETC_EMPTY { .tree = -EBADF }

/* Makes it if it is missing or stale. Checks the host at most once a second. */
int sharedetc_get(SharedEtc *e, Error *reterr);
void sharedetc_done(SharedEtc *e);
