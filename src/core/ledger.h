/* ledger.h: what each tenant holds of the machine, by kind, and what it may hold.
 *
 * One row per tenant, and one for those of no tenant, which have no quota. Sandboxes and what hangs on them are counted by the tally
 * (tally.h), which the ledger reads. Everything else is charged by the room that holds it:
 *
 *      1. A LedgerEntry is a member of the object that is held: a snapshot, a volume, a journal, an answer that is going out. All zero,
 *         it holds nothing.
 *      2. Before the object is made, or grows: ledger_reserve() with all that it will hold. It asks and charges in one, so that two who ask at
 *         the same time cannot both have what is left; refused, it changes nothing, and names the value, the quota and the cure.
 *      3. When it turns out to be another amount, and for what is found at a start: ledger_charge(), which replaces the amount and never
 *         refuses for a quota.
 *      4. When the object is freed, on any path: ledger_release(), which may be called twice and for what was never charged.
 *
 * There is no call that only asks. A failure path cannot forget to subtract: an amount lives in the object that it is about, and goes with it.
 * Nothing is in the store: at a start each room charges what it finds in its rows.
 *
 * Who pays for what several use: a tenant for every layer and disk that a template of its own stands on, once, whoever else has the same, and for the blobs
 * that it has fetched itself; but for layers that a template of no tenant stands on, which the operator has chosen to keep, no tenant pays. What no
 * template stands on goes with the next gc. Steps of builds, which are kept for the next build, have no size here: the depot's own quota counts them.
 * Must not know: what the objects are, HTTP, files. */
#pragma once

#include "core/ledger-entry.h"
#include "core/manager.h"

#define LEDGER_CALLS_MAX 32768 /* of all tenants together */

extern const ShapeNames ledger_kind_names; /* "volumes": as in answers and metrics */

int ledger_new(Manager *m); /* m->ledger */
void ledger_free(Manager *m); /* after everybody who charges */

/* That this entry holds so much from now on. 0, or refused: -EDQUOT: not now (of calls: -EAGAIN); -EOVERFLOW: never, it is more than the whole quota; -ENOSPC: of kinds that are
 * written to the daemon's own disk, which keeps the rest for what runs; -ENOMEM. Less than before is never refused. */
int ledger_reserve(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount, Error *reterr);
/* tenant NULL or "": none. Of kinds that the tally counts nothing is charged. 0, or -ENOMEM, which only the first charge of a tenant
 * can be. With another tenant than before, it moves there. */
int ledger_charge(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount);
void ledger_release(LedgerEntry *e);

const char *ledger_tenant(const LedgerEntry *e); /* of one that is charged; "": none */

/* For a room whose objects are rows of the store and not in memory: one entry for all of a tenant's, by which it is changed as rows come and
 * go. At a start the room adds the sums that the store has. */
typedef struct LedgerPot LedgerPot;
void ledger_add(Manager *m, LedgerPot **pots, const char *tenant, LedgerKind kind, int64_t change);
void ledger_pots_free(LedgerPot **pots);

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

/* Tenants that exist or hold something that can be given back, by name; the first is "", of no tenant. each < 0 ends it. */
int ledger_each(const Manager *m, int (*each)(const char *tenant, const LedgerSums *sums, void *userdata), void *userdata);

uint64_t ledger_total(const Manager *m, LedgerKind kind); /* of all; not for kinds of the tally */

/* Who gives when all together hold more of a charged kind than a budget: the tenant that holds most, of those with more than an equal share;
 * a tenant within its share gives nothing. Of its entries the one with the highest rank, the oldest of several; rank 0 is not given.
 * NULL: they are within the budget, or nobody who holds too much has one to give. */
LedgerEntry *ledger_victim(const Manager *m, LedgerKind kind, uint64_t budget, unsigned (*rank)(const LedgerEntry *e));

/* The other side of it: whether so much more fits into the budget, or the tenant stays within its equal share of it all the same. 0: there is no budget. */
bool ledger_fits(const Manager *m, const char *tenant, LedgerKind kind, uint64_t budget, uint64_t more);

/* Counts everything anew and compares: 0, or -EUCLEAN and what differs. For tests and debugging. */
int ledger_verify(const Manager *m, Error *reterr);
