/* ledger-entry.h: what an object of the core has in it to be charged to a tenant. ledger.h says how.
 *
 * Must not know: any object. */
#pragma once

#include <stdint.h>

typedef struct Ledger Ledger;

typedef enum LedgerKind {
        /* Bytes on disk. Together, as ledger_disk(), they are held to the tenant's quota of disk. */
        LEDGER_DISK,       /* of sandboxes that have not ended: what they may write. By the tally */
        LEDGER_VOLUME,     /* what may be written */
        LEDGER_SNAPSHOT,   /* what they take */
        LEDGER_JOURNAL,    /* output of executions */
        LEDGER_ARTIFACT,
        /* Bytes of the daemon's memory. */
        LEDGER_ANSWER,     /* answers that were built whole, until the client has them */
        /* Numbers. By the tally: */
        LEDGER_SANDBOXES,
        LEDGER_EXECUTIONS, /* that run */
        LEDGER_MEMORY,     /* bytes promised to sandboxes */
        LEDGER_PIDS,       /* promised to sandboxes */
        LEDGER_DESCRIPTORS, /* likewise; per process */
        /* … and charged: */
        LEDGER_BUILDS,     /* that run: 1 each */
        LEDGER_REQUESTS,   /* under way: 1 each. Streams, waits and WebSockets are for as long as they last */
        LEDGER_CALLS,      /* asked of a PID 1 or of the gate, and not answered: 1 each */
        _LEDGER_MAX,
} LedgerKind;

typedef struct LedgerEntry {
        struct LedgerRow *row; /* NULL: holds nothing */
        LedgerKind kind;
        uint64_t amount;
        struct LedgerEntry *prev, *next; /* of that kind in the row, in the order in which they were first charged */
} LedgerEntry;
