/* ground.h: the trees that a sandbox uses and that outlive it: the template's layer, its disk, volumes.
 *
 * The request names them; they are opened here from the depot and passed to the jail. The error for a missing one
 * names it.
 * Must not know: how trees are kept (depot.h), how they are mounted (jail.h). */
#pragma once

#include "depot/depot.h"
#include "jail/spec.h"
#include "wire/spawn.h"

bool ground_is_needed(const SpawnCreate *q);

/* Checks names and targets only; opens nothing. */
int ground_check(const SpawnCreate *q, bool privileged, Error *reterr);

/* The targets are borrowed from the request. */
int ground_open(const Depot *depot, const SpawnCreate *q, JailTrees *ret, Error *reterr);
void ground_done(JailTrees *trees);
