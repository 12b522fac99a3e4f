/* changes.h: differences for people, a line of JSON each (tree.h). */
#pragma once

#include "base/error.h"
#include "tree/delta.h"

typedef struct Changes {
        const TreeOptions *options;
        const char *top; /* before every path: "/" */
        uint64_t n;
        uint64_t patch_bytes; /* of all so far */
        bool cut;        /* --limit was reached */
} Changes;

/* What a delta walk calls. -ECANCELED: enough, with `cut`. */
int changes_take(const Delta *d, void *userdata, Error *reterr);
