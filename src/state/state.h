/* state.h: operations on the disks of persistent sandboxes: snapshots, forks, restore; and volumes.
 *
 * A snapshot is a row and a TREE_SNAPSHOT: the disk of a persistent sandbox, copied in O(1) while the sandbox was
 * frozen, with everything needed to make a sandbox of it (template, layer, limits, environment, user, working
 * directory). It is reported as made after its tree was published and verified (TREE_VERIFY), and its row is in the
 * store, synced.
 * A fork creates N sandboxes from a scratch copy of a disk, which no listing shows, or from an existing snapshot.
 * Restore ends what runs, puts a copy of the snapshot in the disk's place and starts the sandbox again, with the
 * same id.
 * Parking (pause to disk) leaves a synced disk without processes, and the row says so; resume starts another PID 1
 * on it.
 * The rows keep the descent: snapshot.sandbox, snapshot.parent, sandbox.snapshot, sandbox.parent.
 * A volume is a named TREE_VOLUME of a tenant, with a limit; it can be removed only while no sandbox has it.
 * May use: core, trees.h. Must not know: HTTP, SQL, btrfs. */
#pragma once

#include "core/acquire.h"
#include "core/ledger.h"
#include "core/manager.h"
#include "core/trees.h"

typedef struct StateRoom State; /* not daemon/state.h's */

#define SNAPSHOT_ID_LENGTH 21 /* as a sandbox's */

/* The common part of a snapshot and a volume: a tree that belongs to a tenant, and its row. */
typedef struct HeldTree {
        char id[SNAPSHOT_ID_LENGTH + 1]; /* also its tree's name */
        char *name;    /* unique for its tenant; NULL: none */
        char *tenant;
        bool pending;  /* being made or removed: no caller sees it, and the next start removes what is left of it */
        bool missing;  /* its tree was not found at the start; not in the store */
        bool unseen;   /* not reported yet by the listing of trees at the start; not in the store */
        uint64_t bytes;
        usec_t created_at;
        LedgerEntry charge; /* for its tenant; not in the store */
        UT_hash_handle hh;
        PrefixNode prefix;
} HeldTree;

typedef void (*HeldDone)(HeldTree *tree, const Error *error, void *userdata); /* tree: first member of the Snapshot or Volume; NULL: none */

typedef struct Snapshot {
        HeldTree tree;
        char *sandbox;    /* the sandbox that it was taken of; may be gone */
        char *parent;     /* the snapshot taken of that sandbox before, else the one that its disk began as; may be NULL */
        char *comment;
        SandboxSpec spec; /* of a sandbox made of it, unless the caller overrides it */
} Snapshot;

typedef struct VolumeUser {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        UT_hash_handle hh;
} VolumeUser;

typedef struct Volume {
        HeldTree tree;     /* its bytes: as measured last; not in the store */
        uint64_t limit;
        VolumeUser *users; /* sandboxes that have it and have not ended; not in the store */
} Volume;

extern const Shape state_snapshot_shape, state_volume_shape;

/* Gives a tree in quarantine (core/quarantine.h) a row. The row is made from the spec, because its former contents
 * are unknown. Takes the spec's contents, always. -EEXIST: the name is taken. -EINVAL: it cannot be restored, or
 * the name is invalid; a volume must have a name. */
typedef struct Quarantined Quarantined;
int state_readmit(State *s, Quarantined *q, SandboxSpec *spec, Error *reterr);

/* Reads the store. Removes the trees of pending rows, and marks and logs rows without a tree. Trees without a row
 * are left to the quarantine. */
int state_new(Manager *m, State **ret, Error *reterr);
State *state_free(State *s);

#define SNAPSHOT_NAME_MAX    63
#define SNAPSHOT_COMMENT_MAX 1024
#define SNAPSHOTS_MAX        10000 /* per tenant */
#define FORK_MAX             500

/* -EEXIST: the name is taken. -EOPNOTSUPP: the sandbox is not persistent, or there is no depot; the error names the
 * cure. */
int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, HeldDone done, void *userdata, Error *reterr);
Snapshot *snapshot_find(State *s, const Principal *who, const char *id_or_name);
int snapshot_resolve(State *s, const Principal *who, const char *text, Snapshot **ret, Error *reterr); /* as manager_resolve() */
/* The next snapshot that `who` may see, in the order they were taken. after_at, after_id: time and id of the
 * previous one; after_id NULL: begins with the first. sandbox: only snapshots of this one; NULL: of all. */
Snapshot *snapshot_next(State *s, const Principal *who, const char *sandbox, usec_t after_at, const char *after_id);
/* Reads every byte of the snapshot. -EIO, -EUCLEAN: it is damaged. content: what was read. */
typedef struct SnapshotContent {
        uint64_t entries, bytes;
} SnapshotContent;
typedef void (*SnapshotVerified)(Snapshot *snapshot, const SnapshotContent *content, const Error *error, void *userdata);
int snapshot_verify(State *s, Snapshot *snapshot, SnapshotVerified done, void *userdata, Error *reterr);
/* The caller of these operations has gone: its done is not called any more; the operations continue. */
void state_forget_caller(State *s, void *userdata);
int snapshot_remove(State *s, Snapshot *snapshot, HeldDone done, void *userdata, Error *reterr); /* disks that began as it are copies */
/* The spec for a create from the snapshot; the caller changes it and passes it to manager_acquire(). */
int snapshot_spec(const Snapshot *snapshot, SandboxSpec *ret, Error *reterr);

/* The same for a fork of a live sandbox. */
int sandbox_fork_spec(const Sandbox *sb, SandboxSpec *ret, Error *reterr);

/* Makes n sandboxes from a sandbox or a snapshot; all or none. Takes the contents of the specs, which come from
 * sandbox_fork_spec() or snapshot_spec(), changed by the caller. done's list is borrowed, and in the order of the
 * specs. */
typedef struct Fork Fork;
typedef void (*ForkDone)(Sandbox *const *list, size_t n, const Error *error, void *userdata);
int state_fork(State *s, const Principal *who, Sandbox *of, Snapshot *from /* one of them */, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkDone done, void *userdata,
                Fork **ret /* NULL: it is over */, Error *reterr);
/* The same from a live sandbox, with a result for each: where list[i] is NULL, errors[i] has the reason. If none
 * could be begun, the call itself fails. */
typedef void (*ForkEachDone)(Sandbox *const *list, const Error *errors, size_t n, void *userdata);
int state_fork_each(State *s, const Principal *who, Sandbox *of, SandboxSpec *specs, size_t n, usec_t wait_usec, ForkEachDone done, void *userdata, Fork **ret /* NULL: it is over */,
                Error *reterr);
void fork_cancel(Fork *f); /* the caller has gone: sandboxes that were made are deleted */

/* Replaces the sandbox's disk by a copy of the snapshot; what runs in the sandbox ends. A parked sandbox stays
 * parked. */
int sandbox_restore(State *s, Sandbox *sb, Snapshot *snapshot, SandboxDone done, void *userdata, Error *reterr);

#define VOLUME_NAME_MAX  SNAPSHOT_NAME_MAX /* and as a snapshot's */
#define VOLUME_BYTES_MIN (UINT64_C(1) << 20)
#define VOLUME_BYTES_MAX (UINT64_C(1) << 50)
#define VOLUMES_MAX      10000 /* per tenant */

/* -EEXIST: the name is taken. -EINVAL: the name is invalid (core/name.h). -EDQUOT: the limit does not fit into the
 * tenant's quota of disk, or it has VOLUMES_MAX. -EOPNOTSUPP: there is no depot; the error names the cure. */
int volume_make(State *s, const Principal *who, const char *name, uint64_t limit, HeldDone done, void *userdata, Error *reterr);
Volume *volume_find(State *s, const Principal *who, const char *id_or_name);
int volume_resolve(State *s, const Principal *who, const char *text, Volume **ret, Error *reterr); /* as manager_resolve() */
Volume *volume_next(State *s, const Principal *who, usec_t after_at, const char *after_id); /* as snapshot_next() */
/* Measures how full all volumes are; done gets no volume. */
int volumes_measure(State *s, HeldDone done, void *userdata, Error *reterr);
int volume_remove(State *s, Volume *volume, HeldDone done, void *userdata, Error *reterr); /* -EBUSY: names the sandboxes that have it */
