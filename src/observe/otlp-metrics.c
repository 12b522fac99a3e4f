/* otlp-metrics.c: sends every metric of the table, once per interval.
 *
 * Counters survive restarts, so their start time is the very first start of the daemon. Histograms begin anew with each
 * start. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/store.h"
#include "observe/otlp-internal.h"

#define SINCE_COUNTER "metrics_since"

typedef struct Export {
        Otlp *otlp;
        Text *text;
        char name[128]; /* of the metric that is being written */
        bool any;       /* a metric was written */
        usec_t now;
        MetricType type;
} Export;

static const char *unit_of(MetricUnit u) {
        static const char *const units[_METRIC_UNIT_MAX] = { [METRIC_UNIT_NONE] = "1", [METRIC_UNIT_SECONDS] = "s", [METRIC_UNIT_BYTES] = "By", [METRIC_UNIT_RATIO] = "1" };

        return units[u];
}

static void end_metric(Export *e) {
        static const char *const ends[_METRIC_TYPE_MAX] = {
                [METRIC_COUNTER] = "],\"aggregationTemporality\":2,\"isMonotonic\":true}}",
                [METRIC_GAUGE] = "]}}",
                [METRIC_HISTOGRAM] = "],\"aggregationTemporality\":2}}",
        };

        if (e->name[0])
                text_put_string(e->text, ends[e->type]);
}

static void begin_metric(Export *e, const MetricSample *s) {
        static const char *const kinds[_METRIC_TYPE_MAX] = { [METRIC_COUNTER] = "sum", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram" };

        end_metric(e);
        text_put_string(e->text, e->any ? ",{\"name\":" : "{\"name\":");
        text_quote_string(e->text, s->name);
        text_put_string(e->text, ",\"description\":");
        text_quote_string(e->text, s->help ? s->help : "");
        text_format(e->text, ",\"unit\":\"%s\",\"%s\":{\"dataPoints\":[", unit_of(s->unit), kinds[s->type]);
        (void) snprintf(e->name, sizeof(e->name), "%s", s->name);
        e->type = s->type;
        e->any = true;
}

static void otlp_metrics_put_histogram(Text *t, const MetricSample *s) {
        text_format(t, ",\"count\":\"%" PRIu64 "\",\"sum\":%.17g,\"bucketCounts\":[", s->count, s->value);
        for (size_t i = 0; i <= s->n_bounds; i++)
                text_format(t, "%s\"%" PRIu64 "\"", i > 0 ? "," : "", s->buckets[i]);
        text_put_string(t, "],\"explicitBounds\":[");
        for (size_t i = 0; i < s->n_bounds; i++)
                text_format(t, "%s%.17g", i > 0 ? "," : "", s->bounds[i]);
        text_put_string(t, "]");
}

static void otlp_metrics_put_sample(const MetricSample *s, void *userdata) {
        Export *e = userdata;
        Text *t = e->text;
        bool first = true, again = strcmp(e->name, s->name) == 0;
        usec_t since = s->type == METRIC_COUNTER ? e->otlp->metrics_since : e->otlp->manager->started_at;

        if (!isfinite(s->value))
                return; /* no value, and JSON has no NAN */
        if (!again)
                begin_metric(e, s);
        text_put_string(t, again ? ",{\"attributes\":[" : "{\"attributes\":[");
        for (size_t i = 0; i < METRIC_LABELS_MAX && s->label_names[i] && s->label_names[i][0]; i++)
                otlp_put_attribute(t, &first, s->label_names[i], s->label_values[i]);
        text_put_string(t, "]");
        if (s->type != METRIC_GAUGE)
                text_format(t, ",\"startTimeUnixNano\":\"%" PRIu64 "000\"", since);
        text_format(t, ",\"timeUnixNano\":\"%" PRIu64 "000\"", e->now);
        if (s->type == METRIC_HISTOGRAM)
                otlp_metrics_put_histogram(t, s);
        else
                text_format(t, ",\"asDouble\":%.17g", s->value);
        text_put_string(t, "}");
}

static void otlp_metrics_put_all(Otlp *o, Text *t) {
        Export e = { .otlp = o, .text = t, .now = clock_wall_usec() };

        text_put_string(t, "{\"resourceMetrics\":[{");
        otlp_put_resource(t);
        text_put_string(t, "\"scopeMetrics\":[{");
        otlp_put_scope(t);
        text_put_string(t, "\"metrics\":[");
        metric_each(o->observe, otlp_metrics_put_sample, &e);
        end_metric(&e);
        text_put_string(t, "]}]}]}");
}

static void otlp_metrics_on_sent(const OutboundResult *result, void *userdata) {
        Otlp *o = userdata;

        o->metric_request = NULL;
        if (otlp_check(o, "metrics", result) < 0)
                o->stats.metrics_failed++;
        else
                o->stats.metrics_sent++;
}

static void export(Otlp *o) {
        _cleanup_text_ Text t = TEXT_INIT(OTLP_BODY_MAX);
        Error error = { 0 };

        otlp_metrics_put_all(o, &t);
        if (otlp_send(o, "/v1/metrics", &t, otlp_metrics_on_sent, &o->metric_request, &error) < 0) {
                o->stats.metrics_failed++;
                otlp_note_error(o, "metrics", error.text);
        }
}

static int otlp_metrics_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Otlp *o = userdata;
        const OtlpConfig *c = otlp_config(o);

        if (c->endpoint && c->metrics && o->observe && o->outbound && !o->metric_request)
                export(o);
        (void) sd_event_source_set_time_relative(source, c->interval_usec);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int metrics_start(Otlp *o, Error *reterr) {
        usec_t interval = otlp_config(o)->interval_usec;
        int r = sd_event_add_time_relative(o->manager->event, &o->metric_timer, CLOCK_MONOTONIC, interval, 0, otlp_metrics_on_timer, o);

        if (r < 0)
                return error_set(reterr, r, "cannot add the export of metrics to the loop: %s", strerror(-r));
        (void) store_counter_get(o->manager->store, SINCE_COUNTER, &o->metrics_since);
        if (o->metrics_since == 0) {
                o->metrics_since = o->manager->started_at;
                store_may_lose(store_counter_set(o->manager->store, SINCE_COUNTER, o->metrics_since), "since when metrics are counted");
        }
        return 0;
}

void metrics_free(Otlp *o) {
        outbound_cancel(o->metric_request);
        sd_event_source_disable_unref(o->metric_timer);
}
