/* bucket.h: so many bytes a second, shared by whoever passes bytes in one direction of one sandbox.
 *
 * What is not used may be used later, up to a tenth of a second's worth (and no less than one good piece), so that the rate holds over
 * any longer time. Who finds it empty comes again at bucket_ready_at(): then there is enough for a piece, not for a byte.
 * A NULL bucket lets everything pass.
 * Must not know: sockets, the loop, the time: it is told. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

typedef struct Bucket Bucket;

Bucket *bucket_new(uint64_t bytes_per_sec, usec_t now); /* NULL: no memory. Begins full */
Bucket *bucket_free(Bucket *b);
/* What has been saved up stays, up to what the new rate lets one save. */
void bucket_set_rate(Bucket *b, uint64_t bytes_per_sec, usec_t now);

/* How many of so many bytes may pass now; they are taken. */
size_t bucket_take(Bucket *b, size_t want, usec_t now);
/* They did not pass after all. */
void bucket_give_back(Bucket *b, size_t size);
/* When to come again after bucket_take() has given nothing, by the clock it was told. */
usec_t bucket_ready_at(const Bucket *b, usec_t now);
