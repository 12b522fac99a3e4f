/* progress.h: a progress line on a terminal for a long copy. Shows nothing if there is no terminal, or if the
 * copy is quick. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define PROGRESS_UNKNOWN UINT64_MAX

typedef struct Progress {
        bool enabled, shown;
        const char *name; /* borrowed */
        uint64_t done, total;
        usec_t began, last;
} Progress;

void progress_begin(Progress *p, const char *name, uint64_t total);
void progress_add(Progress *p, uint64_t bytes);
void progress_end(Progress *p); /* clears the line */
