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
        LEDGER_RECORDING,  /* what went into sandboxes, for a replay */
        LEDGER_SPOOL,      /* bodies of requests that are needed as files, until nobody reads them any more */
        LEDGER_UPLOAD,     /* files that were sent ahead of a build, and are kept for the next */
        LEDGER_TEMPLATE,   /* layers, disks and blobs that its templates stand on: ledger.h has the rule */
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
        /* Spent, and not given back: µs of the gate's thread since the daemon's start, of all sandboxes that were ever there. Nothing is refused by it: the
         * gate itself gives each sandbox its share of the thread (gate/share.h). */
        LEDGER_GATE_CPU,
        _LEDGER_MAX,
} LedgerKind;

typedef struct LedgerEntry {
        struct LedgerRow *row; /* NULL: holds nothing */
        LedgerKind kind;
        uint64_t amount;
        struct LedgerEntry *prev, *next; /* of that kind in the row, in the order in which they were first charged */
} LedgerEntry;
