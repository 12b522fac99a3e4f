/* policies.h: checks and explains policy files without a daemon. `cove policy` runs coved for this, because
 * coved knows policies. */
#pragma once

#include <stdbool.h>

typedef struct PoliciesQuestion {
        const char *file;   /* "-": stdin */
        const char *url;    /* the URL to explain; NULL: only check the file */
        const char *method; /* NULL: GET */
        const char *config; /* NULL: the default config file */
        bool json;
} PoliciesQuestion;

/* Prints to stdout and returns the exit status: 0: valid or allowed; 1: not. The operator's reachable ranges
 * come from the config file, if one can be read. */
int policies_look(const PoliciesQuestion *q);
int policies_print_packages(const char *config); /* the rules of "packages", and proxies of the host that are not used */
int policies_print_presets(void);
