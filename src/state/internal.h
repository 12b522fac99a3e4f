/* internal.h: what the files of this room share among themselves. Nobody else includes it. */
#pragma once

#include "base/sequence.h"
#include "state/rows.h"
#include "state/state.h"

/* Something that goes on, as a sequence of steps or as one question: a snapshot being taken, checked or removed, a fork, a restore. Each is a struct that begins with one, so that all can
 * be found when the room is closed or their asker has gone. */
typedef struct Work {
        State *state;
        SequenceRun run;
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
        Volume *volumes; /* by id */
        void *volume_data; /* volume.c's own */
};

/* state.c */
void work_begin(Work *w, State *s, void *userdata, void (*free_work)(Work *w));
int work_start(Work *w, const Sequence *sequence, Error *reterr); /* negative: it failed at once, all of it is undone, and it is gone */
void work_end(Work *w); /* frees it */
/* Steps that ask for something about trees, and wait for the answer. */
int work_ask(Work *w, TreeOperation operation, const TreeRef *ref, const TreeRef *second /* or NULL */, uint64_t bytes, Error *reterr);
void work_on_answer(const TreeAnswer *answer, const Error *error, void *work);
void work_on_done(const Error *error, void *work); /* of another work that a step waits for */
Error work_error(const Error *error /* or NULL */); /* as the asker is told: whom a dead spawner has left without an answer, may try again */

/* snapshot.c */
Snapshot *snapshot_new(void);
Snapshot *snapshot_free(Snapshot *n);
int snapshot_register(State *s, Snapshot *n); /* with its name. -EEXIST */
void snapshot_unregister(State *s, Snapshot *n);
void snapshot_set_last(State *s, const char *sandbox, const char *snapshot);
const char *snapshot_last(State *s, const Sandbox *sb); /* NULL: it began empty */
void snapshot_drop(State *s, const char *id); /* its tree, then its row; nobody waits */

/* Each room's table, for tests as well. */
extern const Sequence copy_sequence, take_sequence, restore_sequence, fork_sequence;

/* copy.c */
typedef void (*CopyDone)(const Error *error, void *userdata);
int disk_copy(State *s, Sandbox *sb, const char *scratch /* its name */, CopyDone done, void *userdata, Error *reterr);
void scratch_drop(State *s, const char *scratch);

/* restore.c */
bool state_restores(const State *s, const Sandbox *sb); /* its disk becomes another one */

/* volume.c */
int volumes_load(State *s, Error *reterr);
void volumes_free(State *s);
