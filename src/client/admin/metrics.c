/* cove metrics: counts, rates and percentiles; or all of them as Prometheus reads them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/client.h"
#include "client/human.h"
#include "client/table.h"
#include "client/usage.h"
#include "client/verbs.h"

typedef struct MetricsOptions {
        Common common;
        const char *window, *agent_type;
        bool prometheus;
} MetricsOptions;

APPLY_TEXT(MetricsOptions, window)
APPLY_TEXT(MetricsOptions, agent_type)
APPLY_FLAG(MetricsOptions, prometheus)

static const Option metrics_options[] = {
        { "window",     'w', "TIME", "1m, 5m, 1h (default) or 24h", apply_window     },
        { "agent-type", 0,   "TYPE", "of this one only",            apply_agent_type },
        { "prometheus", 0,   NULL,   "as Prometheus reads them",    apply_prometheus },
        COMMON_OPTIONS,
};

static const Usage usage = {
        .synopsis = "metrics [options]",
        .about = "Shows what was counted and measured: totals since ever, rates and percentiles over a window.",
        USAGE_OPTIONS(metrics_options),
};

static void client_metrics_cell_seconds(Table *t, const json_t *object, const char *key) {
        char text[HUMAN_MAX];
        double seconds = json_get_number(object, key, -1);

        if (seconds < 0)
                table_cell(t, NULL);
        else if (seconds < 0.001)
                table_cell_format(t, "%.0fus", seconds * 1e6);
        else if (seconds < 10)
                table_cell_format(t, "%.3gs", seconds);
        else
                table_cell(t, human_span((usec_t) (seconds * USEC_PER_SEC), text));
}

static void cell_share(Table *t, const json_t *object, const char *key) {
        if (json_has(object, key))
                table_cell_format(t, "%.1f %%", json_get_number(object, key, 0) * 100);
        else
                table_cell(t, NULL);
}

static void client_metrics_cell_count(Table *t, const json_t *object, const char *key) {
        table_cell_format(t, "%.0f", json_get_number(object, key, 0));
}

static void client_metrics_cell_megabytes(Table *t, const json_t *object, const char *key) {
        if (json_has(object, key))
                table_cell_format(t, "%.1fM", json_get_number(object, key, 0));
        else
                table_cell(t, NULL);
}

static int client_metrics_print(Table *t) {
        TableLook look = table_look(STDOUT_FILENO);

        return table_print(t, stdout, &look);
}

static int print_overview(const json_t *m) {
        static const char *const heads[] = { ">ACTIVE", ">TOTAL", ">COMPLETED", ">FAILED", ">TIMEOUTS", ">FAILURES", ">LIFETIME",
                                             ">CPU", ">PEAK", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        const json_t *o = json_object_get(m, "overview"), *r = json_object_get(m, "resources");

        client_metrics_cell_count(t, o, "active");
        client_metrics_cell_count(t, o, "total");
        client_metrics_cell_count(t, o, "completed");
        client_metrics_cell_count(t, o, "failed");
        client_metrics_cell_count(t, o, "timedOut");
        cell_share(t, o, "failureRate");
        client_metrics_cell_seconds(t, o, "averageLifetimeSeconds");
        client_metrics_cell_seconds(t, r, "totalCpuSeconds");
        client_metrics_cell_megabytes(t, r, "peakMemoryMB");
        return client_metrics_print(t);
}

static int print_steps(const json_t *m, const char *window) {
        static const char *const heads[] = { "STEP", ">COUNT", ">P50", ">P95", ">P99", ">MAX", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        const char *step;
        json_t *windows;

        json_object_foreach(json_object_get(m, "percentiles"), step, windows) {
                const json_t *s = json_object_get(windows, window);

                table_cell(t, step);
                client_metrics_cell_count(t, s, "count");
                client_metrics_cell_seconds(t, s, "p50");
                client_metrics_cell_seconds(t, s, "p95");
                client_metrics_cell_seconds(t, s, "p99");
                client_metrics_cell_seconds(t, s, "max");
        }
        return client_metrics_print(t);
}

static int print_agents(const json_t *m) {
        static const char *const heads[] = { "AGENT TYPE", ">EXECUTIONS", ">SUCCESS", ">FAILURE", ">TIMEOUT", ">TIME", ">CPU", ">MEMORY",
                                             NULL };
        _cleanup_table_ Table *t = table_new(heads);
        const char *name;
        json_t *one;

        json_object_foreach(json_object_get(m, "byAgentType"), name, one) {
                table_cell(t, name);
                client_metrics_cell_count(t, one, "executions");
                cell_share(t, one, "successRate");
                cell_share(t, one, "failureRate");
                cell_share(t, one, "timeoutRate");
                client_metrics_cell_seconds(t, one, "averageExecutionSeconds");
                client_metrics_cell_seconds(t, one, "averageCpuSeconds");
                client_metrics_cell_megabytes(t, one, "averageMemoryMB");
        }
        return client_metrics_print(t);
}

/* Percentiles are of three windows; five minutes have the hour's. */
static const char *window_of(const MetricsOptions *o) {
        return !o->window || strcmp(o->window, "5m") == 0 ? "1h" : o->window;
}

static int client_metrics_show(const json_t *m, const MetricsOptions *o) {
        int r = print_overview(m);

        putchar('\n');
        if (r >= 0)
                r = print_agents(m);
        putchar('\n');
        if (r >= 0)
                r = print_steps(m, window_of(o));
        if (r < 0)
                log_error("out of memory");
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

static int put_body(void *userdata, const void *data, size_t size) {
        return fwrite(data, 1, size, stdout) == size ? 0 : -EIO;
}

static int print_prometheus(const Place *place) {
        Request q = REQUEST_INIT;

        q.path = "/metrics";
        q.accept = "text/plain";
        q.sink = put_body;
        return client_transfer(place, &q, /* error= */ NULL, /* ret_head= */ NULL) < 0 ? EXIT_OWN_FAILURE : 0;
}

int verb_metrics(int argc, char **argv) {
        _cleanup_place_ Place place = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        MetricsOptions o = { 0 };
        Operands words;
        int status;

        if (usage_begin(&usage, argc, argv, &o, &words, &place, &status) != 0)
                return status;
        if (o.prometheus && (o.window || o.agent_type || o.common.json)) {
                log_error("--prometheus has all metrics, in its own form: no --window, no --agent-type, no --json with it");
                return EXIT_OWN_FAILURE;
        }
        if (o.prometheus)
                return print_prometheus(&place);
        url_begin(&u, "/api/sandbox/metrics");
        url_query(&u, "window", o.window);
        url_query(&u, "agentType", o.agent_type);
        if (client_need(&place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (!o.common.json)
                return client_metrics_show(a.json, &o);
        answer_print(&a);
        return 0;
}
