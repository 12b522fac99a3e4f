/* ledger-entry.h: the member of an object that is charged to a tenant; ledger.h has the rules.
 *
 * Must not know: any object. */
#pragma once

#include <stdint.h>

typedef struct Ledger Ledger;

typedef enum LedgerKind {
        /* Bytes on disk. The tenant's quota of disk limits their sum, ledger_disk(). */
        LEDGER_DISK,       /* disk limits of sandboxes that have not ended. By the tally */
        LEDGER_VOLUME,     /* limits of volumes */
        LEDGER_SNAPSHOT,   /* used bytes */
        LEDGER_JOURNAL,    /* output of executions */
        LEDGER_ARTIFACT,
        LEDGER_RECORDING,  /* input of sandboxes, kept for a replay */
        LEDGER_SPOOL,      /* request bodies that are needed as files, until their last reader has finished */
        LEDGER_UPLOAD,     /* files that were uploaded before a build, and are kept for the next */
        LEDGER_TEMPLATE,   /* layers, disks and blobs of its templates: ledger.h has the rule */
        /* Bytes of the daemon's memory. */
        LEDGER_ANSWER,     /* complete answers, until the client has read them */
        /* Numbers. By the tally: */
        LEDGER_SANDBOXES,
        LEDGER_EXECUTIONS, /* that run */
        LEDGER_MEMORY,     /* bytes promised to sandboxes */
        LEDGER_PIDS,       /* promised to sandboxes */
        LEDGER_DESCRIPTORS, /* likewise; per process */
        /* … and charged: */
        LEDGER_BUILDS,     /* running: 1 each */
        LEDGER_REQUESTS,   /* in progress: 1 each. Streams, waits and WebSockets count for as long as they last */
        LEDGER_CALLS,      /* to a PID 1 or to the gate, not answered yet: 1 each */
        /* Spent for good: µs of the gate's thread since the daemon's start, of all sandboxes that have existed. No quota
         * limits it: the gate itself gives each sandbox its share of the thread (gate/share.h). */
        LEDGER_GATE_CPU,
        _LEDGER_MAX,
} LedgerKind;

typedef struct LedgerEntry {
        struct LedgerRow *row; /* NULL: holds nothing */
        LedgerKind kind;
        uint64_t amount;
        struct LedgerEntry *prev, *next; /* entries of that kind in the row, in the order of their first charge */
} LedgerEntry;
