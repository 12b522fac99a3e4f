#include "scale-report.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MIB        ((double) (1 << 20))
#define KIB        1024.0
#define AT_ONCE    100.0
#define NAME_WIDTH 46

static double over(double a, double b) {
        return a > 0 && b > 0 ? a / b : NAN;
}

/* Whichever is a number. */
static double larger(double a, double b) {
        return isnan(a) || b > a ? b : a;
}

static double ms(Row *row, unsigned permille) {
        return row->latency_usec.n > 0 ? (double) samples_quantile(&row->latency_usec, permille) / 1000 : NAN;
}

static double rate(Row *row) {
        return over(AT_ONCE * 1e6, (double) samples_quantile(&row->batch_usec, 500));
}

static double each(const ScaleLevel *l, int64_t bytes) {
        return l->live > 0 ? (double) bytes / (double) l->live : NAN;
}

/* The lines of the table: a name with which JSON knows it, words, and the value at a level; `i` is the line's own argument: which
 * storm, which number of clients. */
typedef struct Line {
        const char *key, *text;
        double (*value)(ScaleLevel *l, size_t i);
        size_t i;
} Line;

/* clang-format off: a table */
static double fork_ms(ScaleLevel *l, size_t i)     { return ms(l->rows + ROW_FORK_EXEC, 500); }
static double floor_ms(ScaleLevel *l, size_t i)    { return ms(l->rows + ROW_NAMESPACES, 500); }
static double fork_rate(ScaleLevel *l, size_t i)   { return rate(&l->fork_at_once); }
static double floor_rate(ScaleLevel *l, size_t i)  { return rate(&l->floor_at_once); }
static double row_p50(ScaleLevel *l, size_t i)     { return ms(l->rows + i, 500); }
static double row_p99(ScaleLevel *l, size_t i)     { return ms(l->rows + i, 990); }
static double first_over(ScaleLevel *l, size_t i)  { return over(row_p50(l, ROW_FIRST), fork_ms(l, 0)); }
static double creates(ScaleLevel *l, size_t i)     { return l->storms[i].creates_per_second; }
static double creates_over(ScaleLevel *l, size_t i) { return over(creates(l, i), floor_rate(l, 0)); }
static double create_p99(ScaleLevel *l, size_t i)  { return ms(&l->storms[i].create, 990); }
static double deletes(ScaleLevel *l, size_t i)     { return l->storms[i].deletes_per_second; }
static double pair_coved(ScaleLevel *l, size_t i)  { return l->storms[i].cpu.coved; }
static double pair_spawn(ScaleLevel *l, size_t i)  { return l->storms[i].cpu.spawner; }
static double commands(ScaleLevel *l, size_t i)    { return l->commands[i].per_second; }
static double command_p99(ScaleLevel *l, size_t i) { return ms(&l->commands[i].exec, 990); }
static double command_cpu(ScaleLevel *l, size_t i) { return l->commands[i].cpu.coved; }
static double alone_p99(ScaleLevel *l, size_t i)   { return ms(&l->alone, 990); }
static double beside_p99(ScaleLevel *l, size_t i)  { return ms(&l->beside, 990); }
static double fairness(ScaleLevel *l, size_t i)    { return over(beside_p99(l, 0), alone_p99(l, 0)); }
static double memory(ScaleLevel *l, size_t i)      { return each(l, MAX_OF(l->memory.available, kinds_sum(&l->memory))) / MIB; }
static double memory_anon(ScaleLevel *l, size_t i) { return each(l, l->memory.anonymous) / KIB; }
static double memory_shm(ScaleLevel *l, size_t i)  { return each(l, l->memory.shared) / KIB; }
static double memory_slab(ScaleLevel *l, size_t i) { return each(l, l->memory.slab) / KIB; }
static double memory_page(ScaleLevel *l, size_t i) { return each(l, l->memory.page_tables) / KIB; }
static double memory_stck(ScaleLevel *l, size_t i) { return each(l, l->memory.stacks) / KIB; }
static double memory_cpu(ScaleLevel *l, size_t i)  { return each(l, l->memory.percpu) / KIB; }
static double seconds(ScaleLevel *l, size_t i)     { return l->restart_seconds; }
static double lost(ScaleLevel *l, size_t i)        { return (double) l->n_lost; }
static double filled(ScaleLevel *l, size_t i)      { return l->fill_seconds; }
static double load(ScaleLevel *l, size_t i)        { return l->load; }

static const Line lines_before[] = {
        { "load",                     "load of the machine before",                     load,         0              },
        { "fork_exec_ms",             "floor: fork+exec, p50 (ms)",                     fork_ms,      0              },
        { "namespaces_ms",            "floor: namespaces, p50 (ms)",                    floor_ms,     0              },
        { "fork_exec_per_second",     "floor: fork+exec, 100 at once, per second",      fork_rate,    0              },
        { "namespaces_per_second",    "floor: namespaces, 100 at once, per second",     floor_rate,   0              },
        { "creates_per_second_1",     "creates per second by 1 client",                 creates,      0              },
        { "creates_per_second",       "creates per second by 32 clients",               creates,      1              },
        { "creates_over_floor",       "  over the namespaces floor's rate",             creates_over, 1              },
        { "create_storm_p99_ms",      "  p99 of such a create (ms)",                    create_p99,   1              },
        { "deletes_per_second",       "deletes per second by 32 clients",               deletes,      1              },
        { "create_ms",                "create, one client, p50 (ms)",                   row_p50,      ROW_CREATE     },
        { "create_p99_ms",            "  p99",                                          row_p99,      ROW_CREATE     },
        { "first_ms",                 "create + first command, one client, p50 (ms)",   row_p50,      ROW_FIRST      },
        { "first_p99_ms",             "  p99",                                          row_p99,      ROW_FIRST      },
        { "first_over_fork_exec",     "  p50 over fork+exec",                           first_over,   0              },
        { "exec_ms",                  "command, one client, p50 (ms)",                  row_p50,      ROW_EXEC       },
        { "delete_ms",                "delete, one client, p50 (ms)",                   row_p50,      ROW_DELETE     },
        { "delete_p99_ms",            "  p99",                                          row_p99,      ROW_DELETE     },
        { "pair_coved_ms_1",          "coved's CPU per create+delete, 1 client (ms)",   pair_coved,   0              },
        { "pair_coved_ms",            "  32 clients",                                   pair_coved,   1              },
        { "pair_spawner_ms_1",        "spawner's CPU per create+delete, 1 client (ms)", pair_spawn,   0              },
        { "pair_spawner_ms",          "  32 clients",                                   pair_spawn,   1              },
};

static const Line lines_after[] = {
        { "alone_p99_ms",             "exec on a kept connection, alone, p99 (ms)",     alone_p99,    0              },
        { "beside_p99_ms",            "  beside 32 creating clients, p99 (ms)",         beside_p99,   0              },
        { "fairness",                 "  ratio",                                        fairness,     0              },
        { "memory_mib",               "memory of an idle sandbox (MiB)",                memory,       0              },
        { "memory_anonymous_kib",     "  anonymous (KiB)",                              memory_anon,  0              },
        { "memory_shared_kib",        "  shared: tmpfs (KiB)",                          memory_shm,   0              },
        { "memory_slab_kib",          "  slab (KiB)",                                   memory_slab,  0              },
        { "memory_page_tables_kib",   "  page tables (KiB)",                            memory_page,  0              },
        { "memory_stacks_kib",        "  stacks (KiB)",                                 memory_stck,  0              },
        { "memory_percpu_kib",        "  per CPU (KiB)",                                memory_cpu,   0              },
        { "fill_seconds",             "made beyond the level before (s)",               filled,       0              },
        { "restart_seconds",          "kill -9, until all are adopted (s)",             seconds,      0              },
        { "lost",                     "  of them lost",                                 lost,         0              },
};
/* clang-format on */

typedef struct Promise {
        double (*value)(ScaleBench *b); /* NAN: not shown */
        double limit;
        bool at_least, per_core; /* wanted of SCALE_CORES, of fewer in proportion */
        const char *name, *text;
} Promise;

static ScaleLevel *first_level(ScaleBench *b) {
        for (size_t i = 0; i < b->n_levels; i++)
                if (b->levels[i].done)
                        return b->levels + i;
        return NULL;
}

/* The highest of them over the lowest level. */
static double growth(ScaleBench *b, double (*value)(ScaleLevel *l, size_t i), size_t i) {
        ScaleLevel *first = first_level(b), *last = NULL;

        for (size_t k = 0; k < b->n_levels; k++)
                if (b->levels[k].done)
                        last = b->levels + k;
        return last && last != first ? over(value(last, i), value(first, i)) : NAN;
}

static double at_first(ScaleBench *b, double (*value)(ScaleLevel *l, size_t i), size_t i) {
        ScaleLevel *l = first_level(b);

        return l ? value(l, i) : NAN;
}

/* The largest at any level. */
static double worst(ScaleBench *b, double (*value)(ScaleLevel *l, size_t i), size_t i) {
        double most = NAN;

        for (size_t k = 0; k < b->n_levels; k++)
                if (b->levels[k].done)
                        most = larger(most, value(b->levels + k, i));
        return most;
}

/* Most clients over the number that did best. */
static double kept(ScaleLevel *l, size_t n_counts) {
        double best = 0;

        for (size_t i = 0; i < n_counts; i++)
                best = larger(best, commands(l, i));
        return n_counts > 1 ? over(commands(l, n_counts - 1), best) : NAN;
}

static double most_commands(ScaleLevel *l, size_t n_counts) {
        double best = NAN;

        for (size_t i = 0; i < n_counts; i++)
                best = larger(best, commands(l, i));
        return best;
}

static double most_cpu(ScaleLevel *l, size_t n_counts) {
        double most = NAN;

        for (size_t i = 0; i < n_counts; i++)
                most = larger(most, command_cpu(l, i));
        return most;
}

/* clang-format off: a table */
static double value_creates(ScaleBench *b)      { return at_first(b, creates, 1); }
static double value_creates_flat(ScaleBench *b) { return growth(b, creates, 1); }
static double value_first(ScaleBench *b)        { return worst(b, first_over, 0); }
static double value_first_flat(ScaleBench *b)   { return growth(b, row_p50, ROW_FIRST); }
static double value_delete(ScaleBench *b)       { return worst(b, row_p50, ROW_DELETE); }
static double value_commands(ScaleBench *b)     { return at_first(b, most_commands, b->n_counts); }
static double value_kept(ScaleBench *b)         { return at_first(b, kept, b->n_counts); }
static double value_command_cpu(ScaleBench *b)  { return worst(b, most_cpu, b->n_counts); }
static double value_pair_coved(ScaleBench *b)   { return worst(b, pair_coved, 1); }
static double value_pair_spawn(ScaleBench *b)   { return worst(b, pair_spawn, 1); }
static double value_fairness(ScaleBench *b)     { return worst(b, fairness, 0); }
static double value_memory(ScaleBench *b)       { return worst(b, memory, 0); }
static double value_restart(ScaleBench *b)      { return worst(b, seconds, 0); }
static double value_lost(ScaleBench *b)         { return worst(b, lost, 0); }
static double value_refused(ScaleBench *b)      { return b->limit.done ? b->limit.status == 503 && b->limit.cure : NAN; }
static double value_unchanged(ScaleBench *b)    { return b->limit.done ? b->limit.unchanged : NAN; }

static const Promise promises[] = {
        { value_creates,      2500, true,  true,  "creates",      "creates per second by 32 clients (16 cores; fewer: in proportion)" },
        { value_creates_flat, 0.9,  true,  false, "creates-flat", "of them at the highest level, to those at the lowest"              },
        { value_first,        4.0,  false, false, "first",        "create + first command over fork+exec, at any level"               },
        { value_first_flat,   1.15, false, false, "first-flat",   "the same at the highest level to the lowest"                       },
        { value_delete,       0.8,  false, false, "delete",       "delete, at any level (ms)"                                         },
        { value_commands,    12000, true,  true,  "commands",     "commands per second (16 cores; fewer: in proportion)"              },
        { value_kept,         0.9,  true,  false, "commands-kept", "of them with most clients, to the best number of clients"         },
        { value_command_cpu,  0.06, false, false, "command-cpu",  "coved's CPU per command, at most (ms)"                             },
        { value_pair_coved,   0.15, false, false, "pair-coved",   "coved's CPU per create+delete by 32 clients (ms)"                  },
        { value_pair_spawn,   0.15, false, false, "pair-spawner", "spawner's CPU per create+delete by 32 clients (ms)"                },
        { value_fairness,     3.0,  false, false, "fairness",     "p99 of exec beside 32 creating clients over alone"                 },
        { value_memory,       0.75, false, false, "memory",       "memory of an idle sandbox, at any level (MiB)"                     },
        { value_restart,      1.5,  false, false, "restart",      "seconds until a killed daemon has adopted all"                     },
        { value_lost,         0,    false, false, "lost",         "of them, lost"                                                     },
        { value_refused,      1,    true,  false, "refused",      "at the limit of open files: 503 and the cure"                      },
        { value_unchanged,    1,    true,  false, "unchanged",    "at the limit of open files: nothing else changes"                  },
};
/* clang-format on */

static double limit_of(const Promise *p) {
        double cores = (double) sysconf(_SC_NPROCESSORS_ONLN);

        return p->per_core && cores < SCALE_CORES ? p->limit * cores / SCALE_CORES : p->limit;
}

static bool holds(const Promise *p, double value) {
        return p->at_least ? value >= limit_of(p) : value <= limit_of(p);
}

static size_t level_failed(const ScaleLevel *l, const Error **first) {
        const Row *rows[_ROW_MAX + 4 + SCALE_COUNTS + 4];
        size_t n = 0, failed = 0;

        for (int i = 0; i < _ROW_MAX; i++)
                rows[n++] = l->rows + i;
        for (size_t i = 0; i < ELEMENTSOF(l->storms); i++) {
                rows[n++] = &l->storms[i].create;
                rows[n++] = &l->storms[i].delete;
        }
        for (size_t i = 0; i < SCALE_COUNTS; i++)
                rows[n++] = &l->commands[i].exec;
        rows[n++] = &l->fork_at_once;
        rows[n++] = &l->floor_at_once;
        rows[n++] = &l->alone;
        rows[n++] = &l->beside;
        for (size_t i = 0; i < n; i++) {
                if (rows[i]->n_failed > 0 && failed == 0)
                        *first = &rows[i]->failure;
                failed += rows[i]->n_failed;
        }
        return failed;
}

bool scale_promises_hold(ScaleBench *b) {
        const Error *ignored;

        for (size_t i = 0; i < ELEMENTSOF(promises); i++)
                if (!holds(promises + i, promises[i].value(b)))
                        return false;
        for (size_t i = 0; i < b->n_levels; i++)
                if (level_failed(b->levels + i, &ignored) > 0)
                        return false;
        return true;
}

static void print_number(FILE *f, double value) {
        if (isnan(value))
                fprintf(f, " %10s", "-");
        else
                fprintf(f, " %10.*f", fabs(value) >= 1000 || fabs(value) < 0.0005 ? 0 : fabs(value) >= 100 ? 1 : 3, value);
}

static void print_line(FILE *f, ScaleBench *b, const char *text, const Line *line) {
        fprintf(f, "  %-*s", NAME_WIDTH, text);
        for (size_t i = 0; i < b->n_levels; i++)
                if (b->levels[i].done)
                        print_number(f, line->value(b->levels + i, line->i));
        fputc('\n', f);
}

static void print_commands(FILE *f, ScaleBench *b) {
        for (size_t i = 0; i < b->n_counts; i++) {
                const Line shown[] = { { .value = commands, .i = i }, { .value = command_p99, .i = i }, { .value = command_cpu, .i = i } };
                char text[64];

                (void) snprintf(text, sizeof(text), "commands per second by %zu client%s", b->clients[i], b->clients[i] == 1 ? "" : "s");
                print_line(f, b, text, shown);
                print_line(f, b, "  p99 (ms)", shown + 1);
                print_line(f, b, "  coved's CPU per command (ms)", shown + 2);
        }
}

static void print_limit(FILE *f, const ScaleLimit *l) {
        if (!l->done)
                return;
        fprintf(f, "\nAt the limit of open files (%u)\n  %zu sandboxes were made; the next was refused with %d%s; ", l->files, l->n_made,
                        l->status, l->cure ? ", and the cure" : "");
        fprintf(f, "%s\n", l->unchanged ? "nothing else changed" : l->reason.code ? l->reason.text : "the daemon is not as it was");
}

static void print_promises(FILE *f, ScaleBench *b) {
        fputs("\nMust show\n", f);
        for (size_t i = 0; i < ELEMENTSOF(promises); i++) {
                const Promise *p = promises + i;
                double value = p->value(b);

                fprintf(f, "  %-9s  %-68s  %.2f, %s %.2f\n", isnan(value) ? "NOT SHOWN" : holds(p, value) ? "PASS" : "MISS", p->text,
                                value, p->at_least ? "at least" : "at most", limit_of(p));
        }
}

void scale_report(FILE *f, ScaleBench *b) {
        struct utsname name = {};

        (void) uname(&name);
        fprintf(f, "%s %s %s, %ld CPUs, load %.2f at the start\n\n  %-*s", name.sysname, name.release, name.machine,
                        sysconf(_SC_NPROCESSORS_ONLN), b->serve.load, NAME_WIDTH, "live sandboxes");
        for (size_t i = 0; i < b->n_levels; i++)
                if (b->levels[i].done)
                        fprintf(f, " %10zu", b->levels[i].live);
        fputc('\n', f);
        for (size_t i = 0; i < ELEMENTSOF(lines_before); i++)
                print_line(f, b, lines_before[i].text, lines_before + i);
        print_commands(f, b);
        for (size_t i = 0; i < ELEMENTSOF(lines_after); i++)
                print_line(f, b, lines_after[i].text, lines_after + i);
        print_limit(f, &b->limit);
        for (size_t i = 0; i < b->n_levels; i++) {
                const Error *first = NULL;
                size_t failed = level_failed(b->levels + i, &first);

                if (failed > 0)
                        fprintf(f, "\nAt %zu live %zu requests failed: %s\n", b->levels[i].live, failed, first->text);
                if (b->levels[i].left_out.code != 0)
                        fprintf(f, "\nLeft out: %zu live: %s\n", b->levels[i].live, b->levels[i].left_out.text);
        }
        print_promises(f, b);
}

static void json_number(FILE *f, const char *comma, const char *key, double value) {
        if (isnan(value))
                fprintf(f, "%s\"%s\": null", comma, key);
        else
                fprintf(f, "%s\"%s\": %.4f", comma, key, value);
}

static void json_level(FILE *f, ScaleBench *b, ScaleLevel *l) {
        const Error *first = NULL;

        fprintf(f, "    {\"live\": %zu, \"failed\": %zu", l->live, level_failed(l, &first));
        if (l->left_out.code != 0)
                fprintf(f, ", \"left_out\": \"%s\"", l->left_out.text); /* words of scale-room.c: nothing to quote in them */
        for (size_t i = 0; i < ELEMENTSOF(lines_before) && l->done; i++)
                json_number(f, ",\n     ", lines_before[i].key, lines_before[i].value(l, lines_before[i].i));
        for (size_t i = 0; i < ELEMENTSOF(lines_after) && l->done; i++)
                json_number(f, ",\n     ", lines_after[i].key, lines_after[i].value(l, lines_after[i].i));
        fputs(l->done ? ",\n     \"commands\": [" : "", f);
        for (size_t i = 0; i < b->n_counts && l->done; i++) {
                fprintf(f, "%s\n      {\"clients\": %zu", i > 0 ? "," : "", b->clients[i]);
                json_number(f, ", ", "per_second", commands(l, i));
                json_number(f, ", ", "p50_ms", ms(&l->commands[i].exec, 500));
                json_number(f, ", ", "p99_ms", command_p99(l, i));
                json_number(f, ", ", "coved_ms", command_cpu(l, i));
                json_number(f, ", ", "spawner_ms", l->commands[i].cpu.spawner);
                fputc('}', f);
        }
        fputs(l->done ? "]}" : "}", f);
}

void scale_report_json(FILE *f, ScaleBench *b) {
        fprintf(f, "{\n  \"cpus\": %ld,\n  \"load\": %.2f,\n  \"levels\": [", sysconf(_SC_NPROCESSORS_ONLN), b->serve.load);
        for (size_t i = 0; i < b->n_levels; i++) {
                fputs(i > 0 ? ",\n" : "\n", f);
                json_level(f, b, b->levels + i);
        }
        fputs("\n  ],\n", f);
        if (b->limit.done)
                fprintf(f, "  \"limit\": {\"files\": %u, \"made\": %zu, \"status\": %d, \"cure\": %s, \"unchanged\": %s},\n", b->limit.files,
                                b->limit.n_made, b->limit.status, b->limit.cure ? "true" : "false",
                                b->limit.unchanged ? "true" : "false");
        fputs("  \"promises\": {", f);
        for (size_t i = 0; i < ELEMENTSOF(promises); i++) {
                double value = promises[i].value(b);

                fprintf(f, "%s\n    \"%s\": {", i > 0 ? "," : "", promises[i].name);
                json_number(f, "", "value", value);
                fprintf(f, ", \"limit\": %.4f, \"holds\": %s}", limit_of(promises + i), holds(promises + i, value) ? "true" : "false");
        }
        fputs("\n  }\n}\n", f);
}
