#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/internal.h"

#define KEY_MAX   (METRIC_LABELS_MAX * METRIC_LABEL_BYTES)
#define SEPARATOR '\x1f' /* between two labels; no label contains it */

static void body_make_key(Metric m, const Series *s, char key[static KEY_MAX]) {
        const char *second = s->labels[1];

        (void) snprintf(key, KEY_MAX, *metric_info(m)->labels[1] ? "%s\x1f%s" : "%s", s->labels[0], second);
}

static void split_key(const char *key, char labels[static METRIC_LABELS_MAX][METRIC_LABEL_BYTES]) {
        const char *cut = strchrnul(key, SEPARATOR);

        (void) snprintf(labels[0], METRIC_LABEL_BYTES, "%.*s", (int) MIN_OF(cut - key, (ptrdiff_t) METRIC_LABEL_BYTES - 1), key);
        (void) snprintf(labels[1], METRIC_LABEL_BYTES, "%s", *cut ? cut + 1 : "");
}

static int metric_from_name(const char *name) {
        for (Metric m = 0; m < _METRIC_MAX; m++)
                if (strcmp(metric_info(m)->name, name) == 0)
                        return (int) m;
        return -1; /* a metric of another version */
}

/* Taking values. */

static json_t *histogram_json(const Histogram *h) {
        json_t *buckets = json_object();
        char index[16];

        for (uint16_t i = 0; i < h->n; i++) {
                (void) snprintf(index, sizeof(index), "%u", h->buckets[i].index);
                (void) json_object_set_new(buckets, index, json_integer(h->buckets[i].count));
        }
        return json_pack("{s:I,s:f,s:f,s:o}", "n", (json_int_t) h->count, "sum", h->sum, "max", (double) h->max, "b", buckets);
}

/* NULL: no values. */
static json_t *take_series(const MetricInfo *info, Series *s) {
        json_t *taken = NULL;

        if (info->type == METRIC_HISTOGRAM) {
                if (s->since.count > 0)
                        taken = histogram_json(&s->since);
                histogram_clear(&s->since);
        } else if (info->type == METRIC_COUNTER) {
                if (s->value > s->kept)
                        taken = json_real(s->value - s->kept);
                s->kept = s->value;
        } else if (!isnan(s->value))
                taken = json_pack("{s:i,s:f,s:f}", "n", 1, "sum", s->value, "max", s->value);
        return taken;
}

json_t *body_take(Observe *o) {
        json_t *body = json_object();

        for (Metric m = 0; body && m < _METRIC_MAX; m++) {
                const MetricInfo *info = metric_info(m);
                json_t *values = NULL;
                Series *s, *next;

                if (!info->keep)
                        continue;
                HASH_ITER(hh, o->series[m], s, next) {
                        json_t *taken = take_series(info, s);
                        char key[KEY_MAX];

                        if (!taken)
                                continue;
                        body_make_key(m, s, key);
                        if (!values)
                                values = json_object();
                        (void) json_object_set_new(values, key, taken);
                }
                if (values)
                        (void) json_object_set_new(body, info->name, values);
        }
        return body;
}

/* Adding values. */

static double body_member(const json_t *object, const char *key) {
        return json_number_value(json_object_get(object, key));
}

static void add_numbers(json_t *to, const json_t *from) {
        json_t *from_buckets = json_object_get(from, "b"), *buckets = json_object_get(to, "b"), *value;
        const char *index;

        (void) json_object_set_new(to, "n", json_integer((json_int_t) (body_member(to, "n") + body_member(from, "n"))));
        (void) json_object_set_new(to, "sum", json_real(body_member(to, "sum") + body_member(from, "sum")));
        (void) json_object_set_new(to, "max", json_real(fmax(body_member(to, "max"), body_member(from, "max"))));
        if (from_buckets && !buckets) {
                buckets = json_object();
                (void) json_object_set_new(to, "b", buckets);
        }
        json_object_foreach(from_buckets, index, value)
                (void) json_object_set_new(buckets, index, json_integer((json_int_t) (body_member(buckets, index) + json_number_value(value))));
}

static json_t *merged(json_t *had, json_t *value) {
        json_t *copy;

        if (json_is_number(value))
                return json_real(json_number_value(had) + json_number_value(value));
        copy = had ? json_deep_copy(had) : json_pack("{s:i,s:f,s:f}", "n", 0, "sum", 0.0, "max", 0.0);
        add_numbers(copy, value);
        return copy;
}

int body_merge(json_t *body, const json_t *from) {
        const char *name, *key;
        json_t *values, *value;

        json_object_foreach((json_t *) (uintptr_t) from, name, values) {
                json_t *mine = json_object_get(body, name);

                if (!mine) {
                        mine = json_object();
                        if (json_object_set_new(body, name, mine) < 0)
                                return -ENOMEM;
                }
                json_object_foreach(values, key, value)
                        if (json_object_set_new(mine, key, merged(json_object_get(mine, key), value)) < 0)
                                return -ENOMEM;
        }
        return 0;
}

/* Reading back. */

static int load_histogram(const json_t *value, Histogram *h) {
        json_t *count;
        const char *index;

        h->count = (uint64_t) body_member(value, "n");
        h->sum = body_member(value, "sum");
        h->max = (uint64_t) body_member(value, "max");
        json_object_foreach(json_object_get(value, "b"), index, count) {
                int r = histogram_add_bucket(h, (uint16_t) strtoul(index, NULL, 10), (uint32_t) json_integer_value(count));
                if (r < 0)
                        return r;
        }
        return 0;
}

static void show_labels(const MetricInfo *info, const char *key, json_t *entry) {
        char labels[METRIC_LABELS_MAX][METRIC_LABEL_BYTES];

        split_key(key, labels);
        for (size_t i = 0; i < METRIC_LABELS_MAX && *info->labels[i]; i++)
                (void) json_object_set_new(entry, info->labels[i], json_text_or_null(labels[i]));
}

static json_t *show_histogram(Metric m, const json_t *value) {
        double scale = metric_scale(m);
        Histogram h = { 0 };
        json_t *shown;

        (void) load_histogram(value, &h);
        shown = json_pack("{s:I,s:o,s:o,s:o,s:o,s:o}", "count", (json_int_t) h.count,
                        "mean", number_or_null(h.count > 0 ? h.sum / (double) h.count / scale : NAN),
                        "p50", number_or_null(histogram_quantile(&h, 0.50) / scale),
                        "p95", number_or_null(histogram_quantile(&h, 0.95) / scale),
                        "p99", number_or_null(histogram_quantile(&h, 0.99) / scale),
                        "max", number_or_null((double) h.max / scale));
        histogram_done(&h);
        return shown;
}

static json_t *show_value(Metric m, const json_t *value) {
        switch (metric_info(m)->type) {
        case METRIC_COUNTER:
                return json_pack("{s:f}", "value", json_number_value(value));
        case METRIC_HISTOGRAM:
                return show_histogram(m, value);
        default:
                return json_pack("{s:f,s:f}", "value", body_member(value, "sum") / fmax(body_member(value, "n"), 1), "max", body_member(value, "max"));
        }
}

json_t *body_show(const json_t *body) {
        json_t *shown = json_object(), *values, *value;
        const char *name, *key;

        json_object_foreach((json_t *) (uintptr_t) body, name, values) {
                int m = metric_from_name(name);
                json_t *list;

                if (m < 0)
                        continue;
                list = json_array();
                json_object_foreach(values, key, value) {
                        json_t *entry = show_value((Metric) m, value);

                        show_labels(metric_info((Metric) m), key, entry);
                        (void) json_array_append_new(list, entry);
                }
                (void) json_object_set_new(shown, name, list);
        }
        return shown;
}

static void restore_value(Series *s, MetricType type, const json_t *value, usec_t at, unsigned spans) {
        Histogram h = { 0 };

        if (type == METRIC_HISTOGRAM)
                (void) load_histogram(value, &h);
        else
                h = (Histogram) { .count = 1, .sum = json_number_value(value) };
        (void) window_merge(&s->window, at, spans, &h);
        histogram_done(&h);
}

void body_restore(Observe *o, const json_t *body, usec_t age, unsigned spans) {
        usec_t at = observe_now() - age;
        const char *name, *key;
        json_t *values, *value;

        json_object_foreach((json_t *) (uintptr_t) body, name, values) {
                int m = metric_from_name(name);

                if (m < 0 || metric_info((Metric) m)->type == METRIC_GAUGE)
                        continue;
                json_object_foreach(values, key, value) {
                        char labels[METRIC_LABELS_MAX][METRIC_LABEL_BYTES];
                        Series *s;

                        split_key(key, labels);
                        s = series_get(o, (Metric) m, labels[0], labels[1]);
                        if (s)
                                restore_value(s, metric_info((Metric) m)->type, value, at, spans);
                }
        }
}

/* Totals: of a counter its value, of a histogram [sum, count, buckets…]. */

static json_t *total_of(Metric m, const Series *s) {
        const double *bounds;
        json_t *list;

        if (metric_info(m)->type == METRIC_COUNTER)
                return json_real(s->value);
        list = json_pack("[f,I]", s->value, (json_int_t) s->count);
        for (size_t i = 0; i <= metric_bounds(m, &bounds); i++)
                (void) json_array_append_new(list, json_integer((json_int_t) s->buckets[i]));
        return list;
}

json_t *totals_take(Observe *o) {
        json_t *totals = json_object();

        for (Metric m = 0; totals && m < _METRIC_MAX; m++) {
                json_t *values = json_object();
                const Series *s, *next;

                HASH_ITER(hh, o->series[m], s, next) {
                        char key[KEY_MAX];

                        body_make_key(m, s, key);
                        if (metric_info(m)->type != METRIC_GAUGE)
                                (void) json_object_set_new(values, key, total_of(m, s));
                }
                (void) json_object_set_new(totals, metric_info(m)->name, values);
        }
        return totals;
}

static void restore_total(Metric m, Series *s, const json_t *value) {
        const double *bounds;
        size_t n = metric_bounds(m, &bounds);

        if (metric_info(m)->type == METRIC_COUNTER)
                s->value = s->kept = json_number_value(value);
        else if (metric_info(m)->type == METRIC_HISTOGRAM && json_array_size(value) == n + 3) {
                s->value = json_number_value(json_array_get(value, 0));
                s->count = (uint64_t) json_integer_value(json_array_get(value, 1));
                for (size_t i = 0; i <= n; i++)
                        s->buckets[i] = (uint64_t) json_integer_value(json_array_get(value, i + 2));
        }
}

void totals_restore(Observe *o, const json_t *totals) {
        const char *name, *key;
        json_t *values, *value;

        json_object_foreach((json_t *) (uintptr_t) totals, name, values) {
                int m = metric_from_name(name);

                json_object_foreach(values, key, value) {
                        char labels[METRIC_LABELS_MAX][METRIC_LABEL_BYTES];
                        Series *s;

                        split_key(key, labels);
                        s = m >= 0 ? series_get(o, (Metric) m, labels[0], labels[1]) : NULL;
                        if (s)
                                restore_total((Metric) m, s, value);
                }
        }
}
