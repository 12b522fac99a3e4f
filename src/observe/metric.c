#include "observe/metric.h"

static const MetricInfo table[_METRIC_MAX] = {
#define METRIC(id_, name_, type_, unit_, first_, second_, keep_, help_)                                                           \
        [METRIC_##id_] = { .id = #id_, .name = (name_), .help = (help_), .type = METRIC_##type_, .unit = METRIC_UNIT_##unit_,           \
                           .labels = { first_, second_ }, .keep = (keep_) },
#include "observe/metric.def"
#undef METRIC
};

const MetricInfo *metric_info(Metric m) {
        return &table[m];
}

const char *metric_type_name(MetricType t) {
        static const char *const names[_METRIC_TYPE_MAX] = { "counter", "gauge", "histogram" };

        return names[t];
}

const char *metric_unit_name(MetricUnit u) {
        static const char *const names[_METRIC_UNIT_MAX] = { "", "seconds", "bytes", "ratio" };

        return names[u];
}
