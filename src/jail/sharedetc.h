/* sharedetc.h: the /etc of a daemon's sandboxes on the host's template, made once and the lower layer of them all.
 *
 * What the host's template takes of the host's /etc (furniture.h), copied into a file system in memory: the same lists, and of
 * them only what everybody may read. Each sandbox has it id-mapped and read-only under an overlay of its own; one overlay instead of a bind or a
 * copy for each thing. Made anew when the host's has changed, for sandboxes that are made from then on.
 * Runs outside, as the host's root. Must not know: any sandbox. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"

#define SHAREDETC_USER 1000 /* of those that say nothing else */

typedef struct SharedEtc {
        int tree;        /* -EBADF: not made yet */
        Strv sources;    /* whose changes make it stale: directories, and files that were named */
        uint64_t stamp;  /* of all of them, when it was made */
        usec_t looked;   /* when that was looked at last */
} SharedEtc;

#define SHAREDETC_EMPTY { .tree = -EBADF }

/* Makes it where it is not there, or stale. A look at the host once a second at most. */
int sharedetc_get(SharedEtc *e, Error *reterr);
void sharedetc_done(SharedEtc *e);
