/* history.c: writes a row in each interval, and sums each hour's rows in one that is kept for ever.
 *
 * After a start the totals continue where they were, and the windows are filled from the rows of the last day. A daemon
 * that is killed loses what it counted since its last row. */

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/store.h"
#include "observe/internal.h"

#define HOUR      (3600 * USEC_PER_SEC)
#define TRIM_MAX  200 /* rows in one batch: the loop waits for it */
#define BITS_FINE ((1U << WINDOW_1M) | (1U << WINDOW_5M) | (1U << WINDOW_1H))
#define BITS_DAY  (1U << WINDOW_24H)

static int history_put(Observe *o, const HistoryRow *row, const json_t *body) {
        HistoryRow full = *row;
        char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(12));
        int r;

        if (!text)
                return -ENOMEM;
        full.body = text;
        r = store_history_put(o->manager->store, &full);
        free(text);
        return r;
}

static int put_totals(Observe *o) {
        _cleanup_json_ json_t *totals = totals_take(o);
        char *text = totals ? json_dumps(totals, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        int r;

        if (!text)
                return -ENOMEM;
        r = store_totals_put(o->manager->store, text);
        free(text);
        return r;
}

int history_write(Observe *o, usec_t now) {
        Store *store = o->manager->store;
        _cleanup_json_ json_t *body = NULL;
        HistoryRow row = { .at = o->row_began, .span = now > o->row_began ? now - o->row_began : 1 };
        int r;

        gauges_refresh(o);
        body = body_take(o);
        if (!body)
                return -ENOMEM;
        if (o->unwritten)
                (void) body_merge(body, o->unwritten);
        (void) store_begin(store);
        r = history_put(o, &row, body);
        if (r >= 0)
                r = put_totals(o);
        r = store_end(store, r);
        json_decref(o->unwritten);
        o->unwritten = r < 0 ? TAKE_PTR(body) : NULL; /* on a full disk: the next row includes it */
        if (r >= 0)
                o->row_began = now;
        return r;
}

/* Hours. */

static int history_add_row(const HistoryRow *row, void *userdata) {
        _cleanup_json_ json_t *body = json_loads(row->body, 0, NULL);

        return body ? body_merge(userdata, body) : 0; /* an unreadable row is left out of its hour */
}

int history_fold(Observe *o, usec_t now) {
        Store *store = o->manager->store;
        _cleanup_json_ json_t *body = json_object();
        HistoryRow row = { .hourly = true, .span = HOUR };
        int r;

        r = store_history_unfolded(store, now / HOUR * HOUR, &row.at);
        if (r <= 0 || !body)
                return r;
        row.at = row.at / HOUR * HOUR;
        r = store_history_each(store, /* hourly= */ false, row.at, row.at + HOUR, history_add_row, body);
        if (r >= 0)
                r = history_put(o, &row, body);
        return r < 0 ? r : 1;
}

void history_trim(Observe *o, usec_t now) {
        usec_t keep = o->manager->settings->metrics.retention_usec;
        usec_t before = now > keep ? now - keep : 0;

        store_may_lose(store_history_trim(o->manager->store, MIN_OF(before, now / HOUR * HOUR), TRIM_MAX), "that old metrics are gone");
        store_may_lose(store_usage_trim(o->manager->store, before, TRIM_MAX), "that old usage is gone");
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata) {
        Observe *o = userdata;
        usec_t now = clock_wall_usec();
        int r = history_write(o, now);

        if (r >= 0)
                r = history_fold(o, now);
        if (r < 0)
                log_warning("history of metrics: cannot be saved, retrying: %s", strerror(-r));
        history_trim(o, now);
        (void) sd_event_source_set_time_relative(source, o->manager->settings->metrics.interval_usec);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int history_start(Observe *o) {
        usec_t interval = o->manager->settings->metrics.interval_usec;

        o->row_began = clock_wall_usec();
        return sd_event_add_time_relative(o->manager->event, &o->ticker, CLOCK_MONOTONIC, interval, interval / 20, on_tick, o);
}

/* After a start. */

typedef struct HistoryRestore {
        Observe *observe;
        usec_t now;
        unsigned spans;
} HistoryRestore;

static int restore_row(const HistoryRow *row, void *userdata) {
        const HistoryRestore *r = userdata;
        usec_t middle = row->at + row->span / 2;
        _cleanup_json_ json_t *body = json_loads(row->body, 0, NULL);

        if (body && middle <= r->now)
                body_restore(r->observe, body, r->now - middle, r->spans);
        return 0;
}

static int restore_totals(const char *text, void *userdata) {
        _cleanup_json_ json_t *totals = json_loads(text, 0, NULL);

        if (!totals)
                return -EBADMSG;
        totals_restore(userdata, totals);
        return 0;
}

/* The window of a day is filled from whole hours and the rows after the last one; the window of an hour from
 * rows. */
int history_load(Observe *o) {
        Store *store = o->manager->store;
        usec_t now = clock_wall_usec(), hour = now / HOUR * HOUR;
        HistoryRestore day = { o, now, BITS_DAY }, fine = { o, now, BITS_FINE };
        int r;

        r = store_totals_get(store, restore_totals, o);
        while (r >= 0 && (r = history_fold(o, now)) > 0)
                ;
        if (r >= 0)
                r = store_history_each(store, /* hourly= */ true, now - 24 * HOUR, hour, restore_row, &day);
        if (r >= 0)
                r = store_history_each(store, /* hourly= */ false, hour, now, restore_row, &day);
        if (r >= 0)
                r = store_history_each(store, /* hourly= */ false, now - HOUR, now, restore_row, &fine);
        return r;
}
