/* ground.h: what a sandbox stands on and outlives it: the template's layer, its disk, volumes.
 *
 * Named by the request, opened out of the depot here, lent to the jail. What is not there is refused by name.
 * Must not know: how trees are kept (depot.h), how they are mounted (jail.h). */
#pragma once

#include "depot/depot.h"
#include "jail/spec.h"
#include "wire/spawn.h"

bool ground_is_needed(const SpawnCreate *q);

/* Words alone: names, targets. */
int ground_check(const SpawnCreate *q, bool privileged, Error *reterr);

/* The targets are borrowed from the request. */
int ground_open(const Depot *depot, const SpawnCreate *q, JailTrees *ret, Error *reterr);
void ground_done(JailTrees *trees);
