/* internal.h: what the files of this room share among themselves. Nobody else includes it. */
#pragma once

#include "state/rows.h"
#include "state/state.h"

/* Something that goes on: a snapshot being taken, checked or removed, a restore. Each is a struct that begins with one, so that all can be found when the room is
 * closed or their asker has gone. */
typedef struct Work {
        State *state;
        TreeCall *call; /* under way */
        void *userdata; /* the asker's */
        bool forgotten; /* who has gone */
        void (*free)(struct Work *w);
        struct Work *prev, *next;
} Work;

typedef struct SnapshotName {
        char key[ACCESS_NAME_MAX + SNAPSHOT_NAME_MAX + 3]; /* "tenant/name" */
        Snapshot *snapshot;
        UT_hash_handle hh;
} SnapshotName;

/* The newest of a sandbox: the parent of the next. */
typedef struct SnapshotLast {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        char snapshot[SNAPSHOT_ID_LENGTH + 1];
        UT_hash_handle hh;
} SnapshotLast;

struct StateRoom {
        Manager *manager;
        Snapshot *snapshots; /* by id, in the order they were taken */
        SnapshotName *names;
        SnapshotLast *lasts;
        Work *works;
        Fork *forks;
        Volume *volumes; /* by id */
        void *volume_data; /* volume.c's own */
};

/* state.c */
void work_begin(Work *w, State *s, void *userdata, void (*free_work)(Work *w));
void work_end(Work *w); /* frees it */

/* snapshot.c */
Snapshot *snapshot_new(void);
Snapshot *snapshot_free(Snapshot *n);
int snapshot_register(State *s, Snapshot *n); /* with its name. -EEXIST */
void snapshot_unregister(State *s, Snapshot *n);
void snapshot_set_last(State *s, const char *sandbox, const char *snapshot);
const char *snapshot_last(State *s, const Sandbox *sb); /* NULL: it began empty */
void snapshot_drop(State *s, const char *id); /* its tree, then its row; nobody waits */

/* copy.c */
typedef void (*CopyDone)(const Error *error, void *userdata);
int disk_copy(State *s, Sandbox *sb, const char *scratch /* its name */, CopyDone done, void *userdata, Error *reterr);
void scratch_drop(State *s, const char *scratch);

/* restore.c */
bool state_restores(const State *s, const Sandbox *sb); /* its disk becomes another one */

/* volume.c */
int volumes_load(State *s, Error *reterr);
void volumes_free(State *s);

/* fork.c */
void forks_free(State *s);
