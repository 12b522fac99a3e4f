/* changes.h: differences for display, one JSON object per line (tree.h). */
#pragma once

#include "base/error.h"
#include "tree/delta.h"

typedef struct Changes {
        const TreeOptions *options;
        const char *top; /* prefix of every path: "/" */
        uint64_t n;
        uint64_t patch_bytes; /* total so far */
        bool cut;        /* --limit was reached */
} Changes;

/* The callback of a delta walk. -ECANCELED: the limit is reached; `cut` is set. */
int changes_take(const Delta *d, void *userdata, Error *reterr);
