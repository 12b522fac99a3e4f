#include "gate/memory.h"

#include <unistd.h>

#define PART     8 /* of the machine's memory, if no limit is set */
#define MOST_MIN (UINT64_C(16) << 20)

void memory_init(Gate *g) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

        g->memory_usual = pages > 0 && size > 0 ? (size_t) pages / PART * (size_t) size : 0;
        memory_set_most(g, 0);
}

void memory_set_most(Gate *g, uint64_t bytes) {
        g->memory_max = (size_t) MAX_OF(bytes > 0 ? bytes : (uint64_t) g->memory_usual, MOST_MIN);
}

bool memory_fits(const Gate *g, const GateSandbox *s, size_t more) {
        size_t all = g->memory + more;

        return all <= g->memory_max && (s ? s->memory : 0) + more <= g->memory_max - all;
}

bool memory_hold(GateSandbox *s, size_t *held, size_t now) {
        bool grows = now > *held;

        s->memory += now - *held; /* unsigned: wraps around if it shrinks */
        s->gate->memory += now - *held;
        *held = now;
        return !grows || memory_fits(s->gate, s, 0);
}
