/* state.h: a sandbox's disk as something that can be held: snapshots, forks, restore, parking, volumes.
 *
 * A snapshot is a row and a TREE_SNAPSHOT: the disk of a persistent sandbox, copied in O(1) while it was frozen, with what it takes to make a sandbox of it again (template, layer, limits,
 * environment, user, working directory). It is told as made when its tree was published, looked at again (TREE_VERIFY), and its row is in the store, synced.
 * A fork is a snapshot that only its children name, or one that exists, and N creates from it. Restore ends what runs, puts the snapshot's copy in the disk's place and starts again, under the same id.
 * Parking (pause to disk) is a synced disk without processes; the row says so; resume is another PID 1 on it.
 * Who descends from whom is kept: snapshot.sandbox, snapshot.parent, sandbox.snapshot, sandbox.parent.
 * A volume is a named TREE_VOLUME of a tenant's with a limit; it goes when it is removed and no sandbox has it.
 * May use: core, trees.h, store/state.h. Must not know: HTTP, SQL, btrfs. */
#pragma once

#include "core/acquire.h"
#include "core/manager.h"
#include "core/trees.h"

typedef struct State State;

#define SNAPSHOT_ID_LENGTH 21 /* as a sandbox's */

typedef struct Snapshot {
        char id[SNAPSHOT_ID_LENGTH + 1]; /* also its tree's name */
        char *name;       /* unique for its tenant; NULL: none */
        char *tenant;
        char *sandbox;    /* of which it was taken; may be gone */
        char *parent;     /* the snapshot from which that sandbox began, or the one taken of it before; NULL */
        char *comment;
        SandboxSpec spec; /* what a sandbox made of it gets, unless its maker says otherwise */
        bool hidden;      /* a fork's: goes with the last of its children */
        uint64_t bytes;
        usec_t created_at;
        UT_hash_handle hh;
} Snapshot;

typedef struct Volume {
        char id[SNAPSHOT_ID_LENGTH + 1]; /* also its tree's name */
        char *name, *tenant;
        uint64_t limit, bytes;
        usec_t created_at;
        UT_hash_handle hh;
} Volume;

int state_new(Manager *m, State **ret, Error *reterr); /* reads the store; trees without a row go, rows without a tree are told */
State *state_free(State *s);

typedef void (*SnapshotDone)(Snapshot *snapshot, const Error *error, void *userdata);
/* -EEXIST: the name is taken. -EOPNOTSUPP: its disk is memory, or there is no depot: with the cure. */
int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, SnapshotDone done, void *userdata, Error *reterr);
Snapshot *snapshot_find(State *s, const Principal *who, const char *id_or_name);
int snapshot_remove(State *s, Snapshot *snapshot, SnapshotDone done, void *userdata, Error *reterr); /* what began from it has a copy of its own */
/* The spec for a create from it, to be changed by who asked and given to manager_acquire(). */
int snapshot_spec(const Snapshot *snapshot, SandboxSpec *ret, Error *reterr);

typedef void (*VolumeDone)(Volume *volume, const Error *error, void *userdata);
int volume_make(State *s, const char *tenant, const char *name, uint64_t limit, VolumeDone done, void *userdata, Error *reterr);
Volume *volume_find(State *s, const Principal *who, const char *id_or_name);
int volume_remove(State *s, Volume *volume, VolumeDone done, void *userdata, Error *reterr); /* -EBUSY: names the sandboxes that have it */
