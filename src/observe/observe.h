/* observe.h: the daemon's metrics.
 *
 * Registers with the core as a CoreObserver and counts its events. Other rooms count with metric_add() and related
 * functions (metric.h), and supply numbers of their own through observe_set_source(). Rates and quantiles over windows
 * are in memory (window.h). Once per interval a row of history goes to the store; so does the usage of each ended
 * sandbox (usage.c).
 * Every function but those that make JSON accepts a NULL observe, and then does nothing.
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

/* NAN: no data. */
double observe_signal(Observe *o, Signal s);

/* Called whenever the signal is read; must be cheap. A signal may have several sources: counts are added up; of times
 * and shares the highest counts. A source replaces the value that is computed here. -ENOBUFS: too many sources. */
#define SIGNAL_SOURCES_MAX 4
typedef double (*SignalRead)(void *userdata);
int observe_set_source(Observe *o, Signal s, SignalRead read, void *userdata);

/* Callbacks for /api/sandbox/health: a list of the active alerts, and an object about the cleaners. Without them the
 * values are [] and null. The JSON that they return is a new reference. */
typedef json_t *(*ObserveJson)(void *userdata);
void observe_set_alerts(Observe *o, ObserveJson active, void *userdata);
void observe_set_sweeper(Observe *o, ObserveJson status, void *userdata);

/* A summary of a histogram over a window, of all labels (NULL) or one. */
typedef struct ObserveSummary {
        uint64_t count;
        double sum, max, p50, p95, p99; /* in the metric's unit; NAN without a count */
} ObserveSummary;
void observe_summary(Observe *o, Metric m, const char *label, WindowSpan span, ObserveSummary *ret);
double observe_count(Observe *o, Metric m, const char *label, const char *second, WindowSpan span); /* increase of a counter; NULL: any */

/* The usage of a live sandbox over time, oldest first; borrowed until control returns to the loop. A sandbox in which
 * nothing happens adds no moments. */
typedef struct ObserveMoment {
        usec_t at; /* wall clock */
        double cpu_percent; /* of one core */
        uint64_t memory_bytes, disk_bytes;
} ObserveMoment;
size_t observe_past(Observe *o, const Sandbox *sb, const ObserveMoment **ret);

/* Objects of the API. observe_metrics_json() returns NULL for an agent type that was never seen. */
json_t *observe_health_json(Observe *o);
json_t *observe_metrics_json(Observe *o, WindowSpan span, const char *agent_type);
/* History from the store; step: 0 chooses. */
int observe_history_json(Observe *o, usec_t from, usec_t to, usec_t step, json_t **ret, Error *reterr);
/* Prometheus' text format 0.0.4; the caller frees. NULL: no memory. */
char *observe_prometheus(Observe *o, size_t *ret_size);

/* by: "sandbox", "task", "agentType", "tenant". tenant: its own usage only; NULL: all. */
int observe_cost_json(Observe *o, const char *by, usec_t from, usec_t to, const char *tenant, size_t limit, json_t **ret, Error *reterr);

/* The sandboxes that the daemon no longer has: they ended after `from` and were removed. tenant: of it only; NULL: all.
 * Latest end first; the first 20000. each() returns < 0 to stop. */
int observe_each_removed(Observe *o, const char *tenant, usec_t from, int (*each)(usec_t started_at, usec_t ended_at, void *userdata),
                void *userdata);

/* Lowers limits to what sandboxes of an agent type have needed, plus a margin. `limits` holds the profile's on entry;
 * memory and CPU quota become the recommended ones if there are enough samples, and are never raised. 1: something was
 * changed, 0: not. With recommendations.automatic off it changes nothing. */
int observe_recommended(Observe *o, const char *agent_type, SandboxLimits *limits);
json_t *observe_recommendations_json(Observe *o);

/* The tables of metrics, signals and alerts as JSON, for deploy/generate. */
int observe_print_table(FILE *to);

/* The API calls it for each answer. route: the pattern, not the path; NULL: no route. */
void observe_http(Observe *o, const char *route, unsigned status, usec_t duration);
