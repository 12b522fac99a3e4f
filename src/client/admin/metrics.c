/* cove metrics: counts, rates and percentiles, or all metrics in Prometheus format. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/ask.h"
#include "client/human.h"
#include "client/verbs.h"

static const Option metrics_options[] = {
        { "window",     'w', "TIME", "1m, 5m, 1h (default) or 24h", QUERY_TEXT("window")                    },
        { "agent-type", 0,   "TYPE", "only this agent type",            QUERY_TEXT("agentType")                 },
        { "prometheus", 0,   NULL,   "in the format of Prometheus",    OPTION_OWN },
};

static void cell_seconds(Table *t, const json_t *row, const Column *c) {
        const json_t *value = json_at(row, c->key);
        double seconds = json_is_number(value) ? json_number_value(value) : -1;
        char text[HUMAN_MAX];

        if (seconds < 0)
                table_cell(t, NULL);
        else if (seconds < 0.001)
                table_cell_format(t, "%.0fus", seconds * 1e6);
        else if (seconds < 10)
                table_cell_format(t, "%.3gs", seconds);
        else
                table_cell(t, human_span((usec_t) (seconds * USEC_PER_SEC), text));
}

#define SHARE     cell_number, .scale = 100, .digits = 1, .unit = " %"
#define MEGABYTES cell_number, .digits = 1, .unit = "M"

static const Column overview_columns[] = {
        { ">ACTIVE", "overview.active", cell_count },
        { ">TOTAL", "overview.total", cell_count },
        { ">COMPLETED", "overview.completed", cell_count },
        { ">FAILED", "overview.failed", cell_count },
        { ">TIMEOUTS", "overview.timedOut", cell_count },
        { ">FAILURES", "overview.failureRate", SHARE },
        { ">LIFETIME", "overview.averageLifetimeSeconds", cell_seconds },
        { ">CPU", "resources.totalCpuSeconds", cell_seconds },
        { ">PEAK", "resources.peakMemoryMB", MEGABYTES },
};

/* Rows with a name: the name is put into a member of that name. */
static const Column step_columns[] = {
        { "STEP", "name" }, { ">COUNT", "count", cell_count }, { ">P50", "p50", cell_seconds }, { ">P95", "p95", cell_seconds },
        { ">P99", "p99", cell_seconds }, { ">MAX", "max", cell_seconds },
};

static const Column agent_columns[] = {
        { "AGENT TYPE", "name" },        { ">EXECUTIONS", "executions", cell_count },
        { ">SUCCESS", "successRate", SHARE }, { ">FAILURE", "failureRate", SHARE },
        { ">TIMEOUT", "timeoutRate", SHARE }, { ">TIME", "averageExecutionSeconds", cell_seconds },
        { ">CPU", "averageCpuSeconds", cell_seconds }, { ">MEMORY", "averageMemoryMB", MEGABYTES },
};

/* Each member of an object is a row; within: of each, only this member. */
static int metrics_show_members(const Column *columns, size_t n, const json_t *object, const char *within) {
        _cleanup_table_ Table *t = columns_table(columns, n);
        const char *name;
        json_t *value;

        json_object_foreach((json_t *) object, name, value) {
                const json_t *one = within ? json_object_get(value, within) : value;
                _cleanup_json_ json_t *row = one ? json_copy((json_t *) one) : json_object();

                (void) json_object_set_new(row, "name", json_stringn(name, strlen(name)));
                columns_add(t, columns, n, row);
        }
        return table_finish(t);
}

/* Percentiles exist for three windows; for five minutes, those of the hour are shown. */
static const char *metrics_window(const Common *c) {
        const char *window = common_query(c, "window");

        return !window || strcmp(window, "5m") == 0 ? "1h" : window;
}

static int metrics_show(const json_t *m, const Common *c) {
        _cleanup_table_ Table *t = columns_table(overview_columns, ELEMENTSOF(overview_columns));
        int status;

        columns_add(t, overview_columns, ELEMENTSOF(overview_columns), m);
        status = table_finish(t);
        putchar('\n');
        if (status == 0)
                status = metrics_show_members(agent_columns, ELEMENTSOF(agent_columns), json_object_get(m, "byAgentType"), /* within= */ NULL);
        putchar('\n');
        if (status == 0)
                status = metrics_show_members(step_columns, ELEMENTSOF(step_columns), json_object_get(m, "percentiles"), metrics_window(c));
        return status;
}

static int put_body(void *userdata, const void *data, size_t size) {
        return fwrite(data, 1, size, stdout) == size ? 0 : -EIO;
}

static int print_prometheus(const Place *place) {
        _cleanup_url_ Url u = url_of("/metrics");

        return client_receive(place, &u, "text/plain", put_body, /* sink_data= */ NULL, /* error= */ NULL) < 0 ? EXIT_OWN_FAILURE : 0;
}

static int metrics_run(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        _cleanup_answer_ Answer a = { 0 };

        if (common_said(o, "prometheus") && (o->queries.n > 0 || o->json))
                return verb_refuse("--prometheus has all metrics, in its own form: no --window, no --agent-type, no --json with it");
        if (common_said(o, "prometheus"))
                return print_prometheus(place);
        if (ask_need(place, options, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        return o->json ? ask_show(o, words, &a) : metrics_show(a.json, o);
}

const Verb command_metrics = {
        .synopsis = "metrics [options]",
        .about = "Shows metrics: overall totals, and rates and percentiles over a window.",
        VERB_OPTIONS(metrics_options), .run = metrics_run, .path = "/api/sandbox/metrics",
};
