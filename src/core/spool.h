/* spool.h: a caller's data on the daemon's disk until its last reader has finished: an archive to import, the files
 * of a build.
 *
 * A file without a name, so that nothing is left if the daemon dies. Each write is reserved first, in the tenant's
 * quota of disk and in the free space of the disk (ledger.h), and stays charged as long as there is a reference: do
 * not keep the descriptor without one.
 * Must not know: HTTP, what the data are. */
#pragma once

#include "core/ledger.h"

typedef struct Spool Spool;

int spool_new(Manager *m, const char *tenant, Spool **ret, Error *reterr);
Spool *spool_ref(Spool *s);
Spool *spool_unref(Spool *s); /* NULL */
static inline void spool_unrefp(Spool **s) {
        *s = spool_unref(*s);
}
#define _cleanup_spool_ __attribute__((cleanup(spool_unrefp)))

int spool_write(Spool *s, const void *data, size_t size, Error *reterr); /* errors of ledger_reserve() and write(2) */
int spool_rewind(Spool *s); /* its descriptor reads from the beginning */

int spool_fd(const Spool *s); /* borrowed; s NULL: -EBADF */
uint64_t spool_size(const Spool *s);
