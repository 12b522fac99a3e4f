/* files.h: divides the open files that coved may have.
 *
 *      all ─┬─ coved's own: the store, the channel to the spawner, listeners, spares
 *           ├─ for each possible sandbox: the connection to its PID 1, its root directory
 *           └─ the rest: connections, and what their requests open
 *
 * The numbers of sandboxes and connections are limited so that the sum fits. The first two parts are a
 * reserve (base/reserve.h) that requests cannot take. A limit that is too low even for the existing sandboxes
 * is refused: going on with a part of them would lose the rest.
 * Knows libc only. */
#pragma once

#include <stddef.h>

#include "base/error.h"

#define FILES_OWN         144 /* 32 of them for segments: core/execution/segment.c */
#define FILES_PER_SANDBOX 2

/* A limit that lets files_share() admit N sandboxes: FILES_OF_DAEMON + N * FILES_OF_SANDBOX. */
#define FILES_OF_DAEMON  (FILES_OWN + 56)
#define FILES_OF_SANDBOX (2 * FILES_PER_SANDBOX)

typedef struct FilesShare {
        size_t reserve;
        unsigned sandboxes_max, connections_max;
} FilesShare;

/* Raises the limit to the hard limit; root raises the hard limit, too. */
int files_raise(size_t *ret_all, Error *reterr);

/* live: existing sandboxes. sandboxes_max, connections_max: as configured. */
int files_share(size_t all, unsigned live, unsigned sandboxes_max, unsigned connections_max, FilesShare *ret, Error *reterr);
