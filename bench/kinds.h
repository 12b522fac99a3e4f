/* kinds.h: where a machine's memory is, by kind.
 *
 * Counts the whole machine: what others do between two readings is in their difference.
 * Must not know: what is measured. */
#pragma once

#include <stdint.h>

typedef struct MemoryKinds {
        int64_t available; /* MemAvailable */
        int64_t anonymous, shared, slab, page_tables, stacks, percpu; /* slab: what cannot be reclaimed; shared: tmpfs among it */
} MemoryKinds;

int kinds_read(MemoryKinds *ret);
/* What has become more since then; of what is available, less. */
MemoryKinds kinds_growth(const MemoryKinds *before, const MemoryKinds *now);
int64_t kinds_sum(const MemoryKinds *k);
