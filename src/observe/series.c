/* series.c: the values of the metrics. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/internal.h"

static const double bounds_seconds[] = {
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
};
static const double bounds_bytes[] = {
        1 << 20, 4 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20, 512 << 20, 1 << 30, 4.0 * (1 << 30), 16.0 * (1 << 30),
};
static const double bounds_numbers[] = { 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16 };

static const struct {
        const double *bounds;
        size_t n;
        double scale; /* microseconds, bytes, thousandths */
} units[_METRIC_UNIT_MAX] = {
        [METRIC_UNIT_NONE]    = { bounds_numbers, ELEMENTSOF(bounds_numbers), 1000    },
        [METRIC_UNIT_SECONDS] = { bounds_seconds, ELEMENTSOF(bounds_seconds), 1000000 },
        [METRIC_UNIT_BYTES]   = { bounds_bytes,   ELEMENTSOF(bounds_bytes),   1       },
        [METRIC_UNIT_RATIO]   = { bounds_numbers, ELEMENTSOF(bounds_numbers), 1000    },
};

size_t metric_bounds(Metric m, const double **ret) {
        MetricUnit unit = metric_info(m)->unit;

        *ret = units[unit].bounds;
        return units[unit].n;
}

double metric_scale(Metric m) {
        return units[metric_info(m)->unit].scale;
}

typedef struct Labels {
        char values[METRIC_LABELS_MAX][METRIC_LABEL_BYTES];
} Labels;

static void series_put_label(char target[static METRIC_LABEL_BYTES], const char *name, const char *value) {
        size_t n;

        if (!*name)
                return; /* the metric has no such label: stays "" */
        if (!value || !*value)
                value = NO_LABEL;
        n = strlen(value);
        if (n >= METRIC_LABEL_BYTES)
                n = utf8_prefix(value, METRIC_LABEL_BYTES - 1, &(bool) { false });
        memcpy(target, value, n);
}

/* Callers choose the names of agent types: beyond a maximum, all others share one name. */
static const char *bounded_agent(Observe *o, const char *label, bool make) {
        AgentType *t;

        if (!label || !*label || strcmp(label, NO_LABEL) == 0 || strcmp(label, OTHER_LABEL) == 0)
                return label;
        HASH_FIND_STR(o->agent_types, label, t);
        if (t || !make)
                return label;
        if (HASH_COUNT(o->agent_types) >= o->manager->settings->metrics.agent_types_max ||
                        strlen(label) >= sizeof(t->name)) {
                metric_add(o, METRIC_LABELS_DROPPED, NULL, 1);
                return OTHER_LABEL;
        }
        t = calloc(1, sizeof(*t));
        if (!t)
                return OTHER_LABEL;
        memcpy(t->name, label, strlen(label) + 1);
        HASH_ADD_STR(o->agent_types, name, t);
        return label;
}

static Labels labels_of(Observe *o, Metric m, const char *label, const char *second, bool make) {
        const MetricInfo *info = metric_info(m);
        Labels l = { 0 };

        if (info->labels[0][0] == 'a' && strcmp(info->labels[0], "agent_type") == 0)
                label = bounded_agent(o, label, make);
        series_put_label(l.values[0], info->labels[0], label);
        series_put_label(l.values[1], info->labels[1], second);
        return l;
}

static Series *observe_series_find(const Observe *o, Metric m, const Labels *l) {
        Series *s;

        HASH_FIND(hh, o->series[m], l->values, sizeof(l->values), s);
        return s;
}

static Series *series_new(Observe *o, Metric m, const Labels *l) {
        const double *bounds;
        Series *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        memcpy(s->labels, l->values, sizeof(s->labels));
        if (metric_info(m)->type == METRIC_HISTOGRAM) {
                s->buckets = calloc(metric_bounds(m, &bounds) + 1, sizeof(*s->buckets));
                if (!s->buckets) {
                        free(s);
                        return NULL;
                }
        }
        HASH_ADD(hh, o->series[m], labels, sizeof(s->labels), s);
        return s;
}

Series *series_get(Observe *o, Metric m, const char *label, const char *second) {
        Labels l = labels_of(o, m, label, second, /* make= */ true);
        Series *s = observe_series_find(o, m, &l);

        if (s)
                return s;
        if (HASH_COUNT(o->series[m]) >= METRIC_SERIES_MAX) {
                l = labels_of(o, m, OTHER_LABEL, second, /* make= */ false);
                s = observe_series_find(o, m, &l);
                metric_add(o, METRIC_LABELS_DROPPED, NULL, 1);
        }
        return s ? s : series_new(o, m, &l);
}

static void agent_types_free(Observe *o) {
        AgentType *t, *next;

        HASH_ITER(hh, o->agent_types, t, next) {
                HASH_DEL(o->agent_types, t);
                free(t);
        }
}

static void series_free(Series *s) {
        histogram_done(&s->since);
        window_done(&s->window);
        free(s->buckets);
        free(s);
}

void series_free_all(Observe *o) {
        agent_types_free(o);
        for (Metric m = 0; m < _METRIC_MAX; m++) {
                Series *s, *next;

                HASH_ITER(hh, o->series[m], s, next) {
                        HASH_DEL(o->series[m], s);
                        series_free(s);
                }
        }
}

/* Counting. Without memory the number is lost, and the daemon continues. */

void metric_add2(Observe *o, Metric m, const char *label, const char *second, double value) {
        Series *s = o ? series_get(o, m, label, second) : NULL;

        if (!s || !(value >= 0))
                return;
        s->value += value;
        s->count++;
        (void) window_count(&s->window, observe_now(), value);
}

void metric_add(Observe *o, Metric m, const char *label, double value) {
        metric_add2(o, m, label, NULL, value);
}

void metric_set2(Observe *o, Metric m, const char *label, const char *second, double value) {
        Series *s = o ? series_get(o, m, label, second) : NULL;

        if (s)
                s->value = value;
}

void metric_set(Observe *o, Metric m, const char *label, double value) {
        metric_set2(o, m, label, NULL, value);
}

void metric_observe(Observe *o, Metric m, const char *label, double value) {
        Series *s = o ? series_get(o, m, label, NULL) : NULL;
        const double *bounds;
        size_t n = metric_bounds(m, &bounds), i = 0;
        uint64_t whole;

        if (!s || !s->buckets || !(value >= 0))
                return;
        whole = (uint64_t) (value * metric_scale(m) + 0.5);
        while (i < n && value > bounds[i])
                i++;
        s->buckets[i]++;
        s->value += value;
        s->count++;
        (void) histogram_add(&s->since, whole);
        (void) window_spread(&s->window, observe_now(), whole);
}

/* Reading. */

static bool series_fits(const Series *s, const char *label, const char *second) {
        return (!label || strcmp(s->labels[0], label) == 0) && (!second || strcmp(s->labels[1], second) == 0);
}

void series_read(Observe *o, Metric m, const char *label, const char *second, WindowSpan span, Histogram *ret) {
        const Series *s, *next;
        usec_t now = observe_now();

        HASH_ITER(hh, o->series[m], s, next)
                if (series_fits(s, label, second))
                        (void) window_read(&s->window, span, now, ret);
}

double series_total(Observe *o, Metric m, const char *label, const char *second, uint64_t *ret_count) {
        const Series *s, *next;
        double sum = 0;
        uint64_t count = 0;

        HASH_ITER(hh, o->series[m], s, next)
                if (series_fits(s, label, second)) {
                        sum += s->value;
                        count += s->count;
                }
        if (ret_count)
                *ret_count = count;
        return sum;
}

double observe_count(Observe *o, Metric m, const char *label, const char *second, WindowSpan span) {
        Histogram h = { 0 };
        double sum;

        if (!o)
                return 0;
        series_read(o, m, label, second, span, &h);
        sum = h.sum;
        histogram_done(&h);
        return sum;
}

void observe_summary(Observe *o, Metric m, const char *label, WindowSpan span, ObserveSummary *ret) {
        Histogram h = { 0 };
        double scale = metric_scale(m);

        if (o)
                series_read(o, m, label, /* second= */ NULL, span, &h);
        *ret = (ObserveSummary) {
                .count = h.count,
                .sum = h.sum / scale,
                .max = h.count > 0 ? (double) h.max / scale : NAN,
                .p50 = histogram_quantile(&h, 0.50) / scale,
                .p95 = histogram_quantile(&h, 0.95) / scale,
                .p99 = histogram_quantile(&h, 0.99) / scale,
        };
        histogram_done(&h);
}

const char *agent_label(const Sandbox *sb) {
        return sb && sb->spec.agent_type && *sb->spec.agent_type ? sb->spec.agent_type : NO_LABEL;
}
