/* state.h: a sandbox's disk as something that can be held: snapshots, forks, restore, parking, volumes.
 *
 * A snapshot is a row and a TREE_SNAPSHOT: the disk of a persistent sandbox, copied in O(1) while it was frozen, with what it takes to make a sandbox of it again (template, layer, limits,
 * environment, user, working directory). It is told as made when its tree was published, looked at again (TREE_VERIFY), and its row is in the store, synced.
 * A fork is a copy of the disk that nobody sees, or a snapshot that exists, and N creates from it. Restore ends what runs, puts the snapshot's copy in the disk's place
 * and starts again, under the same id.
 * Parking (pause to disk) is a synced disk without processes; the row says so; resume is another PID 1 on it.
 * Who descends from whom is kept: snapshot.sandbox, snapshot.parent, sandbox.snapshot, sandbox.parent.
 * A volume is a named TREE_VOLUME of a tenant's with a limit; it goes when it is removed and no sandbox has it.
 * May use: core, trees.h. Must not know: HTTP, SQL, btrfs. */
#pragma once

#include "core/acquire.h"
#include "core/ledger.h"
#include "core/manager.h"
#include "core/trees.h"

typedef struct StateRoom State; /* not daemon/state.h's */

#define SNAPSHOT_ID_LENGTH 21 /* as a sandbox's */

/* What a snapshot and a volume have in common: a tree with a name of a tenant's, and a row. */
typedef struct HeldTree {
        char id[SNAPSHOT_ID_LENGTH + 1]; /* also its tree's name */
        char *name;    /* unique for its tenant; NULL: none */
        char *tenant;
        bool pending;  /* being made or removed: nobody sees it, and the next start removes what is left of it */
        bool missing;  /* its tree was not there when it was looked for; not in the store */
        bool unseen;   /* not on the list of trees that is asked for at the start, so far; not in the store */
        uint64_t bytes;
        usec_t created_at;
        LedgerEntry charge; /* for its tenant; not in the store */
        UT_hash_handle hh;
        PrefixNode prefix;
} HeldTree;

typedef void (*HeldDone)(HeldTree *tree, const Error *error, void *userdata); /* the first member of a Snapshot or a Volume; NULL: there is none */

typedef struct Snapshot {
        HeldTree tree;
        char *sandbox;    /* of which it was taken; may be gone */
        char *parent;     /* the snapshot from which that sandbox began, or the one taken of it before; NULL */
        char *comment;
        SandboxSpec spec; /* what a sandbox made of it gets, unless its maker says otherwise */
} Snapshot;

typedef struct VolumeUser {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        UT_hash_handle hh;
} VolumeUser;

typedef struct Volume {
        HeldTree tree;     /* its bytes: as they were told last; not in the store */
        uint64_t limit;
        VolumeUser *users; /* sandboxes that have it and have not ended; not in the store */
} Volume;

extern const Shape state_snapshot_shape, state_volume_shape;

/* A tree of the quarantine (core/quarantine.h) gets a row, which is as the spec says: nobody knows what it was. Takes the spec's contents, always. -EEXIST: its name is
 * taken. -EINVAL: it cannot have such a row; a volume must have a name. */
typedef struct Quarantined Quarantined;
int state_readmit(State *s, Quarantined *q, SandboxSpec *spec, Error *reterr);

int state_new(Manager *m, State **ret, Error *reterr); /* reads the store; trees without a row go, rows without a tree are told */
State *state_free(State *s);

#define SNAPSHOT_NAME_MAX    63
#define SNAPSHOT_COMMENT_MAX 1024
#define SNAPSHOTS_MAX        10000 /* of one tenant */
#define FORK_MAX             500

/* -EEXIST: the name is taken. -EOPNOTSUPP: its disk is memory, or there is no depot: with the cure. */
int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, HeldDone done, void *userdata, Error *reterr);
Snapshot *snapshot_find(State *s, const Principal *who, const char *id_or_name);
int snapshot_resolve(State *s, const Principal *who, const char *text, Snapshot **ret, Error *reterr); /* as manager_resolve() */
/* In the order they were taken, those that `who` may see; after: the one told last, by its time and id; NULL: from the first. sandbox: only of that one; NULL: all. */
Snapshot *snapshot_next(State *s, const Principal *who, const char *sandbox, usec_t after_at, const char *after_id);
/* Every byte of it is read: -EIO, -EUCLEAN: it is damaged. ret: what it has. */
typedef struct SnapshotContent {
        uint64_t entries, bytes;
} SnapshotContent;
typedef void (*SnapshotVerified)(Snapshot *snapshot, const SnapshotContent *content, const Error *error, void *userdata);
int snapshot_verify(State *s, Snapshot *snapshot, SnapshotVerified done, void *userdata, Error *reterr);
void state_forget_caller(State *s, void *userdata); /* whoever asked for a snapshot, its removal, its check or a restore has gone: it is done all the same */
int snapshot_remove(State *s, Snapshot *snapshot, HeldDone done, void *userdata, Error *reterr); /* what began from it has a copy of its own */
/* The spec for a create from it, to be changed by who asked and given to manager_acquire(). */
int snapshot_spec(const Snapshot *snapshot, SandboxSpec *ret, Error *reterr);

/* The same of a sandbox as it is: what a fork of it gets. */
int sandbox_fork_spec(const Sandbox *sb, SandboxSpec *ret, Error *reterr);

/* n sandboxes out of one, or out of a snapshot; all or none. Takes the specs' contents; they are those of sandbox_fork_spec() or snapshot_spec(), changed by who asked.
 * The list is borrowed, and in their order. */
typedef struct Fork Fork;
typedef void (*ForkDone)(Sandbox *const *list, size_t n, const Error *error, void *userdata);
int state_fork(State *s, const Principal *who, Sandbox *of, Snapshot *from /* one of them */, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkDone done, void *userdata,
                Fork **ret /* NULL: it is over */, Error *reterr);
/* The same of a live one, each for itself: where list[i] is NULL, errors[i] says why. What keeps all of them from being begun is the call's error. */
typedef void (*ForkEachDone)(Sandbox *const *list, const Error *errors, size_t n, void *userdata);
int state_fork_each(State *s, const Principal *who, Sandbox *of, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkEachDone done, void *userdata, Fork **ret /* NULL: it is over */,
                Error *reterr);
void fork_cancel(Fork *f); /* the asker has gone: what was made goes too */

/* Its disk becomes what the snapshot is; what runs in it ends. One that was parked stays so. */
int sandbox_restore(State *s, Sandbox *sb, Snapshot *snapshot, SandboxDone done, void *userdata, Error *reterr);

#define VOLUME_NAME_MAX  SNAPSHOT_NAME_MAX /* and as a snapshot's */
#define VOLUME_BYTES_MIN (UINT64_C(1) << 20)
#define VOLUME_BYTES_MAX (UINT64_C(1) << 50)
#define VOLUMES_MAX      10000 /* of one tenant */

/* -EEXIST: the name is taken. -EINVAL: it is none (core/name.h). -EDQUOT: all of the caller's tenant together would not fit into what it may have on disk.
 * -EOPNOTSUPP: there is no depot: with the cure. */
int volume_make(State *s, const Principal *who, const char *name, uint64_t limit, HeldDone done, void *userdata, Error *reterr);
Volume *volume_find(State *s, const Principal *who, const char *id_or_name);
int volume_resolve(State *s, const Principal *who, const char *text, Volume **ret, Error *reterr); /* as manager_resolve() */
Volume *volume_next(State *s, const Principal *who, usec_t after_at, const char *after_id); /* as snapshot_next() */
/* Asks how full all of them are; done gets no volume. */
int volumes_measure(State *s, HeldDone done, void *userdata, Error *reterr);
int volume_remove(State *s, Volume *volume, HeldDone done, void *userdata, Error *reterr); /* -EBUSY: names the sandboxes that have it */
