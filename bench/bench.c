/* bench.c: cove-bench, the same commands through cove, its floors and its peers, side by side in one run.
 *
 * This file: options, and the order of things. The processes are drawn in scratch.h. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "child.h"
#include "report.h"
#include "scratch.h"
#include "verdict.h"
#include "workload.h"

#define BENCH_ROUNDS        200u
#define BENCH_ROUNDS_MAX    100000u
#define BENCH_BATCHES       5u
#define BENCH_WARMUP        3u
#define BENCH_LIVE          500u
#define BENCH_CYCLES        5u
#define BENCH_ROUNDS_QUICK  30u
#define BENCH_BATCHES_QUICK 1u
#define BENCH_CYCLES_QUICK  2u

enum {
        EXIT_MISSED = 1, /* with --check */
        EXIT_TROUBLE = 2,
        EXIT_INTERRUPTED = 130,
};

static unsigned arg_rounds = 0, arg_live = BENCH_LIVE;
static bool arg_quick = false, arg_check = false;
static const char *arg_only = NULL, *arg_json = NULL, *arg_cove = NULL;

static void help(void) {
        puts("cove-bench [options]\n"
             "\n"
             "Runs the same commands through cove, its floors and its peers, interleaved, and compares.\n"
             "\n"
             "  --rounds N      rounds per workload (200)\n"
             "  --live N        sandboxes alive in workload 'live' (500)\n"
             "  --quick         30 rounds, one parallel batch\n"
             "  --only NAME,..  these subjects, these workloads\n"
             "  --cove PATH     the cove to measure (that of the same build)\n"
             "  --json FILE     write the numbers there as well\n"
             "  --check         exit status 1 when something that must be shown is not\n"
             "  --help          this text\n"
             "\n"
             "Subjects:");
        for (int id = 0; id < _SUBJECT_MAX; id++)
                printf("  %-14s  %s\n", subject_types[id].name, subject_types[id].what);
        puts("Workloads:");
        for (int id = 0; id < _WORKLOAD_MAX; id++)
                printf("  %-14s  %s\n", workloads[id].name, workloads[id].title);
}

static int parse_count(const char *option, const char *text, unsigned *ret) {
        uint64_t value;
        int r;

        r = parse_uint64(text, 2, BENCH_ROUNDS_MAX, &value);
        if (r < 0) {
                fprintf(stderr, "cove-bench: --%s '%s': want a number from 2 to %u\n", option, text,
                                BENCH_ROUNDS_MAX);
                return r;
        }
        *ret = (unsigned) value;
        return 0;
}

/* 0 to go on, 1 when all is said, negative when the arguments are wrong. */
static int parse_args(int argc, char *argv[]) {
        static const struct option options[] = {
                { "rounds", required_argument, NULL, 'r' },
                { "live",   required_argument, NULL, 'l' },
                { "quick",  no_argument,       NULL, 'q' },
                { "only",   required_argument, NULL, 'o' },
                { "cove",   required_argument, NULL, 'c' },
                { "json",   required_argument, NULL, 'j' },
                { "check",  no_argument,       NULL, 'k' },
                { "help",   no_argument,       NULL, 'h' },
                {}
        };

        for (int c, r; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
                r = 0;
                switch (c) {
                case 'r': r = parse_count("rounds", optarg, &arg_rounds); break;
                case 'l': r = parse_count("live", optarg, &arg_live); break;
                case 'q': arg_quick = true; break;
                case 'o': arg_only = optarg; break;
                case 'c': arg_cove = optarg; break;
                case 'j': arg_json = optarg; break;
                case 'k': arg_check = true; break;
                case 'h': help(); return 1;
                default: return -EINVAL;
                }
                if (r < 0)
                        return r;
        }
        if (optind < argc) {
                fprintf(stderr, "cove-bench: unexpected argument '%s'\n", argv[optind]);
                return -EINVAL;
        }
        return 0;
}

static void select_all_unless_any(bool any_subject, bool any_workload, Bench *b) {
        for (int id = 0; id < _SUBJECT_MAX; id++)
                b->subjects.items[id].selected |= !any_subject;
        for (int id = 0; id < _WORKLOAD_MAX; id++)
                b->selected[id] |= !any_workload;
}

/* Names of subjects narrow the subjects, names of workloads the workloads. */
static int select_only(Bench *b, const char *only) {
        bool any_subject = false, any_workload = false;

        for (const char *p = only; p && *p;) {
                size_t n = strcspn(p, ",");
                SubjectId subject = subject_from_name(p, n);
                WorkloadId workload = workload_from_name(p, n);

                if (subject >= 0)
                        any_subject = b->subjects.items[subject].selected = true;
                else if (workload >= 0)
                        any_workload = b->selected[workload] = true;
                else {
                        fprintf(stderr, "cove-bench: --only '%.*s': no such subject or workload\n", (int) n,
                                        p);
                        return -EINVAL;
                }
                p += n + (p[n] == ',');
        }
        select_all_unless_any(any_subject, any_workload, b);
        return 0;
}

/* Before the work: it would be a pity to find out afterwards. What stands in the file stays until there is better. */
static int check_json(void) {
        FILE *f = fopen(arg_json, "ae");

        if (!f) {
                fprintf(stderr, "cove-bench: --json '%s': %s\n", arg_json, strerror(errno));
                return -errno;
        }
        (void) fclose(f);
        return 0;
}

static int write_json(Bench *b, const Verdict *verdicts) {
        FILE *f = fopen(arg_json, "we");

        if (!f)
                return -errno;
        report_json(f, b, verdicts);
        return fclose(f) == 0 ? 0 : -errno;
}

static int tell(Bench *b) {
        Verdict verdicts[_VERDICT_MAX];
        int r;

        verdicts_judge(b, verdicts);
        report_table(stdout, b, verdicts);
        if (arg_json) {
                r = write_json(b, verdicts);
                if (r < 0) {
                        fprintf(stderr, "cove-bench: '%s': %s\n", arg_json, strerror(-r));
                        return EXIT_TROUBLE;
                }
        }
        return arg_check && !verdicts_hold(verdicts) ? EXIT_MISSED : EXIT_SUCCESS;
}

/* In the private namespaces: see scratch.h. */
static int body(const Scratch *scratch, void *userdata) {
        Bench *b = userdata;
        char dir[PATH_MAX], cove[PATH_MAX + 16];
        int r;

        r = child_init();
        if (r >= 0)
                r = child_own_directory(dir, sizeof(dir));
        if (r >= 0) {
                (void) snprintf(cove, sizeof(cove), "%s/../src/cove", dir);
                b->subjects.scratch = scratch;
                subjects_init(&b->subjects, dir, arg_cove ? arg_cove : cove);
                r = bench_run(b);
        }

        if (r == -EINTR)
                r = EXIT_INTERRUPTED;
        else if (r < 0) {
                fprintf(stderr, "cove-bench: %s\n", strerror(-r));
                r = EXIT_TROUBLE;
        } else
                r = tell(b);
        bench_done(b);
        return r;
}

int main(int argc, char *argv[]) {
        static Bench bench;
        Error error = {};
        int r;

        r = parse_args(argc, argv);
        if (r != 0)
                return r > 0 ? EXIT_SUCCESS : EXIT_TROUBLE;
        scratch_guard_or_die();

        bench.rounds = arg_rounds ? arg_rounds : arg_quick ? BENCH_ROUNDS_QUICK : BENCH_ROUNDS;
        bench.batches = arg_quick ? BENCH_BATCHES_QUICK : BENCH_BATCHES;
        bench.warmup = BENCH_WARMUP;
        bench.live.n = arg_live;
        bench.live.cycles = arg_quick ? BENCH_CYCLES_QUICK : BENCH_CYCLES;
        if (select_only(&bench, arg_only) < 0)
                return EXIT_TROUBLE;
        if (arg_json && check_json() < 0)
                return EXIT_TROUBLE;

        if (getloadavg(&bench.load, 1) < 0)
                bench.load = 0;
        r = scratch_run(body, &bench, &error);
        if (r < 0) {
                fprintf(stderr, "cove-bench: %s\n", error.text);
                return EXIT_TROUBLE;
        }
        return r;
}
