/* options.h: command line options as tables.
 *
 * One table gives parser and help alike. An option is --name VALUE, --name=VALUE or -x; the first other word, or "--",
 * ends them.
 * Must not know: what the options mean. */
#pragma once

#include "base/error.h"

typedef struct Option {
        const char *name;     /* without the dashes */
        char letter;          /* 0: none */
        const char *argument; /* NULL: takes none; else its name in the help */
        const char *help;     /* lines after the first are indented along */
        int (*apply)(void *target, const char *value, Error *reterr);
} Option;

/* Returns the index of the first word that is no option. */
int options_parse(const Option *options, size_t n, int argc, char **argv, void *target, Error *reterr);

void options_print(const Option *options, size_t n);
