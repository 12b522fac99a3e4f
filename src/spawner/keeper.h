/* keeper.h: the process that sees to it that there is always a worker.
 *
 * Holds the channel, so that coved does not notice the death of a worker but by the next one's greeting. Goes when coved has
 * hung up, and takes the worker with it, but never a sandbox.
 * A worker that does nothing at all, not even when it is poked, is killed: sandboxes outlive it. One that has not begun to serve yet has ten times as long.
 * Does nothing else: what does little, fails seldom. */
#pragma once

#include "spawner/spawner.h"

/* Returns the exit status. */
int keeper_run(const SpawnerOptions *options);
