/* window.h: counts, sums and distributions over the last minute, five minutes, hour and day.
 *
 * A window has a ring of slots for each span. A value is added to the newest slot of each ring. An expired slot is
 * cleared when its place is used again, and reads skip it: a read covers at least its span, and at most one slot more.
 *
 *      1m: 6 slots of 10 s     5m: 5 of 1 min     1h: 12 of 5 min     24h: 24 of 1 h      (and one that is filling)
 *
 * A distribution has log-linear buckets: sixteen in each power of two, so that a quantile is off by at most 1/32 of its
 * value. Only buckets in use take memory, and there are fewer than a thousand. Times are monotonic: a clock that is set
 * changes nothing.
 * Knows base only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

typedef struct HistogramBucket {
        uint16_t index;
        uint32_t count; /* saturates */
} HistogramBucket;

typedef struct Histogram {
        HistogramBucket *buckets; /* ascending */
        uint16_t n, room;
        uint64_t count;
        double sum;
        uint64_t max;
} Histogram;

#define HISTOGRAM_BUCKETS_MAX 976 /* for all of uint64_t */

void histogram_done(Histogram *h);
void histogram_clear(Histogram *h); /* keeps the memory */
int histogram_add(Histogram *h, uint64_t value);
int histogram_add_bucket(Histogram *h, uint16_t index, uint32_t count); /* to restore a histogram: its count, sum and max do not change */
int histogram_merge(Histogram *h, const Histogram *from);
double histogram_quantile(const Histogram *h, double q); /* NAN: empty. Never above max */

uint16_t histogram_index(uint64_t value);
uint64_t histogram_lower(uint16_t index); /* the lowest value in that bucket */

typedef enum WindowSpan {
        WINDOW_1M,
        WINDOW_5M,
        WINDOW_1H,
        WINDOW_24H,
        _WINDOW_MAX,
} WindowSpan;

const char *window_name(WindowSpan s); /* "1h" */
WindowSpan window_from_name(const char *name); /* negative: unknown */
usec_t window_usec(WindowSpan s);

typedef struct WindowSlot WindowSlot;

typedef struct Window {
        WindowSlot *rings[_WINDOW_MAX]; /* allocated with the first value */
} Window;

void window_done(Window *w);

/* Adds to count and sum only. -ENOMEM: some ring lacks the value. */
int window_count(Window *w, usec_t now, double value);
/* Adds to the distribution too. */
int window_spread(Window *w, usec_t now, uint64_t value);

/* Adds values as of a time that may be in the past, only to the rings whose bits are in spans. */
int window_merge(Window *w, usec_t at, unsigned spans, const Histogram *values);

/* Adds the values of the last span to ret. Values from window_count() are in no bucket. */
int window_read(const Window *w, WindowSpan span, usec_t now, Histogram *ret);

size_t window_memory(const Window *w); /* bytes; for the test of its bound */
