/* ledger.h: what each tenant holds of the machine, by kind, and what it may hold.
 *
 * One row per tenant, and one for those of no tenant, which have no quota. Sandboxes and what hangs on them are counted by the tally
 * (tally.h), which the ledger reads. Everything else is charged by the room that holds it:
 *
 *      1. A LedgerEntry is a member of the object that is held: a snapshot, a volume, a journal, an answer that is going out. All zero,
 *         it holds nothing.
 *      2. Before the object is made: ledger_check() for the growth. It names the value, the quota and the cure.
 *      3. When it is there: ledger_charge() with what it holds. Called again, it replaces the amount: after a measurement, for instance.
 *         It never refuses for a quota, so that rows and files found at a start are charged by the same call.
 *      4. When the object is freed, on any path: ledger_release(), which may be called twice and for what was never charged.
 *
 * A failure path cannot forget to subtract: an amount lives in the object that it is about, and goes with it. Nothing is in the store:
 * at a start each room charges what it finds in its rows.
 * Must not know: what the objects are, HTTP, files. */
#pragma once

#include "core/manager.h"

typedef struct Ledger Ledger;

typedef enum LedgerKind {
        /* Bytes on disk. Together, as ledger_disk(), they are held to the tenant's quota of disk. */
        LEDGER_DISK,       /* of sandboxes that have not ended: what they may write. By the tally */
        LEDGER_VOLUME,     /* what may be written */
        LEDGER_SNAPSHOT,   /* what they take */
        LEDGER_TEMPLATE,   /* layers and disks of templates; what several share is shared out by whoever charges */
        LEDGER_CACHE,      /* of builds and imports */
        LEDGER_JOURNAL,    /* output of executions */
        LEDGER_ARTIFACT,
        LEDGER_RECORDING,
        LEDGER_AUDIT,      /* its share of the audit log; outside of the quota, or a full one could not be recorded */
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
        LEDGER_GATE_CPU,   /* microseconds of the gate's time, of sandboxes that have not ended */
        _LEDGER_MAX,
} LedgerKind;

extern const ShapeNames ledger_kind_names; /* "volumes": as in answers and metrics */

typedef struct LedgerEntry {
        struct LedgerRow *row; /* NULL: holds nothing */
        LedgerKind kind;
        uint64_t amount;
        struct LedgerEntry *prev, *next; /* of that kind in the row, in the order in which they were first charged */
} LedgerEntry;

int ledger_new(Manager *m); /* m->ledger */
void ledger_free(Manager *m); /* after everybody who charges */

/* tenant NULL or "": none. Of kinds that the tally counts nothing is charged. 0, or -ENOMEM, which only the first charge of a tenant
 * can be. An entry stays with its tenant and kind until it is released. */
int ledger_charge(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount);
void ledger_release(LedgerEntry *e);

/* Whether the tenant may hold so much more of that kind. -EDQUOT: not now; -EOVERFLOW: never, it is more than the whole quota. */
int ledger_check(const Manager *m, const char *tenant, LedgerKind kind, uint64_t more, Error *reterr);
/* The highest amount of a kind; of any kind on disk: of all such kinds together. 0: there is no limit. */
uint64_t ledger_limit(const Manager *m, const char *tenant, LedgerKind kind);

typedef struct LedgerSums {
        uint64_t amounts[_LEDGER_MAX];
        uint64_t counts[_LEDGER_MAX]; /* of entries; for kinds of the tally: the number of sandboxes */
} LedgerSums;

LedgerSums ledger_of_tenant(const Manager *m, const char *tenant); /* "" or NULL: of no tenant */
LedgerSums ledger_of_all(const Manager *m);
uint64_t ledger_disk(const LedgerSums *sums); /* what counts against the quota of disk */
bool ledger_is_on_disk(LedgerKind kind); /* and counts against it */

/* Tenants that exist or hold something, by name; the first is "", of no tenant. each < 0 ends it. */
int ledger_each(const Manager *m, int (*each)(const char *tenant, const LedgerSums *sums, void *userdata), void *userdata);

/* Who gives when all together hold too much: the entries of the tenant that holds most of this kind, oldest first. NULL: nobody has any. */
LedgerEntry *ledger_heaviest(const Manager *m, LedgerKind kind);
/* Each tenant's share of a budget that all have together: who holds no more than that gives nothing. */
uint64_t ledger_share(const Manager *m, LedgerKind kind, uint64_t budget);

/* Counts everything anew and compares: 0, or -EUCLEAN and what differs. For tests and debugging. */
int ledger_verify(const Manager *m, Error *reterr);
