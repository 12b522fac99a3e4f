/* spool.h: bytes of a caller that are kept on the daemon's disk until nobody reads them any more: an archive to import, the files of a build.
 *
 * A file without a name, so that a death in the middle leaves nothing. What is written is reserved first, in the tenant's quota of disk and in what the disk can spare
 * (ledger.h), and held for as long as there is a reference: nobody keeps the descriptor without one.
 * Must not know: HTTP, what is in it. */
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

int spool_write(Spool *s, const void *data, size_t size, Error *reterr); /* all or nothing. As ledger_reserve(), or why it cannot be written */
int spool_rewind(Spool *s); /* its descriptor reads from the beginning */

int spool_fd(const Spool *s); /* borrowed; s NULL: -EBADF */
uint64_t spool_size(const Spool *s);
