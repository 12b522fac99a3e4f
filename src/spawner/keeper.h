/* keeper.h: the process that restarts the worker.
 *
 * It holds the channel, so coved notices the death of a worker only by the HELLO of the next one. It ends when coved
 * hangs up, and the worker with it, but never a sandbox.
 * A worker whose loop does not turn for a time limit, even after a SIGCHLD, is killed: sandboxes outlive it. The
 * limit is ten times as long before it begins to serve, and ten times as long while it waits in the kernel, for
 * example for a disk. The keeper does nothing else: a program that does little seldom fails. */
#pragma once

#include "spawner/spawner.h"

/* Returns the exit status. */
int keeper_run(const SpawnerOptions *options);
