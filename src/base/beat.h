/* beat.h: how long somebody who should answer has been silent.
 *
 * Looked at in intervals. An interval that was longer than it should have been counts as one: then we did not run ourselves, and whoever did not answer may not have
 * either. So neither a machine that sleeps nor one that is stopped or overrun makes anybody look hung.
 * Must not know: who it is, how he is asked, clocks. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"

#define BEATS_PER_LIMIT 6 /* looks within the time that silence is suffered for */

typedef struct Beat {
        usec_t looked_at; /* 0: not yet */
        usec_t silent;
        bool heard;       /* since the last look */
} Beat;

static inline void beat_heard(Beat *b) {
        b->heard = true;
}

/* waits: something was asked that should be answered at once. Gives how long that has been so. */
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
