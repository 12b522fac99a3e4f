/* options.h: the options of `cove serve`.
 *
 * One table defines both the command line and the config file: `--listen X` is `listen: X` in the section
 * `daemon` of cove.yaml. The command line wins. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strv.h"
#include "config/config.h"

/* --log-level */
enum { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

#define SANDBOXES_DEFAULT   10000
#define CONNECTIONS_DEFAULT 4096

typedef struct DaemonOptions {
        char *listen;     /* "none": no TCP */
        char *tls_cert, *tls_key; /* files, absolute; NULL: no TLS */
        char *tls_listen; /* NULL: the default */
        char *state_dir;
        char *socket_path; /* NULL: <state>/cove.sock */
        char *config_file; /* absolute; the file need not exist at the default place. NULL: no default place */
        char *check_file;  /* "": the default file */
        char *user;       /* user to switch to when started as root */
        bool stop_all;    /* end the sandboxes on SIGTERM */
        bool halt;        /* end the sandboxes instead of serving them */
        bool public;      /* may listen beyond loopback */
        bool log_json;    /* --log-format */
        int log_level;
        char *policy_file, *policy_url, *policy_method; /* --check-policy, --explain-url, --explain-method */
        bool policy_packages, policy_presets;
        bool help, routes, default_config, config_keys, json, metrics_table;
        uint64_t journal_total_bytes;
        usec_t keep_ended_usec;
        uint64_t sandboxes_max;
        uint64_t connections_max;
        uint64_t idle_seconds;
        uint64_t allow_missing; /* GuardSet */
        int secret_key_fd; /* -EBADF: none */
        Strv templates;         /* NAME=DIR */
} DaemonOptions;

/* *ret_settings is untouched if nothing is to be started (--help and the like). */
int daemon_options_parse(DaemonOptions *o, int argc, char **argv, Config **ret_settings, Error *reterr);

/* For the config room. -ENOENT: the config file has no option of that name. */
int daemon_options_check(const char *name, const char *value, Error *reterr);
const char *daemon_options_name(size_t i);
void daemon_options_done(DaemonOptions *o);
void daemon_options_print_help(void);
