/* run-options.h: the checked options of `cove run`.
 *
 * Reads the command line into a JailSpec and a few settings of the supervisor. Every error that can be
 * detected in advance is refused here, with a message that names the value. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"
#include "cli/run-net.h"
#include "cli/run-txn.h"
#include "jail/spec.h"

#define RUN_ENV_MAX  4096
#define RUN_ARGS_MAX 65536
#define RUN_ENV_DEFAULTS_MAX 16 /* in addition to those that were given */

typedef struct RunOptions {
        JailSpec spec;
        Strv env;
        Strv command;
        usec_t timeout;      /* USEC_INFINITY: none */
        usec_t cpu_time;     /* likewise */
        uint64_t output_max; /* UINT64_MAX: none */
        uint64_t nofile;
        const char *report, *keep; /* NULL: none */
        bool tty, help;
        bool disk_given, memory_given;
        char *workdir; /* owned */
        Rules rules; /* the spec's */
        RunNet net;
        RunTxn txn;
} RunOptions;

/* Returns 0, or -errno with a message. --help sets `help`. */
int run_options_parse(RunOptions *o, int argc, char **argv, Error *reterr);
void run_options_done(RunOptions *o);
void run_options_print_help(void);

/* PATH of the guest. */
const char *run_options_path(const RunOptions *o);
