/* Quantiles against exact ones, rings that roll over, memory that is bounded. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/window.h"

#define N 5000

static int by_value(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return x < y ? -1 : x > y;
}

static uint64_t seed = 88172645463325252ULL;
static uint64_t next_random(void) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return seed;
}

TEST(every_value_has_a_bucket_that_holds_it) {
        static const uint64_t values[] = { 0, 1, 15, 16, 17, 31, 32, 33, 1000, 123456789, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };

        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                uint16_t index = histogram_index(values[i]);

                check_true("index", index < HISTOGRAM_BUCKETS_MAX);
                check_true("lower", histogram_lower(index) <= values[i]);
                check_true("upper", index + 1 == HISTOGRAM_BUCKETS_MAX || histogram_lower((uint16_t) (index + 1)) > values[i]);
        }
        for (uint16_t i = 0; i + 1 < HISTOGRAM_BUCKETS_MAX; i++)
                check_true("ascending", histogram_lower(i) < histogram_lower((uint16_t) (i + 1)));
}

static void check_quantiles(const char *what, uint64_t *values, size_t n) {
        static const double quantiles[] = { 0.01, 0.5, 0.9, 0.95, 0.99, 1 };
        Histogram h = { 0 };

        for (size_t i = 0; i < n; i++)
                check_int("add", histogram_add(&h, values[i]), 0);
        qsort(values, n, sizeof(*values), by_value);
        for (size_t i = 0; i < ELEMENTSOF(quantiles); i++) {
                double exact = (double) values[(size_t) ceil(quantiles[i] * (double) n) - 1];
                double found = histogram_quantile(&h, quantiles[i]);

                if (fabs(found - exact) > exact / 32 + 0.5) {
                        (void) fprintf(stderr, "%s: p%g is %g, found %g\n", what, quantiles[i] * 100, exact, found);
                        check_true("within 1/32", 0);
                }
        }
        check_uint("count", h.count, n);
        check_uint("max", h.max, values[n - 1]);
        histogram_done(&h);
}

TEST(quantiles_are_within_a_thirtysecond_of_the_exact_ones) {
        uint64_t values[N];

        for (size_t i = 0; i < N; i++)
                values[i] = next_random() % 1000000;
        check_quantiles("even", values, N);
        for (size_t i = 0; i < N; i++)
                values[i] = (uint64_t) exp((double) (next_random() % 25000) / 1000);
        check_quantiles("over many powers", values, N);
        for (size_t i = 0; i < N; i++)
                values[i] = i % 100 == 0 ? 5000000 : 1500;
        check_quantiles("two heaps", values, N);
        values[0] = 7;
        check_quantiles("one", values, 1);
}

TEST(nothing_has_no_quantile) {
        Histogram h = { 0 };

        check_true("empty", isnan(histogram_quantile(&h, 0.5)));
}

TEST(no_quantile_is_above_the_highest_value) {
        Histogram h = { 0 };

        (void) histogram_add(&h, 1000001);
        check_true("p99", histogram_quantile(&h, 0.99) <= 1000001);
        histogram_done(&h);
}

static Histogram read(const Window *w, WindowSpan span, usec_t now) {
        Histogram h = { 0 };

        check_int("read", window_read(w, span, now, &h), 0);
        return h;
}

static void check_count(const Window *w, WindowSpan span, usec_t now, uint64_t expected) {
        Histogram h = read(w, span, now);

        check_uint(window_name(span), h.count, expected);
        histogram_done(&h);
}

TEST(a_window_forgets_what_is_older_than_it) {
        const usec_t second = USEC_PER_SEC, start = 100 * 3600 * second;
        Window w = { 0 };

        check_int("spread", window_spread(&w, start, 42), 0);
        for (WindowSpan s = 0; s < _WINDOW_MAX; s++) {
                check_count(&w, s, start, 1);
                check_count(&w, s, start + window_usec(s) - 1, 1); /* all of its span, at least */
                check_count(&w, s, start + 2 * window_usec(s), 0);
        }
        /* Another one in the same place of the ring. */
        check_int("spread", window_spread(&w, start + 7 * 10 * second, 43), 0);
        check_count(&w, WINDOW_1M, start + 70 * second, 1);
        check_count(&w, WINDOW_1H, start + 70 * second, 2);
        window_done(&w);
}

TEST(time_that_goes_back_loses_nothing_that_is_newer) {
        Window w = { 0 };
        usec_t now = 100 * 3600 * USEC_PER_SEC;

        (void) window_count(&w, now, 1);
        check_int("into the past", window_merge(&w, now - 30 * 60 * USEC_PER_SEC, 1U << WINDOW_1H, &(Histogram) { .count = 5, .sum = 5 }), 0);
        check_count(&w, WINDOW_1H, now, 6);
        check_count(&w, WINDOW_24H, now, 1);
        check_int("beyond the ring", window_merge(&w, now - 80 * 60 * USEC_PER_SEC, 1U << WINDOW_1H, &(Histogram) { .count = 9 }), 0);
        check_count(&w, WINDOW_1H, now, 6);
        window_done(&w);
}

TEST(memory_is_bounded) {
        const usec_t start = 100 * 3600 * USEC_PER_SEC;
        Window w = { 0 };
        size_t typical;

        check_uint("nothing yet", window_memory(&w), 0);
        for (size_t i = 0; i < 100000; i++) /* a day of 20 to 40 ms */
                (void) window_spread(&w, start + i * 864000, 20000 + next_random() % 20000);
        typical = window_memory(&w);
        check_true("typical", typical < 16384);
        for (size_t i = 0; i < 1000000; i++) /* anything at all, for days */
                (void) window_spread(&w, start + i * 864000, next_random() >> (next_random() % 64));
        check_true("worst", window_memory(&w) <= 51 * (64 + 976 * sizeof(HistogramBucket)));
        printf("a window takes %zu bytes, at worst %zu\n", typical, window_memory(&w));
        window_done(&w);
}

TEST(names) {
        for (WindowSpan s = 0; s < _WINDOW_MAX; s++)
                check_int(window_name(s), (int) window_from_name(window_name(s)), (int) s);
        check_true("none", (int) window_from_name("2h") < 0 && (int) window_from_name(NULL) < 0);
}
