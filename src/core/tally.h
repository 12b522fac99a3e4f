/* tally.h: how many sandboxes there are and what they hold, by tenant and by profile, without counting them.
 *
 * Kept up to date where a sandbox enters or leaves the table, changes its status, starts or ends an execution, or is claimed out of
 * a pool. What nobody has claimed yet counts under "pooled" only, for no tenant and for no profile.
 * Must not know: what the numbers are good for. */
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

/* All zeros: there is none. Profiles are told apart without regard to case. */
TallySums tally_of_tenant(const Manager *m, const char *tenant);
TallySums tally_of_nobody(const Manager *m); /* those that were claimed and have no tenant */
TallySums tally_of_profile(const Manager *m, const char *profile);
TallySums tally_of_pooled(const Manager *m);
TallySums tally_of_all(const Manager *m); /* pooled ones too */

/* Around everything that changes tenant, profile, limits or `pooled` of a sandbox in the table: leave, change, enter. */
void tally_enter(Sandbox *sb);
void tally_leave(Sandbox *sb);

void tally_status(Sandbox *sb, SandboxStatus from, SandboxStatus to); /* before it has changed */
void tally_executions(Sandbox *sb, int change);

/* The ended one that came to its end first; NULL: none. */
Sandbox *tally_first_ended(const Manager *m);

/* Counts everything anew and compares: 0, or -EUCLEAN and what differs. For tests and debugging; looks at every sandbox. */
int tally_verify(const Manager *m, Error *reterr);
