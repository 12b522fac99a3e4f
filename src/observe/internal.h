/* internal.h: shared by the files of the metrics, which alone include it. */
#pragma once

#include <uthash.h>

#include "config/config.h"
#include "observe/observe.h"
#include "observe/history-rows.h"

#define OTHER_LABEL "other"
#define NO_LABEL    "none"

/* One combination of values of a metric's labels. */
typedef struct Series {
        char labels[METRIC_LABELS_MAX][METRIC_LABEL_BYTES];
        double value; /* of a histogram: the sum of all, in the metric's unit */
        double kept;  /* the value when the last row of history was written */
        uint64_t count;
        uint64_t *buckets; /* histograms, for exporters */
        Histogram since;   /* histograms, since the last row of history */
        Window window;
        UT_hash_handle hh; /* by labels */
} Series;

/* The metrics' own data about a live sandbox. */
typedef struct Note {
        char id[SANDBOX_ID_LENGTH + 1];
        usec_t activity;     /* wall clock: something was started or has ended */
        const char *outcome; /* of its last execution; NULL: there was none */
        const char *ending;  /* "timeout", "expired": decided when its end began */
        unsigned alive;      /* executions */
        usec_t busy_since, busy; /* monotonic; how long at least one was alive */
        usec_t born;         /* monotonic: when it was first seen */
        usec_t sampled_at;   /* monotonic; 0: never */
        uint64_t operations; /* of the sandbox, when it was sampled */
        SandboxUsage last;
        double cpu_percent, memory_share, cpu_share; /* shares: of its limits; 0 without one */
        double byte_seconds; /* memory, integrated up to sampled_at */
        ObserveMoment *moments; /* past.c */
        unsigned n_moments;
        usec_t moment_step, remembered_at; /* monotonic */
        UT_hash_handle hh;
} Note;

typedef struct AgentType {
        char name[METRIC_LABEL_BYTES];
        UT_hash_handle hh;
} AgentType;

typedef struct Source {
        SignalRead read;
        void *userdata;
} Source;

/* Over all live sandboxes. */
typedef struct LiveSums {
        usec_t at; /* observe_now(); 0: never */
        double memory_max, cpu_max, idle_max; /* NAN: of none */
        unsigned unused, short_of_memory, short_of_cpu;
} LiveSums;

struct Observe {
        Manager *manager;
        CoreObserver observer;
        Series *series[_METRIC_MAX];
        AgentType *agent_types; /* those that have a label of their own; at most metrics.agent_types_max */
        Source sources[_SIGNAL_MAX][SIGNAL_SOURCES_MAX];
        size_t n_sources[_SIGNAL_MAX];
        ObserveJson alerts, sweeper;
        void *alerts_data, *sweeper_data;

        Note *notes; /* by id */
        LiveSums live;
        char cursor[SANDBOX_ID_LENGTH + 1]; /* the sandbox that the sampler looked at last */
        sd_event_source *sampler, *ticker, *flusher;

        usec_t row_began; /* wall clock: start of the next row of history */
        json_t *unwritten; /* a row that could not be written */
        UsageRow *pending; /* not in the store yet */
        size_t n_pending, room_pending;
};

/* Monotonic, shifted by 48 hours so that a time one day ago is never negative. */
static inline usec_t observe_now(void) {
        return clock_usec() + 48 * 3600 * USEC_PER_SEC;
}

/* series.c */
Series *series_get(Observe *o, Metric m, const char *label, const char *second); /* creates it if there is none; NULL: no memory */
void series_free_all(Observe *o);
double metric_scale(Metric m); /* integer steps of a histogram per unit */
size_t metric_bounds(Metric m, const double **ret);
/* Adds the windows of all series with these labels (NULL: any) to ret. */
void series_read(Observe *o, Metric m, const char *label, const char *second, WindowSpan span, Histogram *ret);
double series_total(Observe *o, Metric m, const char *label, const char *second, uint64_t *ret_count);
const char *agent_label(const Sandbox *sb);

/* hooks.c */
void observe_hook(Observe *o);

/* sample.c */
Note *note_get(Observe *o, const Sandbox *sb); /* creates it if there is none; NULL: no memory */
Note *note_find(Observe *o, const Sandbox *sb);
void note_remove(Observe *o, const Sandbox *sb);
void notes_free(Observe *o);
Note *note_free(Note *n);
void note_remember(Note *n, const SandboxUsage *usage, usec_t now);
void note_sampled(Note *n, const Sandbox *sb, const SandboxUsage *usage, usec_t now);
int sampler_start(Observe *o);

/* gauges.c: values that are computed on request. */
void gauges_refresh(Observe *o);
typedef struct AgeClass {
        const char *name;
        usec_t below;
} AgeClass;
size_t age_classes(const AgeClass **ret);
void count_ages(const Observe *o, uint64_t *ret_counts, usec_t *ret_oldest);
uint64_t count_active(const Observe *o);
double gauge_cap(Observe *o); /* NAN: not known */
double gauge_memory_usage(Observe *o);
double gauge_disk_usage(Observe *o);
double gauge_depot_usage(Observe *o);
double gauge_waiting(void *observe);      /* SignalRead */
double gauge_longest_wait(void *observe); /* likewise */

/* history.c */
int history_start(Observe *o);
int history_write(Observe *o, usec_t now);        /* one row and the totals; now: wall clock */
int history_fold(Observe *o, usec_t now);         /* one finished hour; 1: there may be more */
void history_trim(Observe *o, usec_t now);
int history_load(Observe *o);                     /* restores totals and windows after a start */

/* body.c: the contents of a row of history. An object with a member for each metric, and in it one for each combination
 * of labels: the increase of a counter, or {n, sum, max, b} of another metric, where b holds the buckets of a histogram
 * by index. Rows can be merged. */
json_t *body_take(Observe *o); /* everything since the last call. NULL: no memory */
int body_merge(json_t *body, const json_t *from);
json_t *body_show(const json_t *body); /* as the API shows it */
/* Adds a body to the windows as if it were `age` old. spans: a bit for each WindowSpan. */
void body_restore(Observe *o, const json_t *body, usec_t age, unsigned spans);
json_t *totals_take(Observe *o);
void totals_restore(Observe *o, const json_t *totals);

/* usage.c */
void usage_record(Observe *o, Sandbox *sb, const SandboxUsage *usage);
void usage_late(Observe *o, const Sandbox *sb, uint64_t egress_bytes);
int usage_flush(Observe *o);
void usage_forget(Observe *o);
double note_byte_seconds(const Note *n, const Sandbox *sb, const SandboxUsage *usage, usec_t now, const char **ret_basis);

double usage_cost(const CostConfig *price, usec_t cpu_usec, double byte_seconds, uint64_t egress_bytes);

/* report.c */
json_t *number_or_null(double x);
