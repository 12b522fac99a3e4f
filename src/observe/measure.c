/* measure.c: computes signals from the metrics, or reads them from their sources. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "observe/internal.h"

#define RATE_SAMPLES_MIN 10 /* sandboxes ended in the last hour */
#define RATE_ERRORS_MIN  5  /* error responses in the last five minutes */

static double measure_share(double part, double whole) {
        return whole > 0 ? part / whole : NAN;
}

static double ended(Observe *o, const char *outcome) {
        return observe_count(o, METRIC_SANDBOXES_ENDED, /* label= */ NULL, outcome, WINDOW_1H);
}

static double failures(Observe *o) {
        return ended(o, "failed") + ended(o, "timeout");
}

/* NAN for too few sandboxes: a single failed program must not alert an operator. */
static double measure_rate(Observe *o, double part, double whole) {
        return ended(o, NULL) >= RATE_SAMPLES_MIN ? measure_share(part, whole) : NAN;
}

static double failure_rate(Observe *o) {
        return measure_rate(o, failures(o), ended(o, NULL));
}

static double timeout_rate(Observe *o) {
        return measure_rate(o, ended(o, "timeout"), ended(o, NULL));
}

static double timeouts_of_failures(Observe *o) {
        return measure_rate(o, ended(o, "timeout"), failures(o));
}

static double active(Observe *o) {
        return (double) count_active(o);
}

static double answers(Observe *o, const char *class) {
        return observe_count(o, METRIC_HTTP_REQUESTS, /* label= */ NULL, class, WINDOW_5M);
}

/* NAN for too few errors: two refused calls on an idle server are a large share, and no reason to alert an
 * operator. */
static double answers_rate(Observe *o, double errors) {
        return errors > 0 && errors < RATE_ERRORS_MIN ? NAN : measure_share(errors, answers(o, NULL));
}

static double http_error_rate(Observe *o) {
        return answers_rate(o, answers(o, "5xx"));
}

static double http_timeout_rate(Observe *o) {
        return answers_rate(o, observe_count(o, METRIC_HTTP_TIMEOUTS, NULL, NULL, WINDOW_5M));
}

static double measure_p95(Observe *o, Metric m) {
        ObserveSummary s;

        observe_summary(o, m, /* label= */ NULL, WINDOW_5M, &s);
        return s.p95;
}

static double queue_p95(Observe *o) {
        return fmax(measure_p95(o, METRIC_STEP_QUEUE), measure_p95(o, METRIC_AGENT_QUEUE)); /* fmax() ignores a NAN */
}

static double store_p95(Observe *o) {
        return measure_p95(o, METRIC_STORE_SECONDS);
}

/* A program that reaches its limits breaks no rule, and a full disk is no attack: such events are recorded and
 * counted, but do not count as violations. All other kinds do, also future ones. */
static double security_events(Observe *o) {
        static const char *const harmless[] = { "limit-kill", "oom-kill", "disk-kill", "audit-failed" };
        double n = observe_count(o, METRIC_SECURITY_EVENTS, NULL, NULL, WINDOW_1H);

        for (size_t i = 0; i < ELEMENTSOF(harmless); i++)
                n -= observe_count(o, METRIC_SECURITY_EVENTS, harmless[i], NULL, WINDOW_1H);
        return n;
}

static double cleanup_failures(Observe *o) {
        return observe_count(o, METRIC_CLEANUP_ITEMS, NULL, "failed", WINDOW_1H);
}

static double delivery_failures(Observe *o) {
        return observe_count(o, METRIC_DELIVERIES, NULL, "failed", WINDOW_1H) +
               observe_count(o, METRIC_DELIVERIES, NULL, "dropped", WINDOW_1H);
}

static double live_max(Observe *o, size_t offset) {
        const Note *n, *next;
        double max = NAN;

        HASH_ITER(hh, o->notes, n, next)
                if (n->sampled_at != 0)
                        max = fmax(max, *(const double *) (const void *) ((const char *) n + offset));
        return max;
}

static double memory_max(Observe *o) {
        return live_max(o, offsetof(Note, memory_share));
}

static double cpu_max(Observe *o) {
        return live_max(o, offsetof(Note, cpu_share));
}

static double idle_max(Observe *o) {
        usec_t now = clock_wall_usec(), oldest = now;
        const Note *n, *next;

        if (!o->notes)
                return NAN;
        HASH_ITER(hh, o->notes, n, next)
                oldest = MIN_OF(oldest, n->activity);
        return (double) (now - oldest) / (double) USEC_PER_SEC;
}

typedef enum Together { ADDED, HIGHEST } Together;

/* A signal without a reader is only known to a source. */
static const struct {
        double (*read)(Observe *o);
        Together together;
} readers[_SIGNAL_MAX] = {
        [SIGNAL_FAILURE_RATE]         = { failure_rate,         HIGHEST },
        [SIGNAL_TIMEOUT_RATE]         = { timeout_rate,         HIGHEST },
        [SIGNAL_TIMEOUTS_OF_FAILURES] = { timeouts_of_failures, HIGHEST },
        [SIGNAL_STUCK]                = { NULL,                 ADDED   },
        [SIGNAL_ORPHANED]             = { NULL,                 ADDED   },
        [SIGNAL_ACTIVE]               = { active,               ADDED   },
        [SIGNAL_HTTP_ERROR_RATE]      = { http_error_rate,      HIGHEST },
        [SIGNAL_HTTP_TIMEOUT_RATE]    = { http_timeout_rate,    HIGHEST },
        [SIGNAL_QUEUE_DEPTH]          = { NULL,                 ADDED   },
        [SIGNAL_QUEUE_P95]            = { queue_p95,            HIGHEST },
        [SIGNAL_STORE_P95]            = { store_p95,            HIGHEST },
        [SIGNAL_POOL_WAIT]            = { NULL,                 HIGHEST },
        [SIGNAL_SECURITY_EVENTS]      = { security_events,      ADDED   },
        [SIGNAL_SWEEP_LATENESS]       = { NULL,                 HIGHEST },
        [SIGNAL_SWEEP_FAILURE_RATE]   = { NULL,                 HIGHEST },
        [SIGNAL_CLEANUP_FAILURES]     = { cleanup_failures,     ADDED   },
        [SIGNAL_MEMORY_USAGE]         = { gauge_memory_usage,   HIGHEST },
        [SIGNAL_DISK_USAGE]           = { gauge_disk_usage,     HIGHEST },
        [SIGNAL_DEPOT_USAGE]          = { gauge_depot_usage,    HIGHEST },
        [SIGNAL_DELIVERY_FAILURES]    = { delivery_failures,    ADDED   },
        [SIGNAL_DEAD_LETTERS]         = { NULL,                 ADDED   },
        [SIGNAL_UNHEALTHY]            = { NULL,                 ADDED   },
        [SIGNAL_SANDBOX_MEMORY_MAX]   = { memory_max,           HIGHEST },
        [SIGNAL_SANDBOX_CPU_MAX]      = { cpu_max,              HIGHEST },
        [SIGNAL_SANDBOX_IDLE_MAX]     = { idle_max,             HIGHEST },
};

int observe_set_source(Observe *o, Signal s, SignalRead read, void *userdata) {
        if (!o)
                return 0;
        if (o->n_sources[s] >= SIGNAL_SOURCES_MAX)
                return -ENOBUFS;
        o->sources[s][o->n_sources[s]++] = (Source) { read, userdata };
        return 0;
}

double observe_signal(Observe *o, Signal s) {
        double value = NAN;

        if (!o)
                return NAN;
        if (o->n_sources[s] == 0)
                return readers[s].read ? readers[s].read(o) : NAN;
        for (size_t i = 0; i < o->n_sources[s]; i++) {
                double x = o->sources[s][i].read(o->sources[s][i].userdata);

                if (readers[s].together == ADDED && !isnan(value) && !isnan(x))
                        value += x;
                else
                        value = fmax(value, x);
        }
        return value;
}
