/* spawner.h: the privileged side of the daemon.
 *
 *      coved            asks, by the closed set of requests in wire/spawn.h
 *       │ SOCK_SEQPACKET
 *      cove-keeper      keeper.h: holds the channel, starts a worker whenever there is none
 *       └─ cove-spawner the worker: one loop, one thread; everything below is its own
 *           ├─ cove-init    PID 1 of each sandbox; outlives the worker and everybody above
 *           ├─ cove-disk    image.h: makes a disk image while the loop goes on
 *           ├─ cove-depot, cove-trees    trees.h: work on trees that outlive sandboxes
 *           └─ python3 …    zygote.h: interpreters that stand ready
 *
 * The worker waits for nobody: what takes time is a task (task.h) that is looked at again. What it knows is a convenience
 * and may be lost with it: everything that must be found again has a cgroup with its id in the name.
 * Must not know: HTTP, JSON, the store, who asked coved. Trust: see README.md. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "base/clock.h"
#include "depot/depot.h"
#include "jail/cgroup.h"
#include "spawner/ahead.h"
#include "spawner/check.h"
#include "spawner/children.h"
#include "spawner/outbox.h"

typedef struct Task Task;
typedef struct SpawnerImage SpawnerImage;
typedef struct TreeJob TreeJob;
typedef struct Zygotes Zygotes;

#define TREES_RUNNING_MAX 25 /* children that work on trees */
#define TREE_RUNS_MAX     8  /* of these, programs that may take long */

typedef struct ZygoteLine {
        char *template_name, *language;
        char *imports; /* names of modules, with commas between; may be "" */
} ZygoteLine;

typedef struct ZygoteLines {
        ZygoteLine *items;
        size_t n;
} ZygoteLines;

typedef struct SpawnerOptions {
        int channel_fd;
        char *instance;
        Templates templates;
        ZygoteLines zygotes;
        char *state_dir; /* where the depot is; NULL: there is none */
        uint64_t hang_usec;   /* so long a worker may do nothing at all; 0: for ever */
        _Atomic uint64_t *turns; /* of the worker's loop, in memory that the keeper sees; NULL: nobody counts */
        DepotBounds storage; /* of the depot's image */
        uint64_t shrink_usec; /* after so long with much of it free, it shrinks; 0: never */
} SpawnerOptions;

typedef struct Spawner {
        const SpawnerOptions *options;
        pid_t keeper;
        uint32_t first_serial; /* of what is asked of us */
        bool privileged;
        bool has_cgroups; /* in which sandboxes can be found again */
        unsigned next_core; /* where those of the next sandbox begin that has a CPU limit */
        int signal_fd;
        Ahead ahead;
        Outbox outbox;
        Children children;
        Task *tasks;
        SpawnerImage *images;
        size_t n_tasks, n_images;
        Zygotes *zygotes; /* NULL: there are none */
        Depot depot; /* the trees that outlive sandboxes */
        bool depot_tried; /* what could be made of it, was */
        bool depot_busy;  /* somebody opens or sweeps it: everybody waits */
        usec_t room_due;  /* when to look at the depot's size; USEC_INFINITY: it is not ours to change */
        usec_t room_rest; /* until then it is left as it is */
        usec_t room_much_since; /* so long much of it has been free; 0: it is not */
        bool room_full;   /* and somebody was told */
        SpawnRoom room_told;
        bool sweep_again; /* who swept died in the middle of it */
        unsigned n_sweeps_died;
        int tree_program_fd; /* cove-tree */
        char *sudo_program;  /* cove-sudo: its path; NULL: it is not installed */
        TreeJob *tree_jobs;  /* who waits and who runs */
        size_t n_tree_jobs, n_tree_running[2]; /* of these: others, programs */
        void *trees_written; /* names of scratch that a program was given to write into: a tree of <search.h> */
        usec_t sweep; /* when to reap whoever is left; USEC_INFINITY: nobody can be */
        usec_t rest;  /* until then no request is read: something of ours was lacking */
        bool ended; /* coved has hung up */
} Spawner;

/* The worker's life. number: how many there were before us, whose requests coved will ask again. Returns the exit status. */
int spawner_run(const SpawnerOptions *options, pid_t keeper, unsigned number);

/* Dies with the keeper. To be repeated after each change of ids, which clears it. */
void spawner_bind_to_keeper(const Spawner *s);

/* One request, and its answer unless that takes time. A descriptor that is taken leaves -EBADF behind. */
void spawner_handle(Spawner *s, const SpawnMessage *request, int *fds, size_t n_fds);

/* Answers. What cannot be sent ends the loop or the worker: coved must never wait for an answer that is lost. */
void spawner_answer(Spawner *s, const SpawnMessage *message);
void spawner_answer_done(Spawner *s, uint32_t serial);
void spawner_answer_failed(Spawner *s, uint32_t serial, const Error *error);
