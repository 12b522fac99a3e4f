/* cleanup.h: what the cleaners did, run by run: the last ones are kept. Must not know: what the words mean. */
#pragma once

#include "store/store.h"

typedef struct CleanupRow {
        uint64_t serial; /* grows; given by the store */
        char kind[16], cause[16];
        usec_t started_at, duration_usec;
        uint64_t scanned, found, orphaned, stuck, old, aged, unhealthy, emergency, lost, strays, files, removed, failed;
        char *freed;  /* names, a line each; may be NULL */
        char *failures; /* "name: why", a line each; may be NULL */
        char *error;  /* why the run itself has failed; may be NULL */
} CleanupRow;

/* Of older ones only the newest `keep` stay. */
int store_cleanup_add(Store *s, const CleanupRow *row, unsigned keep);
/* Newest first. */
int store_cleanup_each(Store *s, unsigned limit, int (*each)(const CleanupRow *row, void *userdata), void *userdata);
