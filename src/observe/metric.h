/* metric.h: the table of all metrics, counting, and samples for exporters.
 *
 * A metric has series, one for each combination of label values. Adding costs a hash lookup and a few additions, and
 * writes nothing. Every function accepts a NULL observe and then does nothing.
 * Must not know: HTTP, the store, where the numbers go. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Observe Observe;

typedef enum Metric {
#define METRIC(id, ...) METRIC_##id,
#include "observe/metric.def"
#undef METRIC
        _METRIC_MAX,
} Metric;

typedef enum MetricType { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, _METRIC_TYPE_MAX } MetricType;
typedef enum MetricUnit { METRIC_UNIT_NONE, METRIC_UNIT_SECONDS, METRIC_UNIT_BYTES, METRIC_UNIT_RATIO, _METRIC_UNIT_MAX } MetricUnit;

#define METRIC_LABELS_MAX  2
#define METRIC_SERIES_MAX  1024 /* of one metric; agent types: metrics.agent_types_max. Further values become "other" */
#define METRIC_LABEL_BYTES 64  /* longer values are cut */

typedef struct MetricInfo {
        const char *id, *name, *help;
        MetricType type;
        MetricUnit unit;
        const char *labels[METRIC_LABELS_MAX]; /* "": none */
        bool keep;
} MetricInfo;

const MetricInfo *metric_info(Metric m);
const char *metric_type_name(MetricType t); /* "counter" */
const char *metric_unit_name(MetricUnit u); /* "seconds"; none: "" */

/* label: ignored by metrics without one; NULL or "" means "none". metric_add() is for counters, metric_set() for
 * gauges, metric_observe() for histograms. */
void metric_add(Observe *o, Metric m, const char *label, double value);
void metric_add2(Observe *o, Metric m, const char *label, const char *second, double value);
void metric_set(Observe *o, Metric m, const char *label, double value);
void metric_set2(Observe *o, Metric m, const char *label, const char *second, double value);
void metric_observe(Observe *o, Metric m, const char *label, double value); /* in the metric's unit */

/* For exporters: refreshes the gauges, then reports every series of every metric in the order of the table, then the
 * signals as gauges. */
typedef struct MetricSample {
        const char *name, *help;
        MetricType type;
        MetricUnit unit;
        const char *label_names[METRIC_LABELS_MAX], *label_values[METRIC_LABELS_MAX]; /* NULL: no more */
        double value; /* of a histogram: the sum */
        uint64_t count;
        const double *bounds; /* of a histogram: upper bounds of its buckets, ascending, without that of the last, which has none */
        const uint64_t *buckets; /* n_bounds + 1, not cumulative */
        size_t n_bounds;
} MetricSample;

typedef void (*MetricEach)(const MetricSample *sample, void *userdata);
void metric_each(Observe *o, MetricEach each, void *userdata);
