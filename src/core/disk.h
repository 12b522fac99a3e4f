/* disk.h: the disk of a persistent sandbox, which outlives its processes.
 *
 * TREE_DISK of the sandbox's id: made after its row and before its first process, empty or as a snapshot is; removed when nothing of
 * the sandbox is left in the kernel and nobody can want it any more. Whoever dies in between leaves a row that says what it was about, and
 * the next start finishes it.
 * Must not know: how trees are kept, snapshots' rows, parking. */
#pragma once

#include "core/manager.h"

/* Then sandbox_proceed(), or the sandbox's end. */
int sandbox_disk_make(Sandbox *sb, Error *reterr);

/* true: it is being removed, and sandbox_on_destroyed() is told again when it is gone. */
bool sandbox_disk_remove(Sandbox *sb);
void sandbox_disk_free(Sandbox *sb); /* our memory of it */

/* As it was when it was asked last, which is asked again now. */
void sandbox_disk_usage(Sandbox *sb, SandboxUsage *ret);

/* Those whose row says that their sandbox has ended. */
void disks_sweep(Manager *m);
