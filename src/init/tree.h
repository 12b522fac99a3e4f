/* tree.h: the processes below us, found in /proc.
 *
 * The members of our tree are our descendants in other sessions than ours. A shim's command and its descendants are
 * members: each command begins a session, and no process can join another session. Our own helpers (shims, workers)
 * stay in our session, so the members of PID 1's tree are the processes that have lost their shim.
 * A subreaper keeps its descendants, even if they fork and detach. Walking up by parent from each process therefore
 * finds all of them.
 * Allocates by mmap, and nothing if there are few processes. Must not know: executions, the caller. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Kills all members, even while they fork: stops every one until no running one turns up, and only then kills.
 * Stopped processes still count against the sandbox's limit of processes, so a fork bomb cannot grow. Returns the
 * number of members found, or a negative errno. Not 0: some are dying, or a process keeps waking them; try again. */
int tree_kill(void);

/* Sends each member a signal; returns their number. */
int tree_signal(int signal_number);

/* The parent of a process; 0: it is gone, or has none. */
pid_t tree_parent(pid_t pid);

/* Number of live processes of the sandbox, below us or not, without our helpers. */
int tree_count_guests(void);
