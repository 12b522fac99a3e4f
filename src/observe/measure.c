/* measure.c: computes signals from the metrics, or reads them from their sources. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "observe/internal.h"

#define RATE_SAMPLES_MIN 10 /* sandboxes ended in the last hour */
#define RATE_ERRORS_MIN  5  /* error responses in the last five minutes */
#define FAILURES_SHARE_MIN 0.05 /* of the sandboxes that ended in the last hour */
#define MEMORY_SHORT  0.88 /* of the limit */
#define CPU_SHORT     0.90 /* of the quota */
#define UNUSED_USEC   (3600 * USEC_PER_SEC)
#define LIVE_AGE_USEC (100 * USEC_PER_MSEC)

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

/* NAN if hardly anything fails: where one sandbox in a thousand fails, all of these may well be timeouts. */
static double timeouts_of_failures(Observe *o) {
        return failure_rate(o) >= FAILURES_SHARE_MIN ? measure_rate(o, ended(o, "timeout"), failures(o)) : NAN;
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

/* Connections of untrusted code that the gate refuses are what the gate is for. */
static double refused_calls(Observe *o) {
        return security_events(o) - observe_count(o, METRIC_SECURITY_EVENTS, "network", NULL, WINDOW_1H);
}

static double cleanup_failures(Observe *o) {
        return observe_count(o, METRIC_CLEANUP_ITEMS, NULL, "failed", WINDOW_1H);
}

static double delivery_failures(Observe *o) {
        return observe_count(o, METRIC_DELIVERIES, NULL, "failed", WINDOW_1H) +
               observe_count(o, METRIC_DELIVERIES, NULL, "dropped", WINDOW_1H);
}

/* A pause or a stop was asked for: such a sandbox is kept on purpose. */
static bool note_is_unused(const Observe *o, const Note *n, usec_t now) {
        const Sandbox *sb = n->alive == 0 && now > n->activity && now - n->activity > UNUSED_USEC ? manager_by_id(o->manager, n->id) : NULL;

        return sb && sb->status == SANDBOX_READY;
}

static void live_add(Observe *o, const Note *n, usec_t now) {
        LiveSums *s = &o->live;

        s->idle_max = fmax(s->idle_max, now > n->activity ? (double) (now - n->activity) / USEC_PER_SEC : 0);
        s->unused += note_is_unused(o, n, now);
        if (n->sampled_at == 0)
                return;
        s->memory_max = fmax(s->memory_max, n->memory_share);
        s->cpu_max = fmax(s->cpu_max, n->cpu_share);
        s->short_of_memory += n->memory_share > MEMORY_SHORT;
        s->short_of_cpu += n->cpu_share > CPU_SHORT;
}

/* One pass over all live sandboxes serves all rules that are evaluated together. */
static const LiveSums *live_sums(Observe *o) {
        usec_t now = observe_now(), wall = clock_wall_usec();
        const Note *n, *next;

        if (o->live.at != 0 && now - o->live.at < LIVE_AGE_USEC)
                return &o->live;
        o->live = (LiveSums) { .at = now, .memory_max = NAN, .cpu_max = NAN, .idle_max = NAN };
        HASH_ITER(hh, o->notes, n, next)
                live_add(o, n, wall);
        return &o->live;
}

static double memory_max(Observe *o) {
        return live_sums(o)->memory_max;
}

static double cpu_max(Observe *o) {
        return live_sums(o)->cpu_max;
}

static double idle_max(Observe *o) {
        return live_sums(o)->idle_max;
}

static double unused(Observe *o) {
        return live_sums(o)->unused;
}

static double short_of_memory(Observe *o) {
        return live_sums(o)->short_of_memory;
}

static double short_of_cpu(Observe *o) {
        return live_sums(o)->short_of_cpu;
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
        [SIGNAL_CAP]                  = { gauge_cap,            HIGHEST },
        [SIGNAL_UNUSED]               = { unused,               ADDED   },
        [SIGNAL_SHORT_OF_MEMORY]      = { short_of_memory,      ADDED   },
        [SIGNAL_SHORT_OF_CPU]         = { short_of_cpu,         ADDED   },
        [SIGNAL_REFUSED_CALLS]        = { refused_calls,        ADDED   },
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
