/* progress.h: one line on a terminal about a copy that takes its time. Shows nothing where nobody looks, or when it is quick. */
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
