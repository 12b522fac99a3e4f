/* options.h: what `cove serve` was asked for.
 *
 * One table feeds command line and config file alike: `--listen X` is `listen = X` in the file. The command line wins. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"

typedef struct DaemonOptions {
        char *listen;     /* "none": no TCP */
        char *state_dir;
        char *socket_path; /* NULL: <state>/cove.sock */
        char *config_file;
        char *user;       /* to become, when started as root */
        bool stop_all;    /* on SIGTERM */
        bool public;      /* listen beyond loopback */
        bool help, routes, metrics_table;
        uint64_t journal_total_bytes;
        usec_t keep_ended_usec;
        uint64_t sandboxes_max;
        uint64_t connections_max;
        uint64_t idle_seconds;
        uint64_t allow_missing; /* GuardSet */
        Strv templates;         /* NAME=DIR */
} DaemonOptions;

int daemon_options_parse(DaemonOptions *o, int argc, char **argv, Error *reterr);
void daemon_options_done(DaemonOptions *o);
void daemon_options_print_help(void);
