/* observe.h: what the daemon measures of itself.
 *
 * Hangs in the core as a CoreObserver and counts what it is told; other rooms count with metric_add() and its sisters (metric.h), and
 * give numbers that only they know through observe_set_source(). Rates and quantiles over windows are in memory (window.h); once
 * in an interval they go to the store, as a row of history; what an ended sandbox has used goes there as well (usage.c).
 * Every function takes a NULL observe: then there is nothing to tell, and nothing is done.
 * Knows the core, the store's history and JSON. Must not know: HTTP, thresholds, channels. */
#pragma once

#include "core/manager.h"
#include "json/json.h"
#include "observe/metric.h"
#include "observe/signal.h"
#include "observe/window.h"

typedef struct Observe Observe;

int observe_new(Manager *m, Observe **ret, Error *reterr);
Observe *observe_free(Observe *o); /* writes what is not in the store yet */

/* NAN: nothing to go by. */
double observe_signal(Observe *o, Signal s);

/* Read when somebody looks; must be cheap. A signal may have several sources: counts are added up, times and shares are the highest.
 * What has a source is not worked out here any more. */
#define SIGNAL_SOURCES_MAX 4
typedef double (*SignalRead)(void *userdata);
int observe_set_source(Observe *o, Signal s, SignalRead read, void *userdata);

/* For /api/sandbox/health: the alerts that are active now, as a list of objects; and one object about the cleaners. Without a hook
 * they are [] and null. The callers own what comes back. */
typedef json_t *(*ObserveJson)(void *userdata);
void observe_set_alerts(Observe *o, ObserveJson active, void *userdata);
void observe_set_sweeper(Observe *o, ObserveJson status, void *userdata);

/* What is not a number of its own: over a window, all agent types (NULL) or one. 0: nothing was counted. */
typedef struct ObserveSummary {
        uint64_t count;
        double sum, max, p50, p95, p99; /* in the metric's unit; NAN without a count */
} ObserveSummary;
void observe_summary(Observe *o, Metric m, const char *label, WindowSpan span, ObserveSummary *ret);
double observe_count(Observe *o, Metric m, const char *label, const char *second, WindowSpan span); /* what a counter has grown by; NULL: any */

/* What a live sandbox has used, the oldest first; borrowed until the loop turns. While nothing happens in it, nothing is added. */
typedef struct ObserveMoment {
        usec_t at; /* wall clock */
        double cpu_percent; /* of one core */
        uint64_t memory_bytes, disk_bytes;
} ObserveMoment;
size_t observe_past(Observe *o, const Sandbox *sb, const ObserveMoment **ret);

/* Objects of the API. -ENOENT: no such agent type was ever seen. */
json_t *observe_health_json(Observe *o);
json_t *observe_metrics_json(Observe *o, WindowSpan span, const char *agent_type);
/* History from the store; step: 0 chooses. */
int observe_history_json(Observe *o, usec_t from, usec_t to, usec_t step, json_t **ret, Error *reterr);
/* Prometheus' text format 0.0.4; the caller frees. NULL: no memory. */
char *observe_prometheus(Observe *o, size_t *ret_size);

/* by: "sandbox", "task", "agentType", "tenant". tenant: only what is its own; NULL: all. */
int observe_cost_json(Observe *o, const char *by, usec_t from, usec_t to, const char *tenant, size_t limit, json_t **ret, Error *reterr);

/* What the sandboxes of an agent type have needed, with margin. The limits hold the profile's on entry; memory and CPU quota become
 * the recommended ones where there is enough to go by, never more than they were. 1: something was changed, 0: not. With
 * recommendations.automatic off it changes nothing. */
int observe_recommended(Observe *o, const char *agent_type, SandboxLimits *limits);
json_t *observe_recommendations_json(Observe *o);

/* The tables of metrics, signals and alerts as JSON: what deploy/generate reads. */
int observe_print_table(FILE *to);

/* Hooks of the API and of the store. route: the pattern, not the path; NULL: no route. */
void observe_http(Observe *o, const char *route, unsigned status, usec_t duration);
