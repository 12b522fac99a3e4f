#include "serve-report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/macro.h"

#define MIB ((double) (1 << 20))

static double p50(Row *row) {
        return (double) samples_quantile(&row->latency_usec, 500);
}

static double median(Samples *s) {
        return (double) samples_quantile(s, 500);
}

static double over(double a, double b) {
        return a > 0 && b > 0 ? a / b : 0;
}

static double per_second(Row *row) {
        return over(SERVE_PARALLEL * 1e6, median(&row->batch_usec));
}

static double gigabytes_per_second(Samples *s) {
        return over((double) SERVE_STREAM / 1e3, median(s));
}

/* Of slower with many: a ratio of medians; the floor's own growth is the kernel's. */
static double growth(ServeBench *b, LiveCall call) {
        return over(p50(&b->live.calls[1][call]), p50(&b->live.calls[0][call]));
}

static double value_first(ServeBench *b) {
        return over(p50(b->rows + ROW_FIRST), p50(b->rows + ROW_NAMESPACES) + p50(b->rows + ROW_FORK_EXEC));
}

static double value_exec(ServeBench *b) {
        return over(p50(b->rows + ROW_EXEC_STATIC), p50(b->rows + ROW_FORK_EXEC));
}

static double value_burst(ServeBench *b) {
        return over(per_second(&b->burst), per_second(&b->burst_floor));
}

/* A gigabyte per second is enough, whatever the pipe does. */
static double value_stream(ServeBench *b) {
        double rate = gigabytes_per_second(&b->stream_usec);

        return MAX_OF(over(rate, gigabytes_per_second(&b->pipe_usec)), rate >= 1 ? 0.5 : 0);
}

static double memory_by_kind(const LiveMemory *m) {
        return (double) kinds_sum(&m->kinds) / MIB;
}

/* Two ways to count, both with what others do in those seconds in them: the larger one. */
static double value_memory(ServeBench *b) {
        const LiveMemory *m = &b->live.memory;

        if (!b->live.done)
                return 0;
        return MAX_OF((double) m->kinds.available / MIB, memory_by_kind(m)) / (double) b->live.n;
}

static double value_idle(ServeBench *b) {
        return b->live.done ? (double) b->live.idle_ticks + 1e-9 : 0;
}

static double value_list(ServeBench *b) {
        return growth(b, LIVE_CALL_LIST);
}

static double value_stats(ServeBench *b) {
        return growth(b, LIVE_CALL_STATS);
}

/* Beyond what the kernel's own floor grows by at the same moments. */
static double value_create(ServeBench *b) {
        double floor = over(p50(b->live.floor + 1), p50(b->live.floor));

        return over(growth(b, LIVE_CALL_FIRST), MAX_OF(floor, 1.0));
}

static double value_adopt(ServeBench *b) {
        return median(&b->live.adopt_usec) / 1e6;
}

static double value_lost(ServeBench *b) {
        return b->live.done ? (double) b->live.n_lost + 1e-9 : 0;
}

static double value_warm(ServeBench *b) {
        return over(p50(b->warm.rows + WARM_WARM), p50(b->warm.rows + WARM_FORK_EXEC));
}

static double value_half(ServeBench *b) {
        return over(p50(b->warm.rows + WARM_WARM), p50(b->warm.rows + WARM_COLD));
}

typedef struct Promise {
        ServeWorkload workload;
        double (*value)(ServeBench *b); /* 0: not shown */
        double limit;
        bool at_least;
        const char *name, *text;
} Promise;

/* clang-format off: a table */
static const Promise promises[] = {
        { SERVE_LATENCY,   value_first,  2.0,   false, "create",  "create + first command: p50 over namespaces + fork-exec" },
        { SERVE_LATENCY,   value_exec,   2.0,   false, "exec",    "exec of the same static true: p50 over fork-exec"        },
        { SERVE_BURST,     value_burst,  0.5,   true,  "burst",   "100 at once: rate over that of the namespaces floor"     },
        { SERVE_STREAMING, value_stream, 0.5,   true,  "stream",  "1 GiB of output: rate over a bare pipe's (or 1 GB/s)"    },
        { SERVE_LIVE,      value_memory, 0.64,  false, "memory",  "MiB of memory for each idle sandbox, all included"       },
        { SERVE_LIVE,      value_idle,   1.001, false, "idle",    "hundredths of a second of CPU in 10 s of rest"           },
        { SERVE_LIVE,      value_list,   1.3,   false, "list",    "list with all live over list with one"                   },
        { SERVE_LIVE,      value_stats,  1.3,   false, "stats",   "stats with all live over stats with one"                 },
        { SERVE_LIVE,      value_create, 1.3,   false, "created", "create + first command likewise, beyond the floor's"     },
        { SERVE_LIVE,      value_adopt,  3.0,   false, "restart", "seconds until a killed daemon has found all of them"     },
        { SERVE_LIVE,      value_lost,   0.5,   false, "lost",    "of them, not found again"                                },
        { SERVE_WARM,      value_warm,   3.0,   false, "warm",    "claim + first output: p50 over fork-exec"                },
        { SERVE_WARM,      value_half,   0.5,   false, "half",    "claim + first output: p50 over create + first output"    },
};
/* clang-format on */

static bool holds(const Promise *p, double value) {
        return value > 0 && (p->at_least ? value >= p->limit : value <= p->limit);
}

static size_t n_failed(ServeBench *b) {
        size_t n = b->burst.n_failed;

        for (int i = 0; i < _ROW_MAX; i++)
                n += b->rows[i].n_failed;
        n += b->warm.burst.n_failed;
        for (int i = 0; i < _WARM_MAX; i++)
                n += b->warm.rows[i].n_failed;
        for (int phase = 0; phase < 2; phase++)
                for (int call = 0; call < _LIVE_CALL_MAX; call++)
                        n += b->live.calls[phase][call].n_failed;
        return n;
}

bool serve_promises_hold(ServeBench *b) {
        for (size_t i = 0; i < ELEMENTSOF(promises); i++)
                if (b->selected[promises[i].workload] && !holds(promises + i, promises[i].value(b)))
                        return false;
        return n_failed(b) == 0;
}

static void print_row(FILE *f, const char *name, Row *row, double floor) {
        if (row->latency_usec.n == 0 && row->n_failed == 0)
                return;
        fprintf(f, "  %-22s %5zu %9.3f %9.3f", name, row->latency_usec.n, p50(row) / 1000,
                        (double) samples_quantile(&row->latency_usec, 950) / 1000);
        if (over(p50(row), floor) > 0)
                fprintf(f, " %9.2f", over(p50(row), floor));
        fputc('\n', f);
        if (row->n_failed > 0)
                fprintf(f, "    %zu failed: %s\n", row->n_failed, row->failure.text);
}

static void print_latency(FILE *f, ServeBench *b) {
        fprintf(f, "\nOne at a time, over a kept connection\n  %-22s %5s %9s %9s %9s\n", "", "n", "p50",
                        "p95", "/ fork-exec");
        for (int i = 0; i < _ROW_MAX; i++)
                print_row(f, serve_row_names[i], b->rows + i, p50(b->rows + ROW_FORK_EXEC));
        fprintf(f, "  what the dynamic loader adds to a `true`: %.3f\n",
                        (p50(b->rows + ROW_HOST) - p50(b->rows + ROW_FORK_EXEC)) / 1000);
}

static void print_burst(FILE *f, ServeBench *b) {
        fprintf(f, "\n%u at once\n  %-22s %5s %9s %9s   per s\n", SERVE_PARALLEL, "", "n", "p50", "p95");
        print_row(f, "create+exec", &b->burst, /* floor= */ 0);
        print_row(f, "namespaces", &b->burst_floor, /* floor= */ 0);
        fprintf(f, "  per second: %.0f, namespaces %.0f\n", per_second(&b->burst),
                        per_second(&b->burst_floor));
}

static void print_stream(FILE *f, ServeBench *b) {
        fprintf(f,
                        "\n1 GiB of output (dd, blocks of 128 KiB)\n  through journal and daemon: %.2f "
                        "GB/s; through a bare pipe: %.2f GB/s\n",
                        gigabytes_per_second(&b->stream_usec), gigabytes_per_second(&b->pipe_usec));
}

static void print_live(FILE *f, ServeBench *b) {
        const LiveMemory *m = &b->live.memory;

        fprintf(f, "\n%zu idle sandboxes, made in %.1f s\n", b->live.n, (double) b->live.start_time / 1e6);
        fprintf(f, "  %-22s %9s %9s %9s\n", "p50", "with one", "with all", "ratio");
        for (int call = 0; call < _LIVE_CALL_MAX; call++)
                fprintf(f, "  %-22s %9.3f %9.3f %9.2f\n", live_call_names[call],
                                p50(&b->live.calls[0][call]) / 1000, p50(&b->live.calls[1][call]) / 1000,
                                growth(b, (LiveCall) call));
        fprintf(f, "  %-22s %9.3f %9.3f %9.2f\n", "namespaces floor", p50(b->live.floor) / 1000,
                        p50(b->live.floor + 1) / 1000, over(p50(b->live.floor + 1), p50(b->live.floor)));
        fprintf(f,
                        "  memory: %.0f MiB are missing from MemAvailable; by kind %.0f (anonymous %.0f, shared "
                        "%.0f, slab %.0f, page tables %.0f, stacks %.0f, per CPU %.0f)\n"
                        "  their cgroups are charged %.0f MiB; coved has %.1f\n",
                        (double) m->kinds.available / MIB, memory_by_kind(m), (double) m->kinds.anonymous / MIB,
                        (double) m->kinds.shared / MIB, (double) m->kinds.slab / MIB, (double) m->kinds.page_tables / MIB,
                        (double) m->kinds.stacks / MIB, (double) m->kinds.percpu / MIB, (double) m->charged / MIB, (double) m->daemon / MIB);
        fprintf(f, "  rest: %lu hundredths of a second of CPU in %.1f s\n",
                        (unsigned long) b->live.idle_ticks, (double) b->live.idle_time / 1e6);
        fprintf(f, "  kill -9 and restart: all found again after %.2f s (median of %zu), %zu lost\n",
                        value_adopt(b), b->live.adopt_usec.n, b->live.n_lost);
}

static void print_warm(FILE *f, ServeBench *b) {
        ServeWarm *w = &b->warm;

        fprintf(f, "\nWarm pool: a sandbox and the output of its first command\n  %-22s %5s %9s %9s %9s\n", "", "n", "p50", "p95",
                        "/ fork-exec");
        for (int i = 0; i < _WARM_MAX; i++)
                print_row(f, warm_row_names[i], w->rows + i, p50(w->rows + WARM_FORK_EXEC));
        fprintf(f, "  over the same echo as a bare process: %.2f\n", over(p50(w->rows + WARM_WARM), p50(w->rows + WARM_ECHO)));
        if (w->n_other > 0)
                fprintf(f, "  %zu were not what was meant, warm or cold\n", w->n_other);
        if (w->burst.latency_usec.n > 0)
                fprintf(f, "  %u at once: p50 %.3f, p99 %.3f, %.0f per second, %.0f%% of them warm\n", SERVE_PARALLEL,
                                p50(&w->burst) / 1000, (double) samples_quantile(&w->burst.latency_usec, 990) / 1000,
                                per_second(&w->burst), 100.0 * (double) w->burst_hits / (double) w->burst.latency_usec.n);
}

static void print_promises(FILE *f, ServeBench *b) {
        fputs("\nMust show\n", f);
        for (size_t i = 0; i < ELEMENTSOF(promises); i++) {
                const Promise *p = promises + i;
                double value = p->value(b);

                if (!b->selected[p->workload])
                        continue;
                fprintf(f, "  %-9s  %-60s  %.2f, %s %.2f\n",
                                value <= 0        ? "NOT SHOWN"
                                : holds(p, value) ? "PASS"
                                                  : "MISS",
                                p->text, value, p->at_least ? "at least" : "at most", p->limit);
        }
        if (n_failed(b) > 0)
                fprintf(f, "  MISS       %zu requests failed\n", n_failed(b));
}

void serve_report(FILE *f, ServeBench *b) {
        struct utsname name = {};

        (void) uname(&name);
        fprintf(f, "%s %s %s, %ld CPUs, load %.2f at the start. Times in ms.\n", name.sysname, name.release,
                        name.machine, sysconf(_SC_NPROCESSORS_ONLN), b->load);
        if (b->load > 1)
                fputs("The machine was busy with other things: take these numbers with care.\n", f);
        if (b->selected[SERVE_LATENCY])
                print_latency(f, b);
        if (b->selected[SERVE_BURST])
                print_burst(f, b);
        if (b->selected[SERVE_STREAMING])
                print_stream(f, b);
        if (b->selected[SERVE_LIVE] && b->live.done)
                print_live(f, b);
        if (b->selected[SERVE_WARM] && b->warm.done)
                print_warm(f, b);
        if (b->subjects.items[SUBJECT_DOCKER].reason.code != 0)
                fprintf(f, "\nLeft out\n  docker: %s\n", b->subjects.items[SUBJECT_DOCKER].reason.text);
        print_promises(f, b);
}

void serve_report_json(FILE *f, ServeBench *b) {
        const char *comma = "";

        fprintf(f, "{\n  \"load\": %.2f,\n  \"rows_us\": {", b->load);
        for (int i = 0; i < _ROW_MAX; i++) {
                Samples *s = &b->rows[i].latency_usec;

                if (s->n == 0)
                        continue;
                fprintf(f, "%s\n    \"%s\": {\"n\": %zu, \"failed\": %zu, \"p50\": %lu, \"p95\": %lu}",
                                comma, serve_row_names[i], s->n, b->rows[i].n_failed,
                                samples_quantile(s, 500), samples_quantile(s, 950));
                comma = ",";
        }
        for (int i = 0; i < _WARM_MAX; i++) {
                Samples *s = &b->warm.rows[i].latency_usec;

                if (s->n == 0)
                        continue;
                fprintf(f, "%s\n    \"warm-%s\": {\"n\": %zu, \"failed\": %zu, \"p50\": %lu, \"p95\": %lu}", comma,
                                warm_row_names[i], s->n, b->warm.rows[i].n_failed, samples_quantile(s, 500),
                                samples_quantile(s, 950));
                comma = ",";
        }
        fprintf(f, "\n  },\n  \"burst_per_second\": %.1f,\n  \"burst_floor_per_second\": %.1f,\n",
                        per_second(&b->burst), per_second(&b->burst_floor));
        if (b->warm.burst.latency_usec.n > 0)
                fprintf(f, "  \"warm_burst_us\": {\"p50\": %lu, \"p99\": %lu, \"hit_rate\": %.3f},\n",
                                samples_quantile(&b->warm.burst.latency_usec, 500),
                                samples_quantile(&b->warm.burst.latency_usec, 990),
                                (double) b->warm.burst_hits / (double) b->warm.burst.latency_usec.n);
        fprintf(f, "  \"stream_gb_per_second\": %.3f,\n  \"pipe_gb_per_second\": %.3f,\n  \"promises\": {",
                        gigabytes_per_second(&b->stream_usec), gigabytes_per_second(&b->pipe_usec));
        comma = "";
        for (size_t i = 0; i < ELEMENTSOF(promises); i++) {
                double value = promises[i].value(b);

                if (!b->selected[promises[i].workload])
                        continue;
                fprintf(f, "%s\n    \"%s\": {\"value\": %.4f, \"limit\": %.2f, \"holds\": %s}", comma,
                                promises[i].name, value, promises[i].limit,
                                holds(promises + i, value) ? "true" : "false");
                comma = ",";
        }
        fputs("\n  }\n}\n", f);
}
