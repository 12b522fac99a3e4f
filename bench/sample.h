/* sample.h: a list of measured values and its percentiles.
 *
 * Must not know: what was measured. Values are plain numbers; the caller knows the unit.
 * Knows base only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SAMPLES_MAX 1000000u /* ceiling of one list */

typedef struct Samples {
        uint64_t *values;
        size_t n, room;
} Samples;

void samples_done(Samples *s);

int samples_add(Samples *s, uint64_t value);
int samples_add_all(Samples *s, const Samples *from);

/* Nearest rank: the smallest value that at least this many thousandths of the list do not exceed; 0 when empty.
 * Sorts the list. */
uint64_t samples_quantile(Samples *s, unsigned permille);
