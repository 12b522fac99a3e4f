/* compare.h: whether two files are the same. */
#pragma once

#include "tree/delta.h"

typedef enum Sameness {
        SAME,
        SAME_CONTENT, /* something about it differs */
        DIFFERENT,
} Sameness;

/* Two that are there. Negative errno. */
int compare_sides(const DeltaSide *now, const DeltaSide *before, DeltaCount count);
