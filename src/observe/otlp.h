/* otlp.h: sends traces and metrics to a collector, as OTLP over HTTP with JSON.
 *
 * A sandbox's life is a trace: its lifetime is the root span, and each timed step (queue, provision, claim, exec,
 * cleanup) is a child span. The ids are derived from the sandbox's id, which is random: after a restart the daemon
 * continues the same trace, and the sampling decision is the same for all spans of a trace. If the creator of a sandbox
 * sends a W3C `traceparent`, the sandbox's life is part of the creator's trace, until a restart of the daemon: the
 * parent is not in the store.
 * Spans wait in a bounded queue; those that do not fit are dropped and counted. While the collector is unreachable, the
 * pauses between retries grow. Metrics are cumulative, so the next export makes up for a missed one.
 * Knows the core's observer, metric.h, outbound.h. Must not know: the API, where the numbers come from. */
#pragma once

#include <stdint.h>

#include "core/manager.h"
#include "observe/metric.h"

typedef struct Otlp Otlp;
typedef struct Outbound Outbound;

/* outbound and observe may be NULL: then nothing is sent, or no metrics. */
int otlp_new(Manager *m, Outbound *outbound, Observe *observe, Otlp **ret, Error *reterr);
Otlp *otlp_free(Otlp *o); /* drops queued spans: the daemon's end does not wait for a collector */

/* A malformed traceparent is ignored, as the standard requires. o may be NULL. */
void otlp_set_parent(Otlp *o, const char *sandbox_id, const char *traceparent);

typedef struct OtlpStats {
        uint64_t spans_queued, spans_sent, spans_dropped, spans_rejected;
        uint64_t metrics_sent, metrics_failed; /* exports */
        char last_error[256];                  /* "": none so far */
        usec_t last_error_at;
} OtlpStats;

void otlp_stats(const Otlp *o, OtlpStats *ret);
