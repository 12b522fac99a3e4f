/* policies.h: policies in files, looked at without a daemon: for `cove policy`, which asks the program that knows them. */
#pragma once

#include <stdbool.h>

typedef struct PoliciesQuestion {
        const char *file;   /* "-": stdin */
        const char *url;    /* what would become of it? NULL: is the file good? */
        const char *method; /* NULL: GET */
        const char *config; /* NULL: the one at its usual place */
        bool json;
} PoliciesQuestion;

/* Tells on stdout, gives the exit status: 0 good, or allowed; 1 not. What the operator has made reachable is that of the config file, if there
 * is one that can be read. */
int policies_look(const PoliciesQuestion *q);
int policies_print_packages(const char *config); /* what "packages" stands for, and the proxies of the host that nobody uses */
int policies_print_presets(void);
