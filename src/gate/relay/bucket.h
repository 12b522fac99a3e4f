/* bucket.h: a byte rate, shared by all traffic in one direction of one sandbox.
 *
 * Unused rate is saved for later, up to a tenth of a second's worth (at least one good piece), so that the
 * rate holds over any longer time. A caller that finds the bucket empty comes back at bucket_ready_at(): by
 * then there is enough for a piece, not only for a byte.
 * A NULL bucket lets everything pass.
 * Must not know: sockets, the loop, the clock: callers pass the time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

typedef struct Bucket Bucket;

Bucket *bucket_new(uint64_t bytes_per_sec, usec_t now); /* NULL: no memory. Begins full */
Bucket *bucket_free(Bucket *b);
/* Saved rate is kept, up to what the new rate allows to save. */
void bucket_set_rate(Bucket *b, uint64_t bytes_per_sec, usec_t now);

/* Takes up to `want` bytes from the bucket; returns how many may pass now. */
size_t bucket_take(Bucket *b, size_t want, usec_t now);
/* Returns bytes that did not pass. */
void bucket_give_back(Bucket *b, size_t size);
/* When to try again after bucket_take() returned 0, on the same clock. */
usec_t bucket_ready_at(const Bucket *b, usec_t now);
