/* scratch.h: where the bench keeps what it makes, and how nothing of it stays.
 *
 * Four processes, made by scratch_guard_or_die() and scratch_run():
 *
 *      guard       what the user has started: forwards signals, waits. When it is killed, the caretaker is asked to end.
 *      └ caretaker  host's namespaces. Owns the scratch directory; forwards signals; waits; then removes the directory
 *                  and every cgroup that carries our tag. By then all below is dead and its mounts are gone.
 *        └ reaper  PID 1 of a private pid and mount namespace (as root; an ordinary user gets a plain process).
 *          │       Reaps orphans. When it ends, the kernel kills all that the subjects left: daemons, containers.
 *          └ body  the driver and the subjects it starts.
 *
 * Only SIGKILL of the caretaker leaves something: the directory, and empty cgroups. The rest dies with it.
 * Must not know: subjects, workloads. */
#pragma once

#include "base/error.h"

typedef struct Scratch {
        char dir[64]; /* passable by everybody: containers with mapped ids walk through it */
        char tag[32]; /* starts the name of everything that subjects make outside of the directory */
} Scratch;

/* Returns in the caretaker; before anything is made. */
void scratch_guard_or_die(void);

/* Runs the body and returns its exit status, or negative errno when it could not be started. */
int scratch_run(int (*body)(const Scratch *scratch, void *userdata), void *userdata, Error *reterr);
