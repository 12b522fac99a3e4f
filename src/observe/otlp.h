/* otlp.h: traces and metrics for a collector, as OTLP over HTTP with JSON.
 *
 * A sandbox's life is a trace: its lifetime is the root, each step that took time (queue, provision, claim, exec, cleanup) a span below
 * it. The ids come out of the sandbox's own, which is random: a daemon that takes over after a restart goes on with the same trace, and
 * whether a trace is sampled is the same for all of its spans. A creator that sends a W3C `traceparent` gets the life as a part of its
 * own trace (until a restart: that is not in the store).
 * Spans wait in a bounded queue; what does not fit is dropped and counted. A collector that is away gets pauses that grow. Metrics are
 * cumulative, so that one that is missed is made up for by the next.
 * Knows the core's observer, metric.h, outbound.h. Must not know: the API, where the numbers come from. */
#pragma once

#include <stdint.h>

#include "core/manager.h"
#include "observe/metric.h"

typedef struct Otlp Otlp;
typedef struct Outbound Outbound;

/* outbound and observe may be NULL: then nothing is sent, or no metrics. */
int otlp_new(Manager *m, Outbound *outbound, Observe *observe, Otlp **ret, Error *reterr);
Otlp *otlp_free(Otlp *o); /* what waits is lost: nobody waits for a collector at the end */

/* What is not as the standard wants it is ignored, as the standard wants it. otlp may be NULL. */
void otlp_set_parent(Otlp *o, const char *sandbox_id, const char *traceparent);

typedef struct OtlpStats {
        uint64_t spans_queued, spans_sent, spans_dropped, spans_rejected;
        uint64_t metrics_sent, metrics_failed; /* exports */
        char last_error[256];                  /* "": none so far */
        usec_t last_error_at;
} OtlpStats;

void otlp_stats(const Otlp *o, OtlpStats *ret);
