/* subverb.h: verbs that have verbs of their own: `cove key create`. */
#pragma once

#include "client/client.h"
#include "client/table.h"
#include "client/usage.h"

typedef struct Subverb {
        const char *name;
        const Usage *usage;
        int (*function)(const Place *place, void *options, const Operands *words); /* returns the exit status */
} Subverb;

/* options begins with a Common. Returns the exit status. */
int subverb_run(const char *verb, const char *about, const Subverb *subverbs, size_t n, int argc, char **argv,
                void *options);

/* An answer that is a list, as a table or as it is. Returns the exit status. */
int subverb_show_list(const Answer *a, bool json, const char *const *heads, void (*row)(Table *t, const json_t *item));
