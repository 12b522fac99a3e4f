/* beat.h: how long a peer that should answer has been silent.
 *
 * The caller looks at regular intervals. An interval that took longer than planned counts as one interval: this
 * process did not run during it, and the peer may not have run either. A machine that sleeps, is stopped or is
 * overloaded therefore does not make a peer look hung.
 * Must not know: the peer, how it is asked, clocks. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"

#define BEATS_PER_LIMIT 6 /* looks within the tolerated silence */

typedef struct Beat {
        usec_t looked_at; /* 0: not yet */
        usec_t silent;
        bool heard;       /* since the last look */
} Beat;

static inline void beat_heard(Beat *b) {
        b->heard = true;
}

/* waits: a request is pending that the peer should answer at once. Returns how long the peer has been silent. */
static inline usec_t beat_look(Beat *b, usec_t now, usec_t interval, bool waits) {
        usec_t passed = b->looked_at == 0 || now < b->looked_at ? 0 : now - b->looked_at;

        if (b->heard || !waits)
                b->silent = 0;
        else
                b->silent += passed < interval ? passed : interval;
        b->heard = false;
        b->looked_at = now;
        return b->silent;
}
