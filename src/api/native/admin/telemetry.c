/* telemetry.c: GET /api/telemetry: how the export of traces and metrics goes. */

#include "api/native/native.h"
#include "config/config.h"
#include "observe/otlp.h"

void native_telemetry(ApiRequest *q) {
        const OtlpConfig *c = &q->manager->settings->otlp;
        OtlpStats s = { 0 };

        if (!q->api->rooms.otlp) {
                (void) api_error(q, 501, "unsupported", NULL, "this daemon exports neither traces nor metrics");
                return;
        }
        otlp_stats(q->api->rooms.otlp, &s);
        (void) api_answer(q, 200, json_pack("{s:o,s:b,s:b,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}",
                        "endpoint", json_text_or_null(c->endpoint),
                        "traces", c->endpoint && c->traces,
                        "metrics", c->endpoint && c->metrics,
                        "sampling", c->sampling,
                        "spansQueued", (json_int_t) s.spans_queued,
                        "spansSent", (json_int_t) s.spans_sent,
                        "spansDropped", (json_int_t) s.spans_dropped,
                        "spansRejected", (json_int_t) s.spans_rejected,
                        "metricsSent", (json_int_t) s.metrics_sent,
                        "metricsFailed", (json_int_t) s.metrics_failed,
                        "lastError", json_text_or_null(s.last_error[0] ? s.last_error : NULL),
                        "lastErrorAt", json_time(s.last_error_at)));
}
