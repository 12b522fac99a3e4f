#include "report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/macro.h"

/* A percentile of fewer runs than this is only the slowest of them under another name. */
#define REPORT_N_P95 20u
#define REPORT_N_P99 100u

#define REPORT_LOAD_BUSY 1.0

double report_p50(Row *row) {
        return (double) samples_quantile(&row->latency_usec, 500);
}

double report_ratio(double a, double b) {
        return a > 0 && b > 0 ? a / b : 0;
}

double report_rate(Row *row) {
        uint64_t usec = samples_quantile(&row->batch_usec, 500);

        return usec > 0 ? (double) PARALLEL_N * (double) USEC_PER_SEC / (double) usec : 0;
}

static void print_header(FILE *f, const Bench *b) {
        struct utsname name = {};

        (void) uname(&name);
        fprintf(f, "%s %s %s, %ld CPUs, load %.2f at the start. Times in ms, from start to end of a run.\n",
                        name.sysname, name.release, name.machine, sysconf(_SC_NPROCESSORS_ONLN), b->load);
        if (b->load > REPORT_LOAD_BUSY)
                fputs("The machine was busy with other things: take these numbers with care.\n", f);
}

static void print_cell(FILE *f, bool known, int width, int decimals, double value) {
        char text[32];

        (void) snprintf(text, sizeof(text), "%.*f", decimals, value);
        fprintf(f, " %*s", width, known ? text : "-");
}

static void print_latency(FILE *f, const char *label, Row *row) {
        Samples *s = &row->latency_usec;

        fprintf(f, "  %-22s %5zu", label, s->n);
        print_cell(f, s->n > 0, 9, 3, (double) samples_quantile(s, 500) / 1000);
        print_cell(f, s->n >= REPORT_N_P95, 9, 3, (double) samples_quantile(s, 950) / 1000);
        print_cell(f, s->n >= REPORT_N_P99, 9, 3, (double) samples_quantile(s, 990) / 1000);
}

static void print_rows(FILE *f, Bench *b, WorkloadId id) {
        Row *rows = b->rows[id];
        double floor = report_p50(rows + SUBJECT_NAMESPACES), cove = report_p50(rows + SUBJECT_COVE);
        bool batches = id == WORKLOAD_PARALLEL;

        fprintf(f, "\n%s\n  %-22s %5s %9s %9s %9s %9s %9s%s\n", workloads[id].title, "", "n", "p50", "p95",
                        "p99", "/ floor", "cove /", batches ? "   per s" : "");
        for (int s = 0; s < _SUBJECT_MAX; s++) {
                double p50 = report_p50(rows + s);

                if (rows[s].latency_usec.n == 0 && rows[s].n_failed == 0)
                        continue;
                print_latency(f, subject_types[s].name, rows + s);
                print_cell(f, report_ratio(p50, floor) > 0, 9, 2, report_ratio(p50, floor));
                print_cell(f, report_ratio(cove, p50) > 0, 9, 2, report_ratio(cove, p50));
                if (batches)
                        print_cell(f, report_rate(rows + s) > 0, 7, 0, report_rate(rows + s));
                fputc('\n', f);
        }
}

static void print_live(FILE *f, Bench *b) {
        const struct {
                const char *name;
                LiveRows *rows;
        } groups[] = {
                { "cove",       &b->live.cove    },
                { "namespaces", &b->live.control },
        };

        fprintf(f, "\n%s\n  %-22s %5s %9s %9s %9s\n", workloads[WORKLOAD_LIVE].title, "", "n", "p50", "p95",
                        "p99");
        for (size_t g = 0; g < ELEMENTSOF(groups); g++) {
                if (groups[g].rows->phases[LIVE_MANY].latency_usec.n == 0)
                        continue;
                for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++) {
                        char label[64];

                        (void) snprintf(label, sizeof(label), "%s, %zu live", groups[g].name,
                                        phase == LIVE_MANY ? b->live.n : 1);
                        print_latency(f, label, groups[g].rows->phases + phase);
                        fputc('\n', f);
                }
                fprintf(f, "  %-22s %5s %9.2f\n", "  median ratio", "", live_ratio(groups[g].rows));
        }
}

static void print_failures(FILE *f, Bench *b) {
        const Row *live = b->live.cove.phases;

        for (int w = 0; w < _WORKLOAD_MAX; w++)
                for (int s = 0; s < _SUBJECT_MAX; s++)
                        if (b->rows[w][s].n_failed > 0)
                                fprintf(f, "  %s: %zu runs of '%s' failed: %s\n", subject_types[s].name,
                                                b->rows[w][s].n_failed, workloads[w].name,
                                                b->rows[w][s].failure.text);
        for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++)
                if (live[phase].n_failed > 0)
                        fprintf(f, "  cove: %zu runs of 'live' failed: %s\n", live[phase].n_failed,
                                        live[phase].failure.text);
}

static bool any_failed(Bench *b) {
        size_t n = 0;

        for (int w = 0; w < _WORKLOAD_MAX; w++)
                for (int s = 0; s < _SUBJECT_MAX; s++)
                        n += b->rows[w][s].n_failed;
        for (int phase = 0; phase < _LIVE_PHASE_MAX; phase++)
                n += b->live.cove.phases[phase].n_failed;
        return n > 0;
}

static bool any_left_out(const Bench *b) {
        for (int s = 0; s < _SUBJECT_MAX; s++)
                if (b->subjects.items[s].reason.code != 0)
                        return true;
        return b->live.reason.code != 0;
}

static void print_left_out(FILE *f, Bench *b) {
        for (int s = 0; s < _SUBJECT_MAX; s++)
                if (b->subjects.items[s].reason.code != 0)
                        fprintf(f, "  %s: %s\n", subject_types[s].name, b->subjects.items[s].reason.text);
        if (b->live.reason.code != 0)
                fprintf(f, "  %s: %s\n", workloads[WORKLOAD_LIVE].name, b->live.reason.text);
}

static void print_verdict(FILE *f, const Verdict *v) {
        if (v->state == VERDICT_PASS || v->state == VERDICT_MISS)
                fprintf(f, "  %-9s  %-46s  %.2f, limit %.2f%s\n", verdict_state_to_string(v->state), v->text,
                                v->measured, v->limit, v->n_failed > 0 ? ", but runs failed" : "");
        else
                fprintf(f, "  %-9s  %s\n", verdict_state_to_string(v->state), v->text);
}

void report_table(FILE *f, Bench *b, const Verdict verdicts[static _VERDICT_MAX]) {
        print_header(f, b);
        for (int id = 0; id < _WORKLOAD_MAX; id++)
                if (b->selected[id] && id != WORKLOAD_LIVE)
                        print_rows(f, b, id);
        if (b->selected[WORKLOAD_LIVE] && b->live.done)
                print_live(f, b);
        if (any_left_out(b)) {
                fputs("\nLeft out\n", f);
                print_left_out(f, b);
        }
        if (any_failed(b)) {
                fputs("\nFailed\n", f);
                print_failures(f, b);
        }
        fputs("\nMust show\n", f);
        for (int i = 0; i < _VERDICT_MAX; i++)
                print_verdict(f, verdicts + i);
}
