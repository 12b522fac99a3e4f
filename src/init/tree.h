/* tree.h: the processes below us, found in /proc.
 *
 * Members are our descendants of another session than ours. A shim's command and all that comes of it are: each command
 * begins a session, and nobody can enter somebody else's. Our own helpers (shims, workers) stay in ours, so that PID 1's
 * members are those that have lost their shim.
 * A subreaper keeps its descendants, however often they fork and let go of each other. So walking up from each process by
 * its parent finds all of them.
 * Allocates by mmap, and nothing when there is little to see. Must not know: executions, who is asking. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Ends them all, also while they fork: stops every one, until no running one turns up, and only then kills. Stopped ones
 * keep their places among the processes that the sandbox may have, so that a fork bomb has nowhere to grow. Returns how many
 * there were, or negative errno. Not 0: they are dying, or somebody keeps waking them. Try again. */
int tree_kill(void);

/* Sends each of them a signal; returns how many there were. */
int tree_signal(int signal_number);

/* Whose child that process is; 0: it is gone, or nobody's. */
pid_t tree_parent(pid_t pid);

/* How many of the sandbox's processes are alive and no helper of ours: whether below us or not. */
int tree_count_guests(void);
