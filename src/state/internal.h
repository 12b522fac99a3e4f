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

/* All snapshots, or all volumes. */
typedef struct HeldKind {
        const char *noun, *nouns;
        TreeKind tree;
        const StoreTable *table;
        size_t size;    /* of a row */
        bool measured;  /* when all are listed */
        bool name_cure; /* told with a name that is taken */
        LedgerKind charge;
        unsigned max;   /* of one tenant */
        uint64_t (*holds)(const HeldTree *t); /* what is charged for it */
        void (*free)(HeldTree *t);
} HeldKind;

typedef struct HeldName {
        char key[ACCESS_NAME_MAX + SNAPSHOT_NAME_MAX + 3]; /* "tenant/name" */
        HeldTree *tree;
        UT_hash_handle hh;
} HeldName;

typedef struct HeldTable {
        const HeldKind *kind;
        State *state;
        HeldTree *by_id; /* in the order they were made */
        HeldName *names;
        PrefixIndex prefixes;
} HeldTable;

/* The newest of a sandbox: the parent of the next. */
typedef struct SnapshotLast {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        char snapshot[SNAPSHOT_ID_LENGTH + 1];
        UT_hash_handle hh;
} SnapshotLast;

struct StateRoom {
        Manager *manager;
        HeldTable snapshots, volumes;
        SnapshotLast *lasts;
        Work *works;
        CoreObserver observer; /* volume.c's */
};

/* state.c */
void work_begin(Work *w, State *s, void *userdata, void (*free_work)(Work *w));
int work_start(Work *w, const Sequence *sequence, Error *reterr); /* negative: it failed at once, all of it is undone, and it is gone */
void work_end(Work *w); /* frees it */
void work_free_plain(Work *w); /* one that owns nothing */
/* Steps that ask for something about trees, and wait for the answer. */
/* tenant: whose quota of disk it counts for. */
int work_make(Work *w, const char *tenant, const TreeRef *ref, const TreeRef *from /* or NULL */, uint64_t limit, Error *reterr);
int work_ask(Work *w, TreeOperation operation, const TreeRef *ref, const TreeRef *second /* or NULL */, uint64_t bytes, Error *reterr);
void work_on_answer(const TreeAnswer *answer, const Error *error, void *work);
void work_on_done(const Error *error, void *work); /* of another work that a step waits for */
Error work_error(const Error *error /* or NULL */); /* as the asker is told: whom a dead spawner has left without an answer, may try again */

/* One that is being made. */
typedef struct HeldMaking {
        Work work;
        HeldTable *all;
        HeldTree *tree; /* pending; NULL: taken back */
        bool may_have_tree;
        HeldDone done;
} HeldMaking;

/* held.c */
int held_write_down(void *object, Error *reterr); /* its name is taken from here on, and what it holds is its tenant's. -EEXIST, -EDQUOT, -EOVERFLOW */
int held_strike_out(void *object, Error *why);    /* the row goes after the tree, where there may be one */
int held_settle(void *object, Error *reterr);     /* not pending any more: now it is there */
HeldTree *held_by_id(const HeldTable *all, const char *id);
HeldTree *held_find(const HeldTable *all, const Principal *who, const char *id_or_name);
int held_resolve(const HeldTable *all, const Principal *who, const char *text, HeldTree **ret, Error *reterr);
HeldTree *held_next(const HeldTable *all, const Principal *who, usec_t after_at, const char *after_id);
int held_remove(HeldTable *all, HeldTree *t, HeldDone done, void *userdata, Error *reterr);
void held_drop(HeldTable *all, const char *id); /* its tree, then its row; nobody waits */
int held_measure(HeldTable *all, HeldDone done, void *userdata, Error *reterr);
void held_charge(HeldTable *all, HeldTree *t); /* what it holds has changed */
int held_update(const HeldTable *all, const HeldTree *t); /* its row */
int held_load(HeldTable *all, Error *reterr);
void held_done(HeldTable *all);

/* snapshot.c */
extern const HeldKind snapshot_kind;
Snapshot *snapshot_new(void);
Snapshot *snapshot_free(Snapshot *n);
void snapshot_set_last(State *s, const char *sandbox, const char *snapshot);
const char *snapshot_last(State *s, const Sandbox *sb); /* NULL: it began empty */

/* The tables, also for tests. */
extern const Sequence copy_sequence, take_sequence, restore_sequence, fork_sequence, removal_sequence, volume_sequence;

/* copy.c */
typedef void (*CopyDone)(const Error *error, void *userdata);
int disk_check(State *s, const Sandbox *sb, const char *verb, const char *done /* "copy", "copied" */, Error *reterr); /* may that be done with it now? */
int disk_copy(State *s, Sandbox *sb, const char *scratch /* its name */, CopyDone done, void *userdata, Error *reterr);
void scratch_drop(State *s, const char *scratch);

/* restore.c */
bool state_restores(const State *s, const Sandbox *sb); /* its disk becomes another one */

/* volume.c */
extern const HeldKind volume_kind;
int volumes_load(State *s, Error *reterr);
void volumes_stop(State *s);
