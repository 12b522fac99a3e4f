#include <sys/utsname.h>
#include <unistd.h>

#include "report.h"

static const char *const phase_names[_LIVE_PHASE_MAX] = {
        [LIVE_ONE] = "one",
        [LIVE_MANY] = "many",
};

/* Reasons come from other programs' stderr. */
static void json_string(FILE *f, const char *text) {
        fputc('"', f);
        for (const unsigned char *c = (const unsigned char *) text; *c; c++)
                if (*c == '"' || *c == '\\')
                        fprintf(f, "\\%c", *c);
                else if (*c < 0x20 || *c >= 0x7f)
                        fputc('?', f);
                else
                        fputc(*c, f);
        fputc('"', f);
}

static void json_row(FILE *f, Row *row, double floor, double cove) {
        Samples *s = &row->latency_usec;
        double p50 = report_p50(row);

        fprintf(f, "{\"n\": %zu, \"failed\": %zu, \"p50_us\": %lu, \"p95_us\": %lu, \"p99_us\": %lu", s->n,
                        row->n_failed, samples_quantile(s, 500), samples_quantile(s, 950),
                        samples_quantile(s, 990));
        if (report_ratio(p50, floor) > 0)
                fprintf(f, ", \"to_floor\": %.4f", report_ratio(p50, floor));
        if (report_ratio(cove, p50) > 0)
                fprintf(f, ", \"cove_to_this\": %.4f", report_ratio(cove, p50));
        if (report_rate(row) > 0)
                fprintf(f, ", \"per_second\": %.1f", report_rate(row));
        fputc('}', f);
}

static void json_workload(FILE *f, Bench *b, WorkloadId id) {
        Row *rows = b->rows[id];
        double floor = report_p50(rows + SUBJECT_NAMESPACES), cove = report_p50(rows + SUBJECT_COVE);
        const char *comma = "";

        fprintf(f, "    \"%s\": {", workloads[id].name);
        for (int s = 0; s < _SUBJECT_MAX; s++) {
                if (rows[s].latency_usec.n == 0 && rows[s].n_failed == 0)
                        continue;
                fprintf(f, "%s\n      \"%s\": ", comma, subject_types[s].name);
                json_row(f, rows + s, floor, cove);
                comma = ",";
        }
        fputs("\n    }", f);
}

static void json_live_rows(FILE *f, const char *name, LiveRows *rows) {
        fprintf(f, "    \"%s\": {\"ratio\": %.4f", name, live_ratio(rows));
        for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++) {
                fprintf(f, ",\n      \"%s\": ", phase_names[phase]);
                json_row(f, rows->phases + phase, /* floor= */ 0, /* cove= */ 0);
        }
        fputc('}', f);
}

static void json_live(FILE *f, Bench *b) {
        fprintf(f, "  \"live\": {\"n\": %zu,\n", b->live.n);
        json_live_rows(f, "cove", &b->live.cove);
        fputs(",\n", f);
        json_live_rows(f, "namespaces", &b->live.control);
        fputs("\n  },\n", f);
}

static void json_left_out(FILE *f, Bench *b) {
        const char *comma = "";

        fputs("  \"left_out\": {", f);
        for (int s = 0; s < _SUBJECT_MAX; s++)
                if (b->subjects.items[s].reason.code != 0) {
                        fprintf(f, "%s\n    \"%s\": ", comma, subject_types[s].name);
                        json_string(f, b->subjects.items[s].reason.text);
                        comma = ",";
                }
        if (b->live.reason.code != 0) {
                fprintf(f, "%s\n    \"%s\": ", comma, workloads[WORKLOAD_LIVE].name);
                json_string(f, b->live.reason.text);
        }
        fputs("\n  },\n", f);
}

static void json_verdicts(FILE *f, const Verdict verdicts[static _VERDICT_MAX]) {
        fputs("  \"must_show\": [", f);
        for (int i = 0; i < _VERDICT_MAX; i++) {
                fprintf(f, "%s\n    {\"what\": ", i ? "," : "");
                json_string(f, verdicts[i].text);
                fprintf(f, ", \"measured\": %.4f, \"limit\": %.2f, \"state\": \"%s\"}", verdicts[i].measured,
                                verdicts[i].limit, verdict_state_to_string(verdicts[i].state));
        }
        fputs("\n  ]\n", f);
}

void report_json(FILE *f, Bench *b, const Verdict verdicts[static _VERDICT_MAX]) {
        struct utsname name = {};
        const char *comma = "";

        (void) uname(&name);
        fprintf(f, "{\n  \"kernel\": \"%s\", \"cpus\": %ld, \"load\": %.2f, \"rounds\": %u,\n  \"workloads\": {",
                        name.release, sysconf(_SC_NPROCESSORS_ONLN), b->load, b->rounds);
        for (int id = 0; id < _WORKLOAD_MAX; id++)
                if (b->selected[id] && id != WORKLOAD_LIVE) {
                        fprintf(f, "%s\n", comma);
                        json_workload(f, b, id);
                        comma = ",";
                }
        fputs("\n  },\n", f);
        if (b->live.done)
                json_live(f, b);
        json_left_out(f, b);
        json_verdicts(f, verdicts);
        fputs("}\n", f);
}
