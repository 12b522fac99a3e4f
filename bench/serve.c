/* serve.c: cove-bench-serve, the daemon, its floors and docker side by side in one run.
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
#include "serve-report.h"

#define SERVE_ROUNDS        200u
#define SERVE_ROUNDS_QUICK  30u
#define SERVE_BATCHES       7u
#define SERVE_BATCHES_QUICK 2u
#define SERVE_STREAMS       5u
#define SERVE_STREAMS_QUICK 2u
#define SERVE_LIVE_N        1000u
#define SERVE_WARMUP        5u
#define SERVE_COUNT_MAX     100000u

enum {
        EXIT_MISSED = 1, /* with --check */
        EXIT_TROUBLE = 2,
        EXIT_INTERRUPTED = 130,
};

static unsigned arg_rounds = 0, arg_live = SERVE_LIVE_N;
static bool arg_quick = false, arg_check = false, arg_docker = true;
static const char *arg_only = NULL, *arg_json = NULL, *arg_cove = NULL;

static void help(void) {
        puts("cove-bench-serve [options]\n"
             "\n"
             "Measures cove's daemon over its socket, beside the floors and docker.\n"
             "\n"
             "  --rounds N      rounds of single requests (200)\n"
             "  --live N        idle sandboxes in workload 'live' (1000)\n"
             "  --quick         30 rounds, fewer of the rest\n"
             "  --only NAME,..  these workloads: latency, burst, stream, live, warm\n"
             "  --no-docker     leave the peer out\n"
             "  --cove PATH     the cove to measure; coved and the others lie beside it\n"
             "  --json FILE     write the numbers there as well\n"
             "  --check         exit status 1 when something that must be shown is not\n"
             "  --help          this text");
}

static int parse_count(const char *option, const char *text, unsigned *ret) {
        uint64_t value;
        int r;

        r = parse_uint64(text, 1, SERVE_COUNT_MAX, &value);
        if (r < 0) {
                fprintf(stderr, "cove-bench-serve: --%s '%s': want a number from 1 to %u\n", option, text,
                                SERVE_COUNT_MAX);
                return r;
        }
        *ret = (unsigned) value;
        return 0;
}

/* 0 to go on, 1 when all is said, negative when the arguments are wrong. */
static int parse_args(int argc, char *argv[]) {
        static const struct option options[] = { { "rounds", required_argument, NULL, 'r' },
                { "live", required_argument, NULL, 'l' }, { "quick", no_argument, NULL, 'q' },
                { "only", required_argument, NULL, 'o' }, { "no-docker", no_argument, NULL, 'd' },
                { "cove", required_argument, NULL, 'c' }, { "json", required_argument, NULL, 'j' },
                { "check", no_argument, NULL, 'k' }, { "help", no_argument, NULL, 'h' }, {} };

        for (int c, r; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
                r = 0;
                switch (c) {
                case 'r': r = parse_count("rounds", optarg, &arg_rounds); break;
                case 'l': r = parse_count("live", optarg, &arg_live); break;
                case 'q': arg_quick = true; break;
                case 'o': arg_only = optarg; break;
                case 'd': arg_docker = false; break;
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
                fprintf(stderr, "cove-bench-serve: unexpected argument '%s'\n", argv[optind]);
                return -EINVAL;
        }
        return 0;
}

static int select_only(ServeBench *b, const char *only) {
        for (int id = 0; id < _SERVE_WORKLOAD_MAX; id++)
                b->selected[id] = !only;
        for (const char *p = only; p && *p;) {
                size_t n = strcspn(p, ",");
                bool known = false;

                for (int id = 0; id < _SERVE_WORKLOAD_MAX; id++)
                        if (strlen(serve_workload_names[id]) == n &&
                                        strncmp(serve_workload_names[id], p, n) == 0)
                                known = b->selected[id] = true;
                if (!known) {
                        fprintf(stderr, "cove-bench-serve: --only '%.*s': no such workload\n", (int) n, p);
                        return -EINVAL;
                }
                p += n + (p[n] == ',');
        }
        return 0;
}

static int tell(ServeBench *b) {
        FILE *f;

        serve_report(stdout, b);
        if (arg_json) {
                f = fopen(arg_json, "we");
                if (!f) {
                        fprintf(stderr, "cove-bench-serve: '%s': %s\n", arg_json, strerror(errno));
                        return EXIT_TROUBLE;
                }
                serve_report_json(f, b);
                if (fclose(f) != 0)
                        return EXIT_TROUBLE;
        }
        return arg_check && !serve_promises_hold(b) ? EXIT_MISSED : EXIT_SUCCESS;
}

/* In the private namespaces: see scratch.h. */
static int body(const Scratch *scratch, void *userdata) {
        ServeBench *b = userdata;
        char dir[PATH_MAX];
        Error error = {};
        int r;

        r = child_init();
        if (r >= 0)
                r = child_own_directory(dir, sizeof(dir));
        if (r >= 0) {
                b->subjects.scratch = scratch;
                subjects_init(&b->subjects, dir, b->daemon.cove);
                for (int id = 0; id < _SUBJECT_MAX; id++)
                        b->subjects.items[id].selected = true;
                r = serve_bench_run(b, &error);
        }

        if (r == -EINTR)
                r = EXIT_INTERRUPTED;
        else if (r < 0) {
                fprintf(stderr, "cove-bench-serve: %s\n", error.code != 0 ? error.text : strerror(-r));
                r = EXIT_TROUBLE;
        } else
                r = tell(b);
        serve_bench_done(b);
        return r;
}

int main(int argc, char *argv[]) {
        static ServeBench bench = { .http = HTTP_EMPTY };
        Error error = {};
        int r;

        r = parse_args(argc, argv);
        if (r != 0)
                return r > 0 ? EXIT_SUCCESS : EXIT_TROUBLE;
        scratch_guard_or_die();
        if (!arg_cove || access(arg_cove, X_OK) < 0) {
                fputs("cove-bench-serve: --cove PATH is needed: the cove to measure\n", stderr);
                return EXIT_TROUBLE;
        }
        if (serve_daemon_init(&bench.daemon, arg_cove) < 0 || select_only(&bench, arg_only) < 0)
                return EXIT_TROUBLE;

        bench.rounds = arg_rounds ? arg_rounds : arg_quick ? SERVE_ROUNDS_QUICK : SERVE_ROUNDS;
        bench.batches = arg_quick ? SERVE_BATCHES_QUICK : SERVE_BATCHES;
        bench.streams = arg_quick ? SERVE_STREAMS_QUICK : SERVE_STREAMS;
        bench.warmup = SERVE_WARMUP;
        bench.live.n = arg_live;
        bench.docker = arg_docker;
        if (getloadavg(&bench.load, 1) < 0)
                bench.load = 0;

        r = scratch_run(body, &bench, &error);
        serve_daemon_sweep(&bench.daemon);
        if (r < 0) {
                fprintf(stderr, "cove-bench-serve: %s\n", error.text);
                return EXIT_TROUBLE;
        }
        return r;
}
