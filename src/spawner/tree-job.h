/* tree-job.h: one operation on trees, and what its child does. Between trees.c, tree-work.c, tree-run.c and tree-check.c. */
#pragma once

#include "spawner/trees.h"

#define TREE_RUN_FDS 4

/* Beyond those of base/tree-request.h: ours alone. */
typedef enum TreeErrand {
        ERRAND_REQUEST, /* request.operation */
        ERRAND_OPEN,    /* the depot, making it */
        ERRAND_SWEEP,
        ERRAND_RESIZE,  /* the depot, to request.bytes; 0: it shrinks. Beside everything else */
} TreeErrand;

struct TreeJob {
        TreeJob *next;
        TreeErrand errand;
        TreeRequest request;
        uint32_t serial;
        bool written; /* PUBLISH: somebody could write into the scratch */
        int fds[TREE_RUN_FDS]; /* of a RUN */
        pid_t pid;  /* 0: it waits its turn */
        int fd;     /* where it tells */
};

/* What a child tells last; both ends are this very program. A tree of a LIST goes before it, as SpawnTreeItem. */
typedef struct TreeOutcome {
        Error error;
        int status;
        uint64_t bytes;
} TreeOutcome;

/* tree-check.c: as if an enemy had written it. */
int tree_job_check(const Spawner *s, const TreeRequest *t, size_t n_fds, Error *reterr);
bool tree_job_touches_disk(const TreeRequest *t, const char *id); /* what nobody may live on meanwhile */
bool tree_job_makes_depot(const TreeRequest *t); /* else there is nothing that it could be about, where there is no depot */

/* Those that need no child. */
bool tree_job_is_quick(const Spawner *s, const TreeJob *job);
TreeOutcome tree_job_do(Spawner *s, const TreeJob *job);

/* Situation of both: a copy of the worker, in its namespaces, with its rights. */
_noreturn_ void tree_job_main(Spawner *s, const TreeJob *job, pid_t worker, int fd);
int tree_job_run(const Spawner *s, const TreeJob *job, int *ret_status, Error *reterr);

/* trees.c, for tree-room.c. */
void tree_jobs_resize(Spawner *s, uint64_t bytes);

/* tree-room.c: how large the depot is. */
void tree_room_begin(Spawner *s); /* there is one now */
void tree_room_resized(Spawner *s, const Error *error);

/* tree-host.c: what a sandbox of the template "host" has below it, as one tree. Leaves the mount namespace. */
int tree_host_open(Error *reterr);
