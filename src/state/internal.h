/* internal.h: declarations shared by the files of this room; private to it. */
#pragma once

#include "base/sequence.h"
#include "state/rows.h"
#include "state/state.h"

/* One operation in progress, a sequence of steps or a single tree request: a snapshot being taken, checked or
 * removed, a fork, a restore. The struct of each operation begins with a Work, so that all of them can be found
 * when the room is closed or their caller goes away. */
typedef struct Work {
        State *state;
        SequenceRun run;
        TreeCall *call; /* in progress; NULL: none */
        void *userdata; /* the caller's */
        bool forgotten; /* the caller has gone: it is not called back */
        void (*free)(struct Work *w);
        struct Work *prev, *next;
} Work;

/* What differs between snapshots and volumes. */
typedef struct HeldKind {
        const char *noun, *nouns;
        TreeKind tree;
        const StoreTable *table;
        size_t size;    /* of a row */
        bool measured;  /* a listing of the trees updates their bytes */
        bool name_cure; /* the error for a taken name says how to remove its owner */
        LedgerKind charge;
        unsigned max;   /* per tenant */
        uint64_t (*holds)(const HeldTree *t); /* the amount to charge */
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
        HeldTree *by_id; /* in order of creation */
        HeldName *names;
        PrefixIndex prefixes;
} HeldTable;

/* The newest snapshot of a sandbox: the parent of its next one. */
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
int work_start(Work *w, const Sequence *sequence, Error *reterr); /* negative: failed at once; it is undone and freed */
void work_end(Work *w); /* frees it */
void work_free_plain(Work *w); /* the free() of a Work that owns nothing */
/* Steps that ask the spawner about trees and wait for the answer. */
/* tenant: its quota of disk is charged. */
int work_make(Work *w, const char *tenant, const TreeRef *ref, const TreeRef *from /* or NULL */, uint64_t limit, Error *reterr);
int work_ask(Work *w, TreeOperation operation, const TreeRef *ref, const TreeRef *second /* or NULL */, uint64_t bytes, Error *reterr);
void work_on_answer(const TreeAnswer *answer, const Error *error, void *work);
void work_on_done(const Error *error, void *work); /* the end of another operation that a step waits for */
Error work_error(const Error *error /* or NULL */); /* for the caller: -ECONNRESET (the spawner died) becomes -EAGAIN */

/* A snapshot or volume that is being made. */
typedef struct HeldMaking {
        Work work;
        HeldTable *all;
        HeldTree *tree; /* pending; NULL: undone */
        bool may_have_tree;
        HeldDone done;
} HeldMaking;

/* held.c */
int held_write_down(void *object, Error *reterr); /* writes the pending row, takes the name, charges the tenant. -EEXIST, -EDQUOT, -EOVERFLOW */
int held_strike_out(void *object, Error *why);    /* removes the tree, if there may be one, then the row */
int held_settle(void *object, Error *reterr);     /* writes the final row: the object exists from here on */
HeldTree *held_by_id(const HeldTable *all, const char *id);
HeldTree *held_find(const HeldTable *all, const Principal *who, const char *id_or_name);
int held_resolve(const HeldTable *all, const Principal *who, const char *text, HeldTree **ret, Error *reterr);
HeldTree *held_next(const HeldTable *all, const Principal *who, usec_t after_at, const char *after_id);
int held_remove(HeldTable *all, HeldTree *t, HeldDone done, void *userdata, Error *reterr);
void held_drop(HeldTable *all, const char *id); /* removes its tree, then its row, without a callback */
int held_measure(HeldTable *all, HeldDone done, void *userdata, Error *reterr);
void held_charge(HeldTable *all, HeldTree *t); /* after a change of the amount that it holds */
int held_update(const HeldTable *all, const HeldTree *t); /* writes its row */
int held_load(HeldTable *all, Error *reterr);
void held_done(HeldTable *all);

/* snapshot.c */
extern const HeldKind snapshot_kind;
Snapshot *snapshot_new(void);
Snapshot *snapshot_free(Snapshot *n);
void snapshot_set_last(State *s, const char *sandbox, const char *snapshot);
const char *snapshot_last(State *s, const Sandbox *sb); /* else the one that its disk began as; NULL: it began empty */

/* The sequences, also for tests. */
extern const Sequence copy_sequence, take_sequence, restore_sequence, fork_sequence, removal_sequence, volume_sequence;

/* copy.c */
typedef void (*CopyDone)(const Error *error, void *userdata);
/* Whether the sandbox's disk can be copied or replaced now; verb and done are for the error. */
int disk_check(State *s, const Sandbox *sb, const char *verb, const char *done /* "copy", "copied" */, Error *reterr);
int disk_copy(State *s, Sandbox *sb, const char *scratch /* name of the new TREE_SCRATCH */, CopyDone done, void *userdata, Error *reterr);
void scratch_drop(State *s, const char *scratch);

/* restore.c */
bool state_restores(const State *s, const Sandbox *sb); /* a restore of it is in progress */

/* volume.c */
extern const HeldKind volume_kind;
int volumes_load(State *s, Error *reterr);
void volumes_stop(State *s);
