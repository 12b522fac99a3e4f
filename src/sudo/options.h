/* options.h: the command line of sudo. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum SudoAction {
        SUDO_DO_RUN,
        SUDO_DO_NOTHING, /* -v, -k: no credentials are cached */
        SUDO_DO_LIST,
        SUDO_DO_VERSION,
        SUDO_DO_HELP,
} SudoAction;

typedef struct SudoOptions {
        SudoAction action;
        const char *user, *group; /* NULL: root, and that user's */
        const char *directory;    /* NULL: the current one */
        const char *keep;         /* --preserve-env=LIST; NULL: none */
        bool keep_all;            /* -E */
        bool set_home;            /* -H */
        bool login, shell, background;
        char *const *assignments; /* NAME=value, in front of the command */
        size_t n_assignments;
        char *const *command; /* ends with NULL */
        size_t n_command;
} SudoOptions;

/* -EINVAL: the error says what is wrong. Accepts and ignores options about passwords. */
int sudo_options_parse(int argc, char *const *argv, SudoOptions *ret, Error *reterr);
