/* prometheus.c: makes the samples of all metrics, and prints them in Prometheus' text format 0.0.4. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "observe/internal.h"

#define TEXT_MAX ((size_t) 64 << 20)

static void prometheus_fill_labels(const MetricInfo *info, const Series *s, MetricSample *sample) {
        for (size_t i = 0; i < METRIC_LABELS_MAX && *info->labels[i]; i++) {
                sample->label_names[i] = info->labels[i];
                sample->label_values[i] = s->labels[i];
        }
}

static void each_series(Observe *o, Metric m, MetricEach each, void *userdata) {
        const MetricInfo *info = metric_info(m);
        const Series *s, *next;

        HASH_ITER(hh, o->series[m], s, next) {
                MetricSample sample = { info->name, info->help, .type = info->type, .unit = info->unit,
                                        .value = s->value, .count = s->count };

                if (isnan(s->value))
                        continue;
                prometheus_fill_labels(info, s, &sample);
                if (info->type == METRIC_HISTOGRAM) {
                        sample.n_bounds = metric_bounds(m, &sample.bounds);
                        sample.buckets = s->buckets;
                }
                each(&sample, userdata);
        }
}

void metric_each(Observe *o, MetricEach each, void *userdata) {
        if (!o)
                return;
        gauges_refresh(o);
        for (Metric m = 0; m < _METRIC_MAX; m++)
                each_series(o, m, each, userdata);
        for (Signal s = 0; s < _SIGNAL_MAX; s++) {
                char name[64];
                MetricSample sample = { name, signal_help(s), .type = METRIC_GAUGE, .value = observe_signal(o, s) };

                (void) snprintf(name, sizeof(name), "cove_signal_%s", signal_name(s));
                if (!isnan(sample.value))
                        each(&sample, userdata);
        }
}

typedef struct PrometheusWriter {
        Text text;
        char last[64]; /* whose head was written */
} PrometheusWriter;

static void prometheus_put_escaped(Text *t, const char *value) {
        for (const char *p = value; *p; p++)
                if (*p == '\\' || *p == '"') {
                        text_put(t, "\\", 1);
                        text_put(t, p, 1);
                } else if (*p == '\n')
                        text_put(t, "\\n", 2);
                else
                        text_put(t, p, 1);
}

/* bound: of a bucket; NULL: none. */
static void prometheus_put_line(Text *t, const MetricSample *s, const char *suffix, const char *bound, double value) {
        const char *separator = "{";

        text_put_string(t, s->name);
        text_put_string(t, suffix);
        for (size_t i = 0; i < METRIC_LABELS_MAX && s->label_names[i]; i++) {
                text_format(t, "%s%s=\"", separator, s->label_names[i]);
                prometheus_put_escaped(t, s->label_values[i]);
                text_put(t, "\"", 1);
                separator = ",";
        }
        if (bound) {
                text_format(t, "%sle=\"%s\"", separator, bound);
                separator = ",";
        }
        text_format(t, "%s %.17g\n", *separator == ',' ? "}" : "", value);
}

static void prometheus_put_histogram(Text *t, const MetricSample *s) {
        uint64_t sum = 0;
        char bound[32];

        for (size_t i = 0; i < s->n_bounds; i++) {
                sum += s->buckets[i];
                (void) snprintf(bound, sizeof(bound), "%g", s->bounds[i]);
                prometheus_put_line(t, s, "_bucket", bound, (double) sum);
        }
        prometheus_put_line(t, s, "_bucket", "+Inf", (double) s->count);
        prometheus_put_line(t, s, "_sum", /* bound= */ NULL, s->value);
        prometheus_put_line(t, s, "_count", /* bound= */ NULL, (double) s->count);
}

static void prometheus_put_sample(const MetricSample *s, void *userdata) {
        PrometheusWriter *w = userdata;

        if (strcmp(w->last, s->name) != 0) {
                (void) snprintf(w->last, sizeof(w->last), "%s", s->name);
                text_format(&w->text, "# HELP %s ", s->name);
                text_put_string(&w->text, s->help);
                text_format(&w->text, ".\n# TYPE %s %s\n", s->name, metric_type_name(s->type));
        }
        if (s->type == METRIC_HISTOGRAM)
                prometheus_put_histogram(&w->text, s);
        else
                prometheus_put_line(&w->text, s, "", /* bound= */ NULL, s->value);
}

char *observe_prometheus(Observe *o, size_t *ret_size) {
        PrometheusWriter w = { .text = TEXT_INIT(TEXT_MAX) };

        metric_each(o, prometheus_put_sample, &w);
        text_put(&w.text, "", 1);
        if (w.text.error < 0) {
                text_done(&w.text);
                return NULL;
        }
        *ret_size = w.text.size - 1;
        return w.text.data;
}
