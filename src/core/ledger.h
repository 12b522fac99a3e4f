/* ledger.h: accounts of the resources that each tenant holds, by kind, and their quotas.
 *
 * One row per tenant, and one for objects of no tenant, which have no quota. The tally (tally.h), which the ledger
 * reads, counts sandboxes and what belongs to them. Everything else is charged by the room that holds it:
 *
 *      1. A LedgerEntry is a member of the object that is charged: a snapshot, a volume, a journal, an answer that is
 *         being sent. All zero, it holds nothing.
 *      2. Before the object is made or grows: ledger_reserve() with its whole new amount. It checks and charges in one
 *         step, so that two concurrent requests cannot both get the rest of a quota. If it refuses, it changes nothing,
 *         and the error names the value, the quota and the cure.
 *      3. When the amount turns out to be another, and for objects found at a start: ledger_charge(), which replaces the
 *         amount and never refuses because of a quota.
 *      4. When the object is freed, on any path: ledger_release(), which may be called twice, and for an entry that was
 *         never charged.
 *
 * There is no call that only checks. A failure path cannot forget to subtract, because the amount is a member of
 * its object and is released with it. Nothing is in the store: at a start, each room charges what it finds in its
 * rows.
 *
 * Shared objects: a tenant pays once for every layer and disk that one of its templates uses, regardless of other
 * users, and for the blobs that it has fetched itself. No tenant pays for layers that a template of no tenant uses:
 * the operator has chosen to keep those. The next gc removes what no template uses. Steps of builds, which are kept
 * for the next build, have no size here: the depot's own quota counts them.
 * Must not know: what the objects are, HTTP, files. */
#pragma once

#include "core/ledger-entry.h"
#include "core/manager.h"

#define LEDGER_CALLS_MAX 32768 /* of all tenants together */

extern const ShapeNames ledger_kind_names; /* "volumes": as in answers and metrics */

int ledger_new(Manager *m); /* m->ledger */
void ledger_free(Manager *m); /* after the rooms that charge */

/* Sets the amount of the entry, within the quota. -EDQUOT: not now (for calls: -EAGAIN); -EOVERFLOW: never, it is
 * more than the whole quota; -ENOSPC: for recordings and spools, which go to the daemon's own disk: its last space
 * is reserved for running work; -ENOMEM. An amount that is not larger than before is never refused. */
int ledger_reserve(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount, Error *reterr);
/* Sets the amount without a check; not for kinds that the tally counts. tenant NULL or "": none. -ENOMEM: possible
 * only for the first charge of a tenant. With another tenant than before, the entry moves to it. */
int ledger_charge(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount);
void ledger_release(LedgerEntry *e);

const char *ledger_tenant(const LedgerEntry *e); /* of a charged entry; "": none */

/* For a room whose objects are rows of the store and not in memory: one entry for all objects of a tenant;
 * ledger_add() changes it as rows are added and removed. At a start, the room adds the sums that the store has. */
typedef struct LedgerPot LedgerPot;
void ledger_add(Manager *m, LedgerPot **pots, const char *tenant, LedgerKind kind, int64_t change);
void ledger_pots_free(LedgerPot **pots);

/* The tenant's quota of a kind; for every kind on disk, the quota of their sum. 0: no limit. */
uint64_t ledger_limit(const Manager *m, const char *tenant, LedgerKind kind);

typedef struct LedgerSums {
        uint64_t amounts[_LEDGER_MAX];
        uint64_t counts[_LEDGER_MAX]; /* number of entries; for kinds of the tally: of sandboxes */
} LedgerSums;

LedgerSums ledger_of_tenant(const Manager *m, const char *tenant); /* "" or NULL: of no tenant */
LedgerSums ledger_of_all(const Manager *m);
uint64_t ledger_disk(const LedgerSums *sums); /* the sum that counts against the quota of disk */
bool ledger_is_on_disk(LedgerKind kind); /* counts against the quota of disk */

/* Tenants that exist, or still hold something other than spent gate time, by name; the first is "", of no tenant.
 * each() returns < 0 to stop. */
int ledger_each(const Manager *m, int (*each)(const char *tenant, const LedgerSums *sums, void *userdata), void *userdata);

uint64_t ledger_total(const Manager *m, LedgerKind kind); /* of all tenants; not for kinds of the tally */

/* The entry to remove when all tenants together hold more of a charged kind than a budget. It belongs to the tenant
 * that holds most, of those that hold more than an equal share of the budget and have an entry to remove; a tenant
 * within its share loses nothing. Of the tenant's entries it is the one with the highest rank, and of equal ranks
 * the oldest; an entry of rank 0 is never removed. NULL: within the budget, or there is no such entry. */
LedgerEntry *ledger_victim(const Manager *m, LedgerKind kind, uint64_t budget, unsigned (*rank)(const LedgerEntry *e));

/* The counterpart: whether `more` fits into the budget, or else keeps the tenant within its equal share of it.
 * budget 0: no budget. */
bool ledger_fits(const Manager *m, const char *tenant, LedgerKind kind, uint64_t budget, uint64_t more);

/* Counts everything again and compares: 0, or -EUCLEAN with the difference. For tests and debugging. */
int ledger_verify(const Manager *m, Error *reterr);
