/* telemetry.c: GET /api/telemetry: the state of the export of traces and metrics. */

#include "api/native/routes/routes.h"
#include "config/config.h"
#include "observe/otlp.h"

typedef struct NativeTelemetry {
        const char *endpoint;
        bool traces, metrics;
        double sampling;
        OtlpStats stats;
} NativeTelemetry;

SHAPE_SHOWN(telemetry_show_sampling, NativeTelemetry, t, json_real(t->sampling)); /* never an integer */

#define OF(member) offsetof(NativeTelemetry, member)
static const Shape native_telemetry_answer = SHAPE_FIELDS(
        { "endpoint",      SHAPE_BORROWED, OF(endpoint)                                            },
        { "traces",        SHAPE_BOOL,     OF(traces)                                              },
        { "metrics",       SHAPE_BOOL,     OF(metrics)                                             },
        { "sampling",      SHAPE_DOUBLE,   0, .json = SHAPE_SHOW(telemetry_show_sampling)           },
        { "spansQueued",   SHAPE_UINT64,   OF(stats.spans_queued)                                  },
        { "spansSent",     SHAPE_UINT64,   OF(stats.spans_sent)                                    },
        { "spansDropped",  SHAPE_UINT64,   OF(stats.spans_dropped)                                 },
        { "spansRejected", SHAPE_UINT64,   OF(stats.spans_rejected)                                },
        { "metricsSent",   SHAPE_UINT64,   OF(stats.metrics_sent)                                  },
        { "metricsFailed", SHAPE_UINT64,   OF(stats.metrics_failed)                                },
        { "lastError",     SHAPE_CHARS,    SHAPE_AT(NativeTelemetry, stats.last_error)             },
        { "lastErrorAt",   SHAPE_UINT64,   OF(stats.last_error_at), .unit = SHAPE_TIME             });

static void native_telemetry(ApiRequest *q) {
        const OtlpConfig *c = &q->manager->settings->otlp;
        NativeTelemetry t = {
                .endpoint = c->endpoint,
                .traces = c->endpoint && c->traces,
                .metrics = c->endpoint && c->metrics,
                .sampling = c->sampling,
        };

        if (!native_room(q, q->api->rooms.otlp, "this daemon exports neither traces nor metrics"))
                return;
        otlp_stats(q->api->rooms.otlp, &t.stats);
        (void) api_show(q, 200, &t);
}

const ApiRoute telemetry_routes[] = {
        { "GET", "/api/telemetry", MAY_ADMIN, .while_recovering = true, .handle = native_telemetry, ANSWER(telemetry) },
        { 0 },
};
