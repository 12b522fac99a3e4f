#include "observe/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define SUB_BITS  4 /* sixteen buckets in each power of two */
#define SUB_COUNT (1U << SUB_BITS)

/* Histograms. */

void histogram_done(Histogram *h) {
        free(h->buckets);
        *h = (Histogram) { 0 };
}

void histogram_clear(Histogram *h) {
        h->n = 0;
        h->count = h->max = 0;
        h->sum = 0;
}

/* Values below sixteen have a bucket each. Above, a bucket is the power of two and the four bits after the
 * highest. */
uint16_t histogram_index(uint64_t value) {
        unsigned power;

        if (value < SUB_COUNT)
                return (uint16_t) value;
        power = 63U - (unsigned) __builtin_clzll(value);
        return (uint16_t) ((power - SUB_BITS) * SUB_COUNT + SUB_COUNT + ((value >> (power - SUB_BITS)) & (SUB_COUNT - 1)));
}

uint64_t histogram_lower(uint16_t index) {
        unsigned shift;

        if (index < SUB_COUNT)
                return index;
        shift = index / SUB_COUNT - 1;
        return (uint64_t) (SUB_COUNT + index % SUB_COUNT) << shift;
}

/* The position of the first bucket that is not below the index. */
static uint16_t window_find(const Histogram *h, uint16_t index) {
        uint16_t low = 0, high = h->n;

        while (low < high) {
                uint16_t middle = (uint16_t) ((low + high) / 2);

                if (h->buckets[middle].index < index)
                        low = (uint16_t) (middle + 1);
                else
                        high = middle;
        }
        return low;
}

static int window_make_room(Histogram *h) {
        uint16_t room = h->room == 0 ? 4 : (uint16_t) MIN_OF(h->room * 2, HISTOGRAM_BUCKETS_MAX);
        HistogramBucket *larger;

        if (h->n < h->room)
                return 0;
        larger = reallocarray(h->buckets, room, sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        h->buckets = larger;
        h->room = room;
        return 0;
}

int histogram_add_bucket(Histogram *h, uint16_t index, uint32_t count) {
        uint16_t at;
        int r;

        if (index >= HISTOGRAM_BUCKETS_MAX)
                return -ERANGE;
        at = window_find(h, index);
        if (at == h->n || h->buckets[at].index != index) {
                r = window_make_room(h);
                if (r < 0)
                        return r;
                memmove(h->buckets + at + 1, h->buckets + at, (size_t) (h->n - at) * sizeof(*h->buckets));
                h->buckets[at] = (HistogramBucket) { .index = index };
                h->n++;
        }
        if (__builtin_add_overflow(h->buckets[at].count, count, &h->buckets[at].count))
                h->buckets[at].count = UINT32_MAX;
        return 0;
}

int histogram_add(Histogram *h, uint64_t value) {
        h->count++;
        h->sum += (double) value;
        h->max = MAX_OF(h->max, value);
        return histogram_add_bucket(h, histogram_index(value), 1);
}

int histogram_merge(Histogram *h, const Histogram *from) {
        h->count += from->count;
        h->sum += from->sum;
        h->max = MAX_OF(h->max, from->max);
        for (uint16_t i = 0; i < from->n; i++) {
                int r = histogram_add_bucket(h, from->buckets[i].index, from->buckets[i].count);
                if (r < 0)
                        return r;
        }
        return 0;
}

static double middle_of(uint16_t index) {
        uint64_t low = histogram_lower(index);

        if (index < SUB_COUNT)
                return (double) low;
        return (double) low + (double) (UINT64_C(1) << (index / SUB_COUNT - 1)) / 2;
}

double histogram_quantile(const Histogram *h, double q) {
        uint64_t total = 0, seen = 0, rank;

        for (uint16_t i = 0; i < h->n; i++)
                total += h->buckets[i].count;
        if (total == 0)
                return NAN;
        rank = (uint64_t) ceil(q * (double) total);
        for (uint16_t i = 0; i < h->n; i++) {
                seen += h->buckets[i].count;
                if (seen >= rank)
                        return MIN_OF(middle_of(h->buckets[i].index), (double) h->max);
        }
        return (double) h->max;
}

/* Windows. */

struct WindowSlot {
        uint64_t number; /* of the slot since the epoch of the clock, plus one; 0: never used */
        Histogram values;
};

static const struct {
        const char *name;
        usec_t slot;
        unsigned n; /* slots of the span; the ring has one more */
} spans[_WINDOW_MAX] = {
        [WINDOW_1M]  = { "1m",  10 * USEC_PER_SEC,   6  },
        [WINDOW_5M]  = { "5m",  60 * USEC_PER_SEC,   5  },
        [WINDOW_1H]  = { "1h",  300 * USEC_PER_SEC,  12 },
        [WINDOW_24H] = { "24h", 3600 * USEC_PER_SEC, 24 },
};

const char *window_name(WindowSpan s) {
        return s >= 0 && s < _WINDOW_MAX ? spans[s].name : NULL;
}

WindowSpan window_from_name(const char *name) {
        for (WindowSpan s = 0; name && s < _WINDOW_MAX; s++)
                if (strcmp(spans[s].name, name) == 0)
                        return s;
        return (WindowSpan) -EINVAL;
}

usec_t window_usec(WindowSpan s) {
        return spans[s].slot * spans[s].n;
}

static size_t ring_size(WindowSpan s) {
        return spans[s].n + 1;
}

void window_done(Window *w) {
        for (WindowSpan s = 0; s < _WINDOW_MAX; s++) {
                for (size_t i = 0; w->rings[s] && i < ring_size(s); i++)
                        histogram_done(&w->rings[s][i].values);
                free(w->rings[s]);
                w->rings[s] = NULL;
        }
}

/* The slot of that time, cleared if it was used for an earlier time. NULL: no memory, or a later time uses it. */
static Histogram *slot_at(Window *w, WindowSpan s, usec_t now) {
        uint64_t number = now / spans[s].slot + 1;
        WindowSlot *slot;

        if (!w->rings[s]) {
                w->rings[s] = calloc(ring_size(s), sizeof(WindowSlot));
                if (!w->rings[s])
                        return NULL;
        }
        slot = &w->rings[s][number % ring_size(s)];
        if (slot->number > number)
                return NULL;
        if (slot->number != number) {
                histogram_clear(&slot->values);
                slot->number = number;
        }
        return &slot->values;
}

int window_count(Window *w, usec_t now, double value) {
        int r = 0;

        for (WindowSpan s = 0; s < _WINDOW_MAX; s++) {
                Histogram *h = slot_at(w, s, now);

                if (h) {
                        h->count++;
                        h->sum += value;
                } else
                        r = -ENOMEM;
        }
        return r;
}

int window_spread(Window *w, usec_t now, uint64_t value) {
        int r = 0;

        for (WindowSpan s = 0; s < _WINDOW_MAX; s++) {
                Histogram *h = slot_at(w, s, now);

                if (!h || histogram_add(h, value) < 0)
                        r = -ENOMEM;
        }
        return r;
}

int window_merge(Window *w, usec_t at, unsigned spans_wanted, const Histogram *values) {
        int r = 0;

        for (WindowSpan s = 0; s < _WINDOW_MAX; s++) {
                Histogram *h = spans_wanted & (1U << s) ? slot_at(w, s, at) : NULL;

                if (h && histogram_merge(h, values) < 0)
                        r = -ENOMEM;
        }
        return r;
}

int window_read(const Window *w, WindowSpan s, usec_t now, Histogram *ret) {
        uint64_t number = now / spans[s].slot + 1;

        for (size_t i = 0; w->rings[s] && i < ring_size(s); i++) {
                const WindowSlot *slot = &w->rings[s][i];
                int r;

                if (slot->number == 0 || slot->number > number || number - slot->number > spans[s].n)
                        continue;
                r = histogram_merge(ret, &slot->values);
                if (r < 0)
                        return r;
        }
        return 0;
}

size_t window_memory(const Window *w) {
        size_t sum = 0;

        for (WindowSpan s = 0; s < _WINDOW_MAX; s++)
                for (size_t i = 0; w->rings[s] && i < ring_size(s); i++)
                        sum += sizeof(WindowSlot) + w->rings[s][i].values.room * sizeof(HistogramBucket);
        return sum;
}
