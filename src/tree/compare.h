/* compare.h: whether two files are the same. */
#pragma once

#include "tree/delta.h"

typedef enum Sameness {
        SAME,
        SAME_CONTENT, /* only the metadata differs */
        DIFFERENT,
} Sameness;

/* Compares two existing files. Negative errno on failure. */
int compare_sides(const DeltaSide *now, const DeltaSide *before, DeltaCount count);
