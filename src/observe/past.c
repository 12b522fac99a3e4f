/* past.c: the usage of a live sandbox over its whole life, in a fixed number of moments.
 *
 * When the array is full, every other moment is dropped and the interval between moments doubles: a life of any length
 * fits the same space. The moments are not in the store: they are lost with the sandbox, and with the daemon. */

#include <stdlib.h>
#include <string.h>

#include "observe/internal.h"

#define MOMENTS_MAX 128
#define STEP_FIRST  (5 * USEC_PER_SEC)

static void thin_out(Note *n) {
        unsigned kept = 0;

        for (unsigned i = 0; i < n->n_moments; i += 2)
                n->moments[kept++] = n->moments[i];
        n->n_moments = kept;
        n->moment_step *= 2;
}

void note_remember(Note *n, const SandboxUsage *usage, usec_t now) {
        if (n->n_moments > 0 && now - n->remembered_at < n->moment_step)
                return;
        if (!n->moments) {
                n->moments = calloc(MOMENTS_MAX, sizeof(*n->moments));
                n->moment_step = STEP_FIRST;
        }
        if (!n->moments)
                return;
        if (n->n_moments == MOMENTS_MAX)
                thin_out(n);
        n->moments[n->n_moments++] = (ObserveMoment) {
                .at = clock_wall_usec(),
                .cpu_percent = n->cpu_percent,
                .memory_bytes = usage->has_memory ? usage->memory_bytes : 0,
                .disk_bytes = usage->has_disk ? usage->disk_bytes : 0,
        };
        n->remembered_at = now;
}

Note *note_free(Note *n) {
        free(n->moments);
        free(n);
        return NULL;
}

size_t observe_past(Observe *o, const Sandbox *sb, const ObserveMoment **ret) {
        const Note *n = o ? note_find(o, sb) : NULL;

        *ret = n ? n->moments : NULL;
        return n ? n->n_moments : 0;
}
