/* report.c: the numbers for GET /api/sandbox/metrics. Totals cover all time, rates and means the window. */

#include <math.h>
#include <string.h>

#include "observe/internal.h"

#define MB (1024.0 * 1024)

json_t *number_or_null(double x) {
        return isfinite(x) ? json_real(x) : json_null();
}

static double observe_report_share(double part, double whole) {
        return whole > 0 ? part / whole : NAN;
}

static json_t *integer(double x) {
        return json_integer((json_int_t) (x + 0.5));
}

typedef struct View {
        Observe *observe;
        const char *agent; /* NULL: all */
        WindowSpan span;
} View;

static double in_window(const View *s, Metric m, const char *second) {
        return observe_count(s->observe, m, s->agent, second, s->span);
}

static double ever(const View *s, Metric m, const char *second) {
        return series_total(s->observe, m, s->agent, second, /* ret_count= */ NULL);
}

static double mean(const View *s, Metric m) {
        ObserveSummary x;

        observe_summary(s->observe, m, s->agent, s->span, &x);
        return observe_report_share(x.sum, (double) x.count);
}

static double sum_of(const View *s, Metric m) {
        ObserveSummary x;

        observe_summary(s->observe, m, s->agent, s->span, &x);
        return x.sum;
}

/* The live sandboxes of the view. */
static void look_at_live(const View *s, uint64_t *ret_active, double *ret_memory_max) {
        const Sandbox *sb, *next;

        *ret_active = 0;
        *ret_memory_max = 0;
        HASH_ITER(hh, s->observe->manager->sandboxes, sb, next) {
                const Note *n;

                if (!sandbox_status_is_live(sb->status) || sb->pooled || (s->agent && strcmp(agent_label(sb), s->agent) != 0))
                        continue;
                ++*ret_active;
                n = note_find(s->observe, sb);
                if (n)
                        *ret_memory_max = fmax(*ret_memory_max, (double) n->last.memory_peak_bytes);
        }
}

/* A6 57 */
static json_t *overview_json(const View *s) {
        double ended = in_window(s, METRIC_SANDBOXES_ENDED, NULL), timeouts = in_window(s, METRIC_SANDBOXES_ENDED, "timeout");
        double failed = in_window(s, METRIC_SANDBOXES_ENDED, "failed") + timeouts, memory;
        uint64_t active;

        look_at_live(s, &active, &memory);
        return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "active", (json_int_t) active,
                        "total", integer(ever(s, METRIC_SANDBOXES_CREATED, NULL)),
                        "completed", integer(ever(s, METRIC_SANDBOXES_ENDED, "completed")),
                        "failed", integer(ever(s, METRIC_SANDBOXES_ENDED, "failed") + ever(s, METRIC_SANDBOXES_ENDED, "timeout")),
                        "timedOut", integer(ever(s, METRIC_SANDBOXES_ENDED, "timeout")),
                        "expired", integer(ever(s, METRIC_SANDBOXES_ENDED, "expired")),
                        "averageLifetimeSeconds", number_or_null(mean(s, METRIC_STEP_LIFETIME)),
                        "failureRate", number_or_null(observe_report_share(failed, ended)),
                        "timeoutRate", number_or_null(observe_report_share(timeouts, ended)),
                        "timeoutsOfFailures", number_or_null(observe_report_share(timeouts, failed)));
}

static json_t *summary_json(Observe *o, Metric m, const char *agent, WindowSpan span) {
        ObserveSummary x;

        observe_summary(o, m, agent, span, &x);
        return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o}", "count", (json_int_t) x.count, "mean", number_or_null(observe_report_share(x.sum, (double) x.count)),
                        "p50", number_or_null(x.p50), "p95", number_or_null(x.p95), "p99", number_or_null(x.p99),
                        "max", number_or_null(x.max));
}

static const struct {
        const char *name;
        Metric metric;
} steps[] = {
        { "provision", METRIC_STEP_PROVISION }, { "exec", METRIC_STEP_EXEC },   { "lifetime", METRIC_STEP_LIFETIME },
        { "queue", METRIC_STEP_QUEUE },         { "claim", METRIC_STEP_CLAIM }, { "cleanup", METRIC_STEP_CLEANUP },
        { "agentQueue", METRIC_AGENT_QUEUE },   { "agentExecution", METRIC_AGENT_DURATION },
};

/* In seconds. */
static json_t *percentiles_json(Observe *o, const char *agent) {
        static const WindowSpan shown[] = { WINDOW_1M, WINDOW_1H, WINDOW_24H };
        json_t *all = json_object();

        for (size_t i = 0; i < ELEMENTSOF(steps); i++) {
                json_t *one = json_object();

                for (size_t k = 0; k < ELEMENTSOF(shown); k++)
                        (void) json_object_set_new(one, window_name(shown[k]), summary_json(o, steps[i].metric, agent, shown[k]));
                (void) json_object_set_new(all, steps[i].name, one);
        }
        return all;
}

/* A6 58, 61, 71 */
static json_t *agent_json(const View *s) {
        double ok = in_window(s, METRIC_EXECUTIONS, "success"), failed = in_window(s, METRIC_EXECUTIONS, "failure");
        double timeouts = in_window(s, METRIC_EXECUTIONS, "timeout"), judged = ok + failed + timeouts;
        double peak = NAN, memory, lifetime = sum_of(s, METRIC_STEP_LIFETIME);
        ObserveSummary peaks;
        uint64_t active;

        look_at_live(s, &active, &memory);
        observe_summary(s->observe, METRIC_MEMORY_PEAK, s->agent, s->span, &peaks);
        peak = fmax(peaks.max, active > 0 ? memory : NAN);
        return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "active", (json_int_t) active,
                        "executions", integer(in_window(s, METRIC_EXECUTIONS, NULL)),
                        "totalExecutions", integer(ever(s, METRIC_EXECUTIONS, NULL)),
                        "succeeded", integer(ok), "failed", integer(failed), "timedOut", integer(timeouts),
                        "cancelled", integer(in_window(s, METRIC_EXECUTIONS, "cancelled")),
                        "successRate", number_or_null(observe_report_share(ok, judged)),
                        "failureRate", number_or_null(observe_report_share(failed + timeouts, judged)),
                        "timeoutRate", number_or_null(observe_report_share(timeouts, judged)),
                        "averageExecutionSeconds", number_or_null(mean(s, METRIC_STEP_EXEC)),
                        "averageCpuSeconds", number_or_null(mean(s, METRIC_CPU_PER_SANDBOX)),
                        "averageMemoryMB", number_or_null(observe_report_share(in_window(s, METRIC_MEMORY_BYTE_SECONDS, NULL) / MB, lifetime)),
                        "peakMemoryMB", number_or_null(peak / MB),
                        "percentiles", percentiles_json(s->observe, s->agent));
}

static json_t *observe_report_agents_json(const View *all) {
        json_t *object = json_object();
        const AgentType *t, *next;

        HASH_ITER(hh, all->observe->agent_types, t, next) {
                View one = { all->observe, t->name, all->span };

                if (!all->agent || strcmp(all->agent, t->name) == 0)
                        (void) json_object_set_new(object, t->name, agent_json(&one));
        }
        for (size_t i = 0; i < 2 && !all->agent; i++) {
                const char *name = i == 0 ? NO_LABEL : OTHER_LABEL;
                View one = { all->observe, name, all->span };

                if (ever(&one, METRIC_SANDBOXES_CREATED, NULL) > 0)
                        (void) json_object_set_new(object, name, agent_json(&one));
        }
        return object;
}

/* A6 59 */
static json_t *resources_json(const View *s) {
        double memory, lifetime = sum_of(s, METRIC_STEP_LIFETIME);
        ObserveSummary peaks, cpu;
        uint64_t active;

        look_at_live(s, &active, &memory);
        observe_summary(s->observe, METRIC_MEMORY_PEAK, s->agent, s->span, &peaks);
        observe_summary(s->observe, METRIC_CPU_PER_SANDBOX, s->agent, s->span, &cpu);
        return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "totalCpuSeconds", number_or_null(ever(s, METRIC_CPU_SECONDS, NULL)),
                        "averageCpuSeconds", number_or_null(observe_report_share(cpu.sum, (double) cpu.count)),
                        "peakCpuSeconds", number_or_null(cpu.max),
                        "totalMemoryGBSeconds", number_or_null(ever(s, METRIC_MEMORY_BYTE_SECONDS, NULL) / MB / 1024),
                        "averageMemoryMB", number_or_null(observe_report_share(in_window(s, METRIC_MEMORY_BYTE_SECONDS, NULL) / MB, lifetime)),
                        "peakMemoryMB", number_or_null(fmax(peaks.max, active > 0 ? memory : NAN) / MB),
                        "networkRequests", integer(ever(s, METRIC_NETWORK_REQUESTS, NULL)),
                        "egressBytes", integer(ever(s, METRIC_EGRESS_BYTES, NULL)),
                        "oomKills", integer(ever(s, METRIC_OOM_KILLS, NULL)),
                        "samples", integer((double) peaks.count));
}

static json_t *ages_json(Observe *o) {
        const AgeClass *classes;
        size_t n = age_classes(&classes);
        uint64_t counts[16];
        usec_t oldest;
        json_t *object = json_object();

        count_ages(o, counts, &oldest);
        for (size_t i = 0; i < n; i++)
                (void) json_object_set_new(object, classes[i].name, json_integer((json_int_t) counts[i]));
        (void) json_object_set_new(object, "oldestSeconds", json_real((double) oldest / USEC_PER_SEC));
        return object;
}

static json_t *rates_json(const View *s) {
        double minutes = (double) window_usec(s->span) / USEC_PER_SEC / 60;

        return json_pack("{s:f,s:f,s:f,s:o,s:o}",
                        "createdPerMinute", in_window(s, METRIC_SANDBOXES_CREATED, NULL) / minutes,
                        "endedPerMinute", in_window(s, METRIC_SANDBOXES_ENDED, NULL) / minutes,
                        "executionsPerMinute", in_window(s, METRIC_EXECUTIONS, NULL) / minutes,
                        "httpErrorRate", number_or_null(observe_signal(s->observe, SIGNAL_HTTP_ERROR_RATE)),
                        "storeP95Seconds", number_or_null(observe_signal(s->observe, SIGNAL_STORE_P95)));
}

static bool observe_report_is_known(Observe *o, const char *agent) {
        AgentType *t;

        HASH_FIND_STR(o->agent_types, agent, t);
        return t || strcmp(agent, NO_LABEL) == 0 || strcmp(agent, OTHER_LABEL) == 0;
}

json_t *observe_metrics_json(Observe *o, WindowSpan span, const char *agent_type) {
        View s = { o, agent_type, span };

        if (agent_type && !observe_report_is_known(o, agent_type))
                return NULL;
        return json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
                        "at", json_time(clock_wall_usec()),
                        "window", window_name(span),
                        "agentType", json_text_or_null(agent_type),
                        "overview", overview_json(&s),
                        "rates", rates_json(&s),
                        "byAgentType", observe_report_agents_json(&s),
                        "resources", resources_json(&s),
                        "percentiles", percentiles_json(o, agent_type),
                        "ageDistribution", ages_json(o));
}
