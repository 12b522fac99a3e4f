/* history-read.c: the rows of history for GET /api/sandbox/metrics/history. */

#include <math.h>
#include <string.h>

#include "core/store.h"
#include "observe/internal.h"

#define HOUR      (3600 * USEC_PER_SEC)
#define FINE_MAX  (12 * HOUR)      /* rows by the interval */
#define LONG_MAX  (62 * 24 * HOUR) /* hourly rows: the loop waits while they are read */

typedef struct HistoryReadReader {
        usec_t from, step;
        json_t *points;
        json_t *body; /* of the current point */
        usec_t at, end;
        size_t rows;
} HistoryReadReader;

static void close_point(HistoryReadReader *r) {
        if (!r->body)
                return;
        (void) json_array_append_new(r->points, json_pack("{s:o,s:f,s:o}", "at", json_time(r->at),
                        "seconds", (double) (r->end - r->at) / USEC_PER_SEC, "metrics", body_show(r->body)));
        json_decref(r->body);
        r->body = NULL;
}

static int history_read_add_row(const HistoryRow *row, void *userdata) {
        HistoryReadReader *r = userdata;
        _cleanup_json_ json_t *body = json_loads(row->body, 0, NULL);

        if (!body)
                return 0;
        if (r->body && (r->step == 0 || (row->at - r->from) / r->step != (r->at - r->from) / r->step))
                close_point(r);
        if (!r->body) {
                r->body = json_object();
                r->at = row->at;
        }
        r->end = row->at + row->span;
        r->rows++;
        return body_merge(r->body, body);
}

static int history_read_check_range(usec_t from, usec_t to, bool fine, Error *reterr) {
        usec_t max = fine ? FINE_MAX : LONG_MAX;

        if (from >= to)
                return error_set(reterr, -EINVAL, "from must be before to");
        if (to - from > max)
                return error_set(reterr, -EINVAL, "%s can be asked for %llu hours at a time: ask for less, %s",
                                fine ? "steps below an hour" : "history", (unsigned long long) (max / HOUR),
                                fine ? "or for a step of 1h" : "piece by piece");
        return 0;
}

int observe_history_json(Observe *o, usec_t from, usec_t to, usec_t step, json_t **ret, Error *reterr) {
        bool fine = step != 0 ? step < HOUR : to > from && to - from <= FINE_MAX;
        usec_t hour = clock_wall_usec() / HOUR * HOUR;
        HistoryReadReader reader = { .from = from, .step = step, .points = NULL };
        int r = history_read_check_range(from, to, fine, reterr);

        if (r < 0)
                return r;
        reader.points = json_array();
        if (!fine)
                reader.step = MAX_OF(step, HOUR);
        if (!fine) {
                reader.from = from = from / HOUR * HOUR;
                r = store_history_each(o->manager->store, /* hourly= */ true, from, to, history_read_add_row, &reader);
        }
        if (r >= 0) /* the current hour has no row yet */
                r = store_history_each(o->manager->store, /* hourly= */ false, fine ? from : MAX_OF(from, hour), to, history_read_add_row, &reader);
        close_point(&reader);
        if (r < 0) {
                json_decref(reader.points);
                return error_set(reterr, r, "the history cannot be read: %m");
        }
        *ret = json_pack("{s:o,s:o,s:s,s:I,s:o}", "from", json_time(from), "to", json_time(to),
                        "resolution", fine ? "interval" : "hour", "rows", (json_int_t) reader.rows, "points", reader.points);
        return *ret ? 0 : -ENOMEM;
}
