/* otlp-internal.h: shared by the files behind otlp.h. */
#pragma once

#include <systemd/sd-event.h>
#include <uthash.h>

#include "config/config.h"
#include "base/text.h"
#include "observe/otlp.h"
#include "outbound/outbound.h"

#define OTLP_BODY_MAX   ((size_t) 16 << 20)
#define OTLP_TRACE_ID   32 /* digits */
#define OTLP_SPAN_ID    16

typedef struct Span Span;
typedef struct OtlpParent OtlpParent;

struct Otlp {
        Manager *manager;
        CoreObserver observer;
        Outbound *outbound;
        Observe *observe;

        Span *spans; /* waiting, the oldest first */
        unsigned n_spans;
        OtlpParent *parents; /* by sandbox */
        sd_event_source *trace_timer;
        OutboundRequest *trace_request; /* under way, with the first n_sending spans */
        unsigned n_sending;
        usec_t pause_usec; /* after a failure; 0: the last request succeeded */

        sd_event_source *metric_timer;
        OutboundRequest *metric_request;
        usec_t metrics_since; /* when counting began */
        OtlpStats stats;
};

/* otlp.c */
static inline const OtlpConfig *otlp_config(const Otlp *o) {
        return &o->manager->settings->otlp;
}

void otlp_put_resource(Text *t); /* "resource":{…}, */
void otlp_put_scope(Text *t);    /* "scope":{…}, */
void otlp_put_attribute(Text *t, bool *first, const char *key, const char *value); /* NULL and "": left out */
void otlp_put_integer(Text *t, bool *first, const char *key, int64_t value);
int otlp_send(Otlp *o, const char *path, const Text *body, OutboundDone done, OutboundRequest **ret, Error *reterr);
/* 0: accepted. Otherwise the error is in the stats, and the first one is logged; -EAGAIN: worth a retry. */
int otlp_check(Otlp *o, const char *what, const OutboundResult *result);
void otlp_note_error(Otlp *o, const char *what, const char *text);

/* otlp-trace.c */
int traces_start(Otlp *o, Error *reterr);
void traces_free(Otlp *o);

/* otlp-metrics.c */
int metrics_start(Otlp *o, Error *reterr);
void metrics_free(Otlp *o);
