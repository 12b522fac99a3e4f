/* take.c: a snapshot, step by step.
 *
 *      row        pending: whatever happens, the next start knows what to remove
 *      sync       what the sandbox has written goes to the storage while it runs, so that the copy has little left to write
 *      hold       everything in it stands still
 *      copy       of its disk, as it is at this moment, into scratch
 *      release    and from here on it does not notice
 *      publish    synced, read-only, under its own name
 *      verify     looked at again
 *      row        not pending any more, synced: now it is there
 *
 * What fails in between takes all of it back. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "jail/ids.h"
#include "state/internal.h"

typedef struct Taking {
        Work work;
        Snapshot *snapshot; /* in the table, pending */
        char sandbox[SANDBOX_ID_LENGTH + 1];
        SnapshotDone done;
        bool copied; /* there is something to take back */
} Taking;

static void free_taking(Work *w) {
        Taking *t = (Taking *) w;
        Sandbox *sb = state_sandbox(w->state, t->sandbox);

        if (sb) {
                sandbox_forget_caller(sb, t);
                sandbox_release(sb);
        }
        free(t);
}

static void on_scratch_gone(const TreeAnswer *answer, const Error *error, void *userdata) {
}

static void take_back(Taking *t) {
        State *s = t->work.state;
        TreeRef scratch = tree_ref(TREE_SCRATCH, t->snapshot->id);
        Error error = { 0 };

        if (!t->copied) {
                (void) store_snapshot_delete(s->manager->store, t->snapshot->id);
                return;
        }
        (void) trees_remove(s->manager, &scratch, on_scratch_gone, NULL, /* ret= */ NULL, &error);
        snapshot_drop(s, t->snapshot->id);
}

static void fail(Taking *t, const Error *why) {
        State *s = t->work.state;
        Snapshot *n = t->snapshot;
        SnapshotDone done = t->work.forgotten ? NULL : t->done;
        void *userdata = t->work.userdata;
        Error error = *why;

        if (error.code == -ECONNRESET)
                error.code = -EAGAIN;
        take_back(t);
        snapshot_unregister(s, n);
        snapshot_free(n);
        work_end(&t->work);
        if (done)
                done(NULL, &error, userdata);
}

static void fail_errno(Taking *t, int r, const char *what) {
        Error error = { 0 };

        (void) error_set(&error, r, "%s: %m", what);
        fail(t, &error);
}

/* 8 */
static void finish(Taking *t) {
        State *s = t->work.state;
        Snapshot *n = t->snapshot;
        SnapshotDone done = t->work.forgotten ? NULL : t->done;
        void *userdata = t->work.userdata;
        int r;

        n->pending = false;
        r = store_snapshot_update(s->manager->store, n);
        if (r >= 0)
                r = store_sync(s->manager->store);
        if (r < 0) {
                n->pending = true;
                fail_errno(t, r, "cannot write the snapshot down");
                return;
        }
        if (!n->hidden)
                snapshot_set_last(s, n->sandbox, n->id);
        work_end(&t->work);
        if (done)
                done(n, NULL, userdata);
}

static void on_measured(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;

        t->work.call = NULL;
        if (!error)
                t->snapshot->bytes = answer->bytes;
        finish(t);
}

static void on_verified(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;
        TreeRequest request = { .operation = TREE_USAGE, .n_refs = 1, .refs = { tree_ref(TREE_SNAPSHOT, t->snapshot->id) } };
        Error ignored = { 0 };

        t->work.call = NULL;
        if (error)
                fail(t, error);
        else if (t->snapshot->hidden ||
                        trees_ask(t->work.state->manager, &request, NULL, NULL, on_measured, t, &t->work.call, &ignored) < 0)
                finish(t); /* a number for people */
}

static void on_published(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, t->snapshot->id);
        Error failure = { 0 };

        t->work.call = NULL;
        if (error)
                fail(t, error);
        else if (trees_verify(t->work.state->manager, &ref, on_verified, t, &t->work.call, &failure) < 0)
                fail(t, &failure);
}

static void on_copied(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, t->snapshot->id), as = tree_ref(TREE_SNAPSHOT, t->snapshot->id);
        Sandbox *sb = state_sandbox(t->work.state, t->sandbox);
        Error failure = { 0 };

        t->work.call = NULL;
        if (sb)
                sandbox_release(sb);
        if (error)
                fail(t, error);
        else if (trees_publish(t->work.state->manager, &scratch, &as, on_published, t, &t->work.call, &failure) < 0)
                fail(t, &failure);
}

static void on_held(Sandbox *sb, const Error *error, void *userdata) {
        Taking *t = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, t->snapshot->id), disk = tree_ref(TREE_DISK, t->sandbox);
        Error failure = { 0 };

        if (error) {
                fail(t, error);
                return;
        }
        t->copied = true;
        if (trees_make(t->work.state->manager, &scratch, &disk, /* limit= */ 0, on_copied, t, &t->work.call, &failure) < 0)
                fail(t, &failure);
}

static void on_synced(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;
        Sandbox *sb = state_sandbox(t->work.state, t->sandbox);
        Error failure = { 0 };
        int r = error ? error->code : 0;

        t->work.call = NULL;
        if (!sb)
                r = error_set(&failure, -ESTALE, "the sandbox has ended");
        else if (r >= 0)
                r = sandbox_hold(sb, on_held, t, &failure);
        if (r < 0)
                fail(t, error ? error : &failure);
}

/* Asking. */

static int check(State *s, const Sandbox *sb, Error *reterr) {
        if (!sb->spec.persistent)
                return error_set(reterr, -EOPNOTSUPP,
                                "the sandbox's disk goes with its processes and cannot be copied: make it with \"persistent\": true");
        if (!trees_have_disks(s->manager, reterr))
                return -EOPNOTSUPP;
        if (sb->status == SANDBOX_INITIALIZING || sb->status == SANDBOX_TERMINATING || sandbox_status_is_ended(sb->status) ||
                        sb->halt != HALT_NONE || sb->booting)
                return error_set(reterr, -ESTALE, "Cannot copy the sandbox (state: %s)", sandbox_status_name(sb->status));
        if (HASH_COUNT(s->snapshots) >= SNAPSHOTS_MAX)
                return error_set(reterr, -EDQUOT, "there are %d snapshots already: remove some (`cove snapshot rm`)", SNAPSHOTS_MAX);
        return 0;
}

static int fill(State *s, const Sandbox *sb, Snapshot *n, const char *name, const char *comment, Error *reterr) {
        int r = id_make(n->id);

        if (r >= 0)
                r = sandbox_text_set(&n->name, name);
        if (r >= 0)
                r = sandbox_text_set(&n->comment, comment);
        if (r >= 0)
                r = sandbox_text_set(&n->tenant, sb->spec.tenant ? sb->spec.tenant : "");
        if (r >= 0)
                r = sandbox_text_set(&n->sandbox, sb->id);
        if (r >= 0)
                r = sandbox_text_set(&n->parent, snapshot_last(s, sb));
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        n->created_at = clock_wall_usec();
        n->pending = true;
        return sandbox_fork_spec(sb, &n->spec, reterr);
}

/* Its name is taken from here on. */
static int write_down(State *s, Snapshot *n, Error *reterr) {
        int r = snapshot_register(s, n);

        if (r == -EEXIST)
                return error_set(reterr, r, "there is a snapshot '%s' already: choose another name, or remove it (`cove snapshot rm %s`)", n->name, n->name);
        if (r >= 0)
                r = store_snapshot_insert(s->manager->store, n);
        if (r < 0) {
                snapshot_unregister(s, n);
                return error_set(reterr, r, "cannot write the snapshot down: %m");
        }
        return 0;
}

static int start(State *s, Sandbox *sb, Snapshot *n, SnapshotDone done, void *userdata, Error *reterr) {
        TreeRequest request = { .operation = TREE_SYNC, .n_refs = 1, .refs = { tree_ref(TREE_DISK, sb->id) } };
        Taking *t = calloc(1, sizeof(*t));
        int r;

        if (!t)
                return error_set(reterr, -ENOMEM, "out of memory");
        t->snapshot = n;
        t->done = done;
        memcpy(t->sandbox, sb->id, sizeof(t->sandbox));
        work_begin(&t->work, s, userdata, free_taking);
        r = trees_ask(s->manager, &request, /* fds= */ NULL, /* item= */ NULL, on_synced, t, &t->work.call, reterr);
        if (r < 0)
                work_end(&t->work);
        return r;
}

static int take(State *s, Sandbox *sb, const char *name, const char *comment, bool hidden, SnapshotDone done, void *userdata, Error *reterr) {
        Snapshot *n;
        int r = check(s, sb, reterr);

        if (r < 0)
                return r;
        n = snapshot_new();
        if (!n)
                return error_set(reterr, -ENOMEM, "out of memory");
        n->hidden = hidden;
        r = fill(s, sb, n, name, comment, reterr);
        if (r >= 0)
                r = write_down(s, n, reterr);
        if (r < 0) {
                snapshot_free(n);
                return r;
        }
        r = start(s, sb, n, done, userdata, reterr);
        if (r < 0) {
                (void) store_snapshot_delete(s->manager->store, n->id);
                snapshot_unregister(s, n);
                snapshot_free(n);
        }
        return r;
}

int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, SnapshotDone done, void *userdata, Error *reterr) {
        return take(s, sb, name, comment, /* hidden= */ false, done, userdata, reterr);
}

int snapshot_take_hidden(State *s, Sandbox *sb, SnapshotDone done, void *userdata, Error *reterr) {
        return take(s, sb, /* name= */ NULL, /* comment= */ NULL, /* hidden= */ true, done, userdata, reterr);
}

void snapshot_let_go(State *s, Snapshot *n) {
        Error error = { 0 };

        if (snapshot_remove(s, n, /* done= */ NULL, /* userdata= */ NULL, &error) < 0)
                log_warning("snapshot %s: cannot be removed now, the next start tries again: %s", n->id, error.text);
}

int sandbox_fork_spec(const Sandbox *sb, SandboxSpec *ret, Error *reterr) {
        SandboxSpec spec;
        int r = sandbox_spec_copy(&sb->spec, &spec);

        if (r < 0)
                return error_set(reterr, r, "out of memory");
        (void) sandbox_text_set(&spec.name, NULL); /* one has it */
        (void) sandbox_text_set(&spec.snapshot, NULL);
        r = sandbox_text_set(&spec.parent, sb->id);
        spec.address = 0;
        spec.persistent = true;
        if (r < 0) {
                sandbox_spec_done(&spec);
                return error_set(reterr, r, "out of memory");
        }
        *ret = spec;
        return 0;
}
