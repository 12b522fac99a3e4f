#include "sample.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"

void samples_done(Samples *s) {
        free(s->values);
        *s = (Samples) {};
}

int samples_add(Samples *s, uint64_t value) {
        if (s->n == s->room) {
                size_t room = s->room ? s->room * 2 : 256;
                uint64_t *values;

                if (room > SAMPLES_MAX)
                        return -E2BIG;
                values = reallocarray(s->values, room, sizeof(*values));
                if (!values)
                        return -ENOMEM;
                s->values = values;
                s->room = room;
        }
        s->values[s->n++] = value;
        return 0;
}

int samples_add_all(Samples *s, const Samples *from) {
        for (size_t i = 0; i < from->n; i++) {
                int r = samples_add(s, from->values[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int compare(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

uint64_t samples_quantile(Samples *s, unsigned permille) {
        size_t rank;

        if (s->n == 0)
                return 0;
        qsort(s->values, s->n, sizeof(*s->values), compare);
        rank = (s->n * permille + 999) / 1000;
        return s->values[MAX_OF(rank, (size_t) 1) - 1];
}
