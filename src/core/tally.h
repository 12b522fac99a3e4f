/* tally.h: running totals of sandboxes and their resources, by tenant and by profile.
 *
 * Updated when a sandbox enters or leaves the table, changes its status, starts or ends an execution, or is claimed
 * from a pool. Unclaimed sandboxes count as "pooled" only, for no tenant and no profile.
 * Must not know: what the numbers are used for. */
#pragma once

#include "core/sandbox.h"

typedef struct Tally Tally;
typedef struct Tallies Tallies;

typedef struct TallySums {
        uint64_t n_by_status[_SANDBOX_STATUS_MAX];
        uint64_t n_alive; /* executions that have not ended */
        uint64_t live, cpu_milli, memory_bytes, disk_bytes, pids, nofile; /* of those that have not ended */
} TallySums;

int tallies_new(Tallies **ret);
Tallies *tallies_free(Tallies *t);

/* All zeros: there are no sandboxes. Names of profiles are case-insensitive. */
TallySums tally_of_tenant(const Manager *m, const char *tenant);
TallySums tally_of_nobody(const Manager *m); /* of no tenant, without pooled ones */
TallySums tally_of_profile(const Manager *m, const char *profile);
TallySums tally_of_pooled(const Manager *m);
TallySums tally_of_all(const Manager *m); /* with pooled ones */

/* To change tenant, profile, limits or `pooled` of a sandbox in the table: leave, change, enter. */
void tally_enter(Sandbox *sb);
void tally_leave(Sandbox *sb);

void tally_status(Sandbox *sb, SandboxStatus from, SandboxStatus to); /* call it before the change */
void tally_executions(Sandbox *sb, int change);

/* Of the ended sandboxes, the one that ended first; NULL: none. */
Sandbox *tally_first_ended(const Manager *m);

/* Counts everything again and compares: 0, or -EUCLEAN with the difference. For tests and debugging; visits every
 * sandbox. */
int tally_verify(const Manager *m, Error *reterr);
