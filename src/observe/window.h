/* window.h: how often, how much and how it was spread, over the last minute, five minutes, hour and day.
 *
 * A window is a ring of slots; what comes falls into the newest slot of each ring, and a slot that is older than its ring is
 * forgotten when it is met again. So a read covers its span at least, and at most one slot more.
 *
 *      1m: 6 slots of 10 s     5m: 5 of 1 min     1h: 12 of 5 min     24h: 24 of 1 h      (and one that is filling)
 *
 * Values are spread over log-linear buckets: sixteen in each power of two, so that a quantile is off by at most 1/32 of its value.
 * Only buckets that were hit take memory, and there are less than a thousand. Times are monotonic: the calendar does not matter.
 * Knows base only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

typedef struct HistogramBucket {
        uint16_t index;
        uint32_t count; /* stays at its highest value */
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
int histogram_add_bucket(Histogram *h, uint16_t index, uint32_t count); /* for reading one back: count, sum and max stay */
int histogram_merge(Histogram *h, const Histogram *from);
double histogram_quantile(const Histogram *h, double q); /* NAN: empty. Never above max */

uint16_t histogram_index(uint64_t value);
uint64_t histogram_lower(uint16_t index); /* the lowest value that falls into it */

typedef enum WindowSpan {
        WINDOW_1M,
        WINDOW_5M,
        WINDOW_1H,
        WINDOW_24H,
        _WINDOW_MAX,
} WindowSpan;

const char *window_name(WindowSpan s); /* "1h" */
WindowSpan window_from_name(const char *name); /* negative: there is none */
usec_t window_usec(WindowSpan s);

typedef struct WindowSlot WindowSlot;

typedef struct Window {
        WindowSlot *rings[_WINDOW_MAX]; /* made when something comes */
} Window;

void window_done(Window *w);

/* Only counted and summed up. A failure (no memory) loses the value in some ring, and is told. */
int window_count(Window *w, usec_t now, double value);
/* … and spread. */
int window_spread(Window *w, usec_t now, uint64_t value);

/* As if it had come at that time, which may be in the past; into the rings of these bits only. */
int window_merge(Window *w, usec_t at, unsigned spans, const Histogram *values);

/* What is in the last span goes on top of what ret has; ret->buckets only of what was spread. */
int window_read(const Window *w, WindowSpan span, usec_t now, Histogram *ret);

size_t window_memory(const Window *w); /* bytes, for the test that it is bounded */
