/* files.h: the descriptors that coved may have, and who gets how many.
 *
 *      all ─┬─ its own: the store, the channel to the spawner, listeners, spares
 *           ├─ for each sandbox that may be there: the connection to its PID 1, its root directory
 *           └─ the rest is for connections, and what their requests open
 *
 * Sandboxes and connections are bounded so that the sum fits; what the first two may need is a reserve (base/reserve.h) that requests
 * cannot take. A limit that does not even do for the sandboxes that are there is refused: to go on with a part of them would lose the rest.
 * Must not know: what a sandbox is, HTTP. */
#pragma once

#include <stddef.h>

#include "base/error.h"

typedef struct FilesShare {
        size_t reserve;
        unsigned sandboxes_max, connections_max;
} FilesShare;

/* Raises the limit as far as it goes, for root beyond the hard one. */
int files_raise(size_t *ret_all, Error *reterr);

/* live: sandboxes that are there; the other two as configured. */
int files_share(size_t all, unsigned live, unsigned sandboxes_max, unsigned connections_max, FilesShare *ret, Error *reterr);
