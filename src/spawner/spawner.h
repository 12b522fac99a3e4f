/* spawner.h: the privileged side of the daemon.
 *
 *      coved            sends the closed set of requests in wire/spawn.h
 *       │ SOCK_SEQPACKET
 *      cove-keeper      keeper.h: holds the channel, starts a worker whenever there is none
 *       └─ cove-spawner the worker: one loop, one thread; everything below is its child
 *           ├─ cove-init    PID 1 of each sandbox; outlives the worker and all processes above
 *           ├─ cove-disk    image.h: makes a disk image beside the loop
 *           ├─ cove-depot, cove-trees    trees.h: work on trees that outlive sandboxes
 *           └─ python3 …    zygote.h: preloaded interpreters
 *
 * The worker never blocks: a slow operation is a task (task.h) that it checks again later. Its state may be lost with
 * it: every sandbox that must be found again has a cgroup with its id in the name.
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
        char *state_dir; /* contains the depot; NULL: there is none */
        uint64_t hang_usec;   /* a worker whose loop stands still for so long is killed; 0: never */
        _Atomic uint64_t *turns; /* of the worker's loop, in memory shared with the keeper; NULL: not counted */
        DepotBounds storage; /* of the depot's image */
        uint32_t id_ranges; /* for sandboxes (jail/ids.h); 0: the default */
        uint64_t shrink_usec; /* the image shrinks after so long with much of it free; 0: never */
} SpawnerOptions;

typedef struct Spawner {
        const SpawnerOptions *options;
        pid_t keeper;
        uint32_t first_serial; /* of requests to this process */
        bool privileged;
        bool has_cgroups; /* so sandboxes can be found again */
        unsigned next_core; /* first core of the next sandbox with a CPU limit */
        int signal_fd;
        IdRanges ranges;
        Ahead ahead;
        Outbox outbox;
        Children children;
        Task *tasks;
        SpawnerImage *images;
        size_t n_tasks, n_images;
        Zygotes *zygotes; /* NULL: there are none */
        Depot depot; /* the trees that outlive sandboxes */
        bool depot_tried; /* an attempt to make it was completed */
        bool depot_busy;  /* a child opens or sweeps it: all tree jobs wait */
        usec_t room_due;  /* when to check the depot's size; USEC_INFINITY: it is not ours to change */
        usec_t room_rest; /* do not resize it before this time */
        usec_t room_much_since; /* since when much of it has been free; 0: it is not */
        bool room_full;   /* it is nearly full, and the warning was written */
        SpawnRoom room_told;
        bool sweep_again; /* the sweeping child died before its end */
        unsigned n_sweeps_died;
        int tree_program_fd; /* cove-tree */
        char *sudo_program;  /* cove-sudo: its path; NULL: it is not installed */
        TreeJob *tree_jobs;  /* waiting and running */
        size_t n_tree_jobs, n_tree_running[2]; /* running: other jobs, programs */
        void *trees_written; /* names of scratch trees that a program could write into: a tree of <search.h> */
        usec_t sweep; /* when to reap remaining children; USEC_INFINITY: none can remain */
        usec_t rest;  /* read no request before this time: a resource of ours ran short */
        bool ended; /* coved has hung up */
} Spawner;

/* Runs the worker. number: workers before this one; coved repeats its requests to them. Returns the exit status. */
int spawner_run(const SpawnerOptions *options, pid_t keeper, unsigned number);

/* Makes the worker die with the keeper. Call again after each change of ids, which clears it. */
void spawner_bind_to_keeper(const Spawner *s);

/* Handles one request, and answers unless that takes time. Sets taken descriptors to -EBADF. */
void spawner_handle(Spawner *s, const SpawnMessage *request, int *fds, size_t n_fds);

/* An answer that cannot be sent ends the loop or the worker: coved must never wait for a lost answer. */
void spawner_answer(Spawner *s, const SpawnMessage *message);
void spawner_answer_done(Spawner *s, uint32_t serial);
void spawner_answer_failed(Spawner *s, uint32_t serial, const Error *error);

/* A sandbox of ours has been reaped. Frees the child. */
void spawner_child_ended(Spawner *s, Child *child);
