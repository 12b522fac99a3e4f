/* options.h: command line options as tables.
 *
 * One table gives parser and help alike. An option is --name VALUE, --name=VALUE or -x; the first other word, or "--",
 * ends them.
 * Must not know: what the options mean. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct Option Option;
struct Option {
        const char *name;     /* without the dashes */
        char letter;          /* 0: none */
        const char *argument; /* NULL: takes none; else its name in the help */
        const char *help;     /* lines after the first are indented along */
        int (*apply)(void *target, const char *value, Error *reterr);

        /* Instead of a function of its own, an option may have a kind, which is told by the rest where the value goes. */
        int (*set)(const Option *o, void *target, const char *value, Error *reterr);
        size_t offset, has;  /* of the field, and of a bool that says that it was set; has 0: none */
        const char *key;     /* for values that go elsewhere than into a field */
        uint64_t min, max;
};

/* Returns the index of the first word that is no option. */
int options_parse(const Option *options, size_t n, int argc, char **argv, void *target, Error *reterr);

void options_print(const Option *options, size_t n);
