/* disk.h: the disk of a persistent sandbox, which outlives its processes.
 *
 * A TREE_DISK with the sandbox's id as its name. It is made after the sandbox's row and before its first process,
 * empty or as a copy of a snapshot or scratch tree. It is removed after the sandbox has ended and nothing of it is
 * left in the kernel. If the daemon dies in between, the row says what was under way, and the next start finishes
 * it.
 * Must not know: how trees are kept, snapshots' rows, parking. */
#pragma once

#include "core/manager.h"

/* Calls sandbox_proceed() when the disk is made, or ends the sandbox. */
int sandbox_disk_make(Sandbox *sb, Error *reterr);

/* true: the disk is being removed; sandbox_on_destroyed() is called again when it is gone. */
bool sandbox_disk_remove(Sandbox *sb);
void sandbox_disk_free(Sandbox *sb); /* the object, not the disk */

/* Returns the size as measured last, and begins a new measurement, at most every 500 ms. */
void sandbox_disk_usage(Sandbox *sb, SandboxUsage *ret);

/* Removes the disks of sandboxes whose row says that they have ended. */
void disks_sweep(Manager *m);
