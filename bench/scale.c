/* scale.c: cove-bench-scale, the daemon with more and more sandboxes and clients, beside its floors.
 *
 * This file: options, and the order of things. The processes are drawn in scratch.h. */

#include "scale.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "child.h"
#include "scale-report.h"

#define SCALE_LIVE          "0,1000,5000,10000"
#define SCALE_LIVE_QUICK    "0,50"
#define SCALE_CLIENTS       "1,16,64,256"
#define SCALE_CLIENTS_QUICK "1,16"
#define SCALE_ROUNDS        100u
#define SCALE_ROUNDS_QUICK  10u
#define SCALE_BATCHES       3u
#define SCALE_CREATES       500u
#define SCALE_CREATES_QUICK 50u
#define SCALE_COMMANDS      (2 * USEC_PER_SEC)
#define SCALE_COMMANDS_QUICK (300 * USEC_PER_MSEC)
#define SCALE_WARMUP        3u
#define SCALE_FILES         512u
#define SCALE_TIME          1800u
#define SCALE_LIVE_MAX      100000u
#define SCALE_CLIENTS_MAX   1000u

enum {
        EXIT_MISSED = 1, /* with --check */
        EXIT_TROUBLE = 2,
        EXIT_INTERRUPTED = 130,
};

static const char *arg_live = NULL, *arg_clients = NULL, *arg_json = NULL, *arg_cove = NULL;
static unsigned arg_rounds = 0, arg_files = SCALE_FILES, arg_time = SCALE_TIME;
static bool arg_quick = false, arg_check = false;

static void help(void) {
        puts("cove-bench-scale [options]\n"
             "\n"
             "Measures cove's daemon with more and more live sandboxes and clients, beside the floors.\n"
             "\n"
             "  --live N,..     idle sandboxes, in rising order (" SCALE_LIVE "); what the machine has no room for is left out\n"
             "  --clients N,..  clients that run commands at once (" SCALE_CLIENTS ")\n"
             "  --rounds N      rounds of single requests (100)\n"
             "  --files N       limit of open files of the last part (512)\n"
             "  --time SECONDS  begin no level after that time (1800)\n"
             "  --quick         a minute: --live " SCALE_LIVE_QUICK " --clients " SCALE_CLIENTS_QUICK ", and less of the rest\n"
             "  --cove PATH     the cove to measure; coved and the others lie beside it\n"
             "  --json FILE     write the numbers there as well\n"
             "  --check         exit status 1 when something that must be shown is not\n"
             "  --help          this text");
}

static int parse_number(const char *option, const char *text, uint64_t least, uint64_t most, unsigned *ret) {
        uint64_t value;
        int r;

        r = parse_uint64(text, least, most, &value);
        if (r < 0) {
                fprintf(stderr, "cove-bench-scale: --%s '%s': want a number from %llu to %llu\n", option, text,
                                (unsigned long long) least, (unsigned long long) most);
                return r;
        }
        *ret = (unsigned) value;
        return 0;
}

/* Rising numbers with commas between them. */
static int parse_list(const char *option, const char *text, unsigned least, unsigned most, size_t ret[], size_t room, size_t *ret_n) {
        size_t n = 0;

        for (const char *p = text; *p;) {
                size_t length = strcspn(p, ",");
                char word[16];
                unsigned value;

                (void) snprintf(word, sizeof(word), "%.*s", (int) MIN_OF(length, sizeof(word) - 1), p);
                if (parse_number(option, word, least, most, &value) < 0)
                        return -EINVAL;
                if (n >= room || (n > 0 && value <= ret[n - 1])) {
                        fprintf(stderr, "cove-bench-scale: --%s '%s': want at most %zu numbers that rise\n", option, text, room);
                        return -EINVAL;
                }
                ret[n++] = value;
                p += length + (p[length] == ',');
        }
        *ret_n = n;
        return n > 0 ? 0 : -EINVAL;
}

/* 0 to go on, 1 when all is said, negative when the arguments are wrong. */
static int parse_args(int argc, char *argv[]) {
        static const struct option options[] = { { "live", required_argument, NULL, 'l' },
                { "clients", required_argument, NULL, 'n' }, { "rounds", required_argument, NULL, 'r' },
                { "files", required_argument, NULL, 'f' }, { "time", required_argument, NULL, 't' },
                { "quick", no_argument, NULL, 'q' }, { "cove", required_argument, NULL, 'c' },
                { "json", required_argument, NULL, 'j' }, { "check", no_argument, NULL, 'k' },
                { "help", no_argument, NULL, 'h' }, {} };

        for (int c, r; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
                r = 0;
                switch (c) {
                case 'l': arg_live = optarg; break;
                case 'n': arg_clients = optarg; break;
                case 'r': r = parse_number("rounds", optarg, 1, 100000, &arg_rounds); break;
                case 'f': r = parse_number("files", optarg, 256, 65536, &arg_files); break;
                case 't': r = parse_number("time", optarg, 1, 86400, &arg_time); break;
                case 'q': arg_quick = true; break;
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
                fprintf(stderr, "cove-bench-scale: unexpected argument '%s'\n", argv[optind]);
                return -EINVAL;
        }
        return 0;
}

static int bench_init(ScaleBench *b) {
        size_t live[SCALE_LEVELS];
        int r;

        r = parse_list("live", arg_live ? arg_live : arg_quick ? SCALE_LIVE_QUICK : SCALE_LIVE, 0, SCALE_LIVE_MAX, live,
                        SCALE_LEVELS, &b->n_levels);
        if (r >= 0)
                r = parse_list("clients", arg_clients ? arg_clients : arg_quick ? SCALE_CLIENTS_QUICK : SCALE_CLIENTS, 1,
                                SCALE_CLIENTS_MAX, b->clients, SCALE_COUNTS, &b->n_counts);
        if (r < 0)
                return r;
        for (size_t i = 0; i < b->n_levels; i++)
                b->levels[i].live = live[i];
        b->serve.rounds = arg_rounds ? arg_rounds : arg_quick ? SCALE_ROUNDS_QUICK : SCALE_ROUNDS;
        b->serve.batches = arg_quick ? 1 : SCALE_BATCHES;
        b->serve.warmup = SCALE_WARMUP;
        b->storm = arg_quick ? SCALE_CREATES_QUICK : SCALE_CREATES;
        b->commands_time = arg_quick ? SCALE_COMMANDS_QUICK : SCALE_COMMANDS;
        b->time_max = arg_time * USEC_PER_SEC;
        b->limit.files = arg_files;
        if (getloadavg(&b->serve.load, 1) < 0)
                b->serve.load = 0;
        return serve_daemon_init(&b->serve.daemon, arg_cove);
}

static int tell(ScaleBench *b) {
        scale_report(stdout, b);
        if (arg_json) {
                FILE *f = fopen(arg_json, "we");

                if (!f) {
                        fprintf(stderr, "cove-bench-scale: '%s': %s\n", arg_json, strerror(errno));
                        return EXIT_TROUBLE;
                }
                scale_report_json(f, b);
                if (fclose(f) != 0)
                        return EXIT_TROUBLE;
        }
        return arg_check && !scale_promises_hold(b) ? EXIT_MISSED : EXIT_SUCCESS;
}

/* In the private namespaces: see scratch.h. */
static int body(const Scratch *scratch, void *userdata) {
        ScaleBench *b = userdata;
        Subjects *s = &b->serve.subjects;
        char dir[PATH_MAX];
        Error error = {};
        int r;

        r = child_init();
        if (r >= 0)
                r = child_own_directory(dir, sizeof(dir));
        if (r >= 0) {
                s->scratch = scratch;
                subjects_init(s, dir, arg_cove);
                for (int id = 0; id < _SUBJECT_MAX; id++)
                        s->items[id].selected = true;
                r = scale_run(b, &error);
        }

        if (r == -EINTR)
                r = EXIT_INTERRUPTED;
        else if (r < 0) {
                fprintf(stderr, "cove-bench-scale: %s\n", error.code != 0 ? error.text : strerror(-r));
                r = EXIT_TROUBLE;
        } else
                r = tell(b);
        scale_done(b);
        return r;
}

int main(int argc, char *argv[]) {
        static ScaleBench bench = { .serve.http = HTTP_EMPTY };
        Error error = {};
        int r;

        r = parse_args(argc, argv);
        if (r != 0)
                return r > 0 ? EXIT_SUCCESS : EXIT_TROUBLE;
        scratch_guard_or_die();
        if (!arg_cove || access(arg_cove, X_OK) < 0) {
                fputs("cove-bench-scale: --cove PATH is needed: the cove to measure\n", stderr);
                return EXIT_TROUBLE;
        }
        if (bench_init(&bench) < 0)
                return EXIT_TROUBLE;

        r = scratch_run(body, &bench, &error);
        serve_daemon_sweep(&bench.serve.daemon);
        if (r < 0) {
                fprintf(stderr, "cove-bench-scale: %s\n", error.text);
                return EXIT_TROUBLE;
        }
        return r;
}
