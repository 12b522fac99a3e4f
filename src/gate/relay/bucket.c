#include "gate/relay/bucket.h"

#include <stdlib.h>

#include "base/macro.h"

#define PIECE_BYTES     16384 /* what is worth a wake-up … */
#define PIECE_BYTES_MIN 512
#define PIECE_USEC      (50 * USEC_PER_MSEC) /* … or what this time yields, if the rate is low */
#define SAVED_USEC      (100 * USEC_PER_MSEC)

struct Bucket {
        uint64_t rate;     /* bytes per second, never 0 */
        uint64_t level;    /* bytes, in millionths: at a low rate less than a byte comes between two looks */
        uint64_t capacity; /* likewise */
        usec_t filled_at;
};

/* Beyond this, arithmetic in millionths would overflow; no machine passes as much. */
#define RATE_MAX (UINT64_C(1) << 40)

static uint64_t bucket_piece(const Bucket *b) {
        uint64_t size = b->rate * PIECE_USEC;

        return MAX_OF(PIECE_BYTES_MIN * USEC_PER_SEC, MIN_OF(PIECE_BYTES * USEC_PER_SEC, size));
}

static void bucket_fill(Bucket *b, usec_t now) {
        usec_t passed = now > b->filled_at ? now - b->filled_at : 0;

        b->filled_at = MAX_OF(b->filled_at, now);
        passed = MIN_OF(passed, b->capacity / b->rate + 1); /* full by then; avoids an overflow */
        b->level = MIN_OF(b->capacity, b->level + passed * b->rate);
}

static void gate_bucket_set_rate(Bucket *b, uint64_t rate) {
        b->rate = MAX_OF((uint64_t) 1, MIN_OF(rate, RATE_MAX));
        b->capacity = MAX_OF(b->rate * SAVED_USEC, (uint64_t) PIECE_BYTES * USEC_PER_SEC);
}

Bucket *bucket_new(uint64_t bytes_per_sec, usec_t now) {
        Bucket *b = calloc(1, sizeof(*b));

        if (!b)
                return NULL;
        gate_bucket_set_rate(b, bytes_per_sec);
        b->level = b->capacity;
        b->filled_at = now;
        return b;
}

Bucket *bucket_free(Bucket *b) {
        free(b);
        return NULL;
}

void bucket_set_rate(Bucket *b, uint64_t bytes_per_sec, usec_t now) {
        bucket_fill(b, now);
        gate_bucket_set_rate(b, bytes_per_sec);
        b->level = MIN_OF(b->level, b->capacity);
}

size_t bucket_take(Bucket *b, size_t want, usec_t now) {
        uint64_t have, taken;

        if (!b)
                return want;
        bucket_fill(b, now);
        have = b->level / USEC_PER_SEC;
        if (have < want && b->level < bucket_piece(b)) /* a trickle would cost more to pass than it is worth */
                return 0;
        taken = MIN_OF(have, (uint64_t) want);
        b->level -= taken * USEC_PER_SEC;
        return (size_t) taken;
}

void bucket_give_back(Bucket *b, size_t size) {
        uint64_t room;

        if (!b)
                return;
        room = b->capacity - b->level;
        b->level += (uint64_t) size >= room / USEC_PER_SEC ? room : (uint64_t) size * USEC_PER_SEC;
}

usec_t bucket_ready_at(const Bucket *b, usec_t now) {
        uint64_t missing;

        if (!b || b->level >= bucket_piece(b))
                return now;
        missing = bucket_piece(b) - b->level;
        return now + (missing + b->rate - 1) / b->rate;
}
