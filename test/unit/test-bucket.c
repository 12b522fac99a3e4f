/* Rates: whatever the pieces and the pauses, no more than the rate passes over time, and no less for who keeps asking. */
#include <stdlib.h>

#include "gate/relay/bucket.h"
#include "unit.h"

#define SECOND USEC_PER_SEC

/* As much as it gets, for so long, by a clock of our own. */
static uint64_t drink(Bucket *b, usec_t *now, usec_t how_long, size_t want) {
        usec_t end = *now + how_long;
        uint64_t total = 0;

        while (*now < end) {
                size_t n = bucket_take(b, want, *now);

                total += n;
                if (n > 0)
                        continue;
                check_true("it says when", bucket_ready_at(b, *now) > *now);
                *now = bucket_ready_at(b, *now);
        }
        return total;
}

TEST(rate_holds) {
        static const uint64_t rates[] = { 1000, 12500, 125000, 1250000, 125000000, UINT64_C(12500000000) };
        static const size_t wants[] = { 1, 1448, 65536, 1 << 20 };

        for (size_t i = 0; i < ELEMENTSOF(rates); i++)
                for (size_t k = 0; k < ELEMENTSOF(wants); k++) {
                        usec_t now = 1000 * SECOND, seconds = wants[k] == 1 ? 1 : 20;
                        Bucket *b = bucket_new(rates[i], now);
                        uint64_t total;

                        if (rates[i] / wants[k] > 1000000) { /* too many turns for a test */
                                bucket_free(b);
                                continue;
                        }
                        (void) drink(b, &now, SECOND, wants[k]); /* what it began with */
                        total = drink(b, &now, seconds * SECOND, wants[k]);
                        check_true("not faster", total <= rates[i] * seconds + rates[i] / 10 + 16384);
                        check_true("not slower", total + 16384 + rates[i] / 10 >= rates[i] * seconds);
                        bucket_free(b);
                }
}

TEST(burst_is_bounded) {
        usec_t now = 5 * SECOND;
        Bucket *b = bucket_new(1000000, now);

        now += 3600 * SECOND; /* an hour of silence saves up a tenth of a second */
        check_uint("burst", bucket_take(b, SIZE_MAX / 2, now), 100000);
        check_uint("and no more", bucket_take(b, 100000, now), 0);
        bucket_free(b);
}

TEST(small_things_pass_at_once) {
        usec_t now = 5 * SECOND;
        Bucket *b = bucket_new(1000000, now);

        (void) bucket_take(b, 99900, now);
        check_uint("what there is", bucket_take(b, 60, now), 60);
        check_uint("a trickle is not worth it", bucket_take(b, 60, now), 0);
        bucket_free(b);
}

TEST(given_back) {
        usec_t now = 5 * SECOND;
        Bucket *b = bucket_new(1000000, now);

        check_uint("all", bucket_take(b, 100000, now), 100000);
        bucket_give_back(b, 60000);
        check_uint("again", bucket_take(b, 100000, now), 60000);
        bucket_give_back(b, SIZE_MAX);
        check_uint("not beyond the brim", bucket_take(b, 200000, now), 100000);
        bucket_free(b);
}

TEST(another_rate) {
        usec_t now = 5 * SECOND;
        Bucket *b = bucket_new(100000000, now);
        uint64_t total;

        bucket_set_rate(b, 1000000, now);
        check_uint("what was saved shrinks", bucket_take(b, SIZE_MAX / 2, now), 100000);
        bucket_set_rate(b, 8000000, now);
        total = drink(b, &now, 10 * SECOND, 65536);
        check_true("faster", total > 79000000 && total < 81100000);
        bucket_free(b);
}

TEST(time_goes_backwards) {
        usec_t now = 50 * SECOND;
        Bucket *b = bucket_new(1000000, now);

        (void) bucket_take(b, 100000, now);
        check_uint("nothing is gained", bucket_take(b, 100000, now - 10 * SECOND), 0);
        check_uint("nor later", bucket_take(b, 100000, now), 0);
        bucket_free(b);
}

TEST(none) {
        check_uint("no limit", bucket_take(NULL, 12345, 1), 12345);
        check_uint("now", bucket_ready_at(NULL, 7), 7);
        bucket_give_back(NULL, 5);
        check_true("free", !bucket_free(NULL));
}
