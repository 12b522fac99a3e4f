/* tree-job.h: one operation on trees, and the work of its child. Shared by trees.c, tree-work.c, tree-run.c and
 * tree-check.c. */
#pragma once

#include "spawner/trees.h"

#define TREE_RUN_FDS 4

/* Jobs of our own, beside those of base/tree-request.h. */
typedef enum TreeErrand {
        ERRAND_REQUEST, /* request.operation */
        ERRAND_OPEN,    /* opens or makes the depot */
        ERRAND_SWEEP,
        ERRAND_RESIZE,  /* resizes the depot to request.bytes; 0: shrinks it. Runs beside all other jobs */
} TreeErrand;

struct TreeJob {
        TreeJob *next;
        TreeErrand errand;
        TreeRequest request;
        uint32_t serial;
        bool written; /* PUBLISH: a program could write into the scratch */
        bool stopped; /* shrinks the depot, and was killed because others need the space */
        int fds[TREE_RUN_FDS]; /* of a RUN */
        pid_t pid;  /* 0: queued */
        int fd;     /* receives its outcome */
};

/* The last message of a child; sender and receiver are this very program. The trees of a LIST come before it, as
 * SpawnTreeItem. */
typedef struct TreeOutcome {
        Error error;
        int status;
        uint64_t bytes;
} TreeOutcome;

/* tree-check.c: checks a request as if an enemy had written it. */
int tree_job_check(const Spawner *s, const TreeRequest *t, size_t n_fds, Error *reterr);
bool tree_job_touches_disk(const TreeRequest *t, const char *id); /* no sandbox may use that disk meanwhile */
bool tree_job_makes_depot(const TreeRequest *t); /* false: without a depot the request has no object */

/* Jobs that need no child. */
bool tree_job_is_quick(const Spawner *s, const TreeJob *job);
TreeOutcome tree_job_do(Spawner *s, const TreeJob *job);

/* Situation of both: a copy of the worker, in its namespaces, with its rights. */
_noreturn_ void tree_job_main(Spawner *s, const TreeJob *job, pid_t worker, int fd);
int tree_job_run(const Spawner *s, const TreeJob *job, int *ret_status, Error *reterr);

/* trees.c, for tree-room.c. */
void tree_jobs_resize(Spawner *s, uint64_t bytes);

/* tree-room.c: the size of the depot. */
void tree_room_begin(Spawner *s); /* call when the depot is open */
void tree_room_resized(Spawner *s, const TreeJob *j, const Error *error);

/* tree-host.c: the lower layers of a sandbox of the template "host", as one tree. Moves the caller to a new mount
 * namespace. */
int tree_host_open(Error *reterr);
