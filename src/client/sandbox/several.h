/* several.h: the same for each of several sandboxes.
 *
 * All are tried, also when one fails; what each was called is printed as it is done. With --json one sandbox gives the daemon's
 * answer, several give a list of them. */
#pragma once

#include "client/client.h"
#include "client/usage.h"

typedef struct Several {
        const Place *place;
        bool json;
        const char *method;
        const char *what;  /* further part of the path; NULL: none */
        const char *query; /* "force=true"; NULL: none */
        JsonBuilder *body; /* the same for all; NULL: none */
        bool root;         /* the path is not a sandbox's: what comes first, then the word */
} Several;

/* Returns the exit status. */
int several_ask(const Several *s, char *const *words, size_t n);
