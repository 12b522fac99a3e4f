/* take.c: a snapshot, step by step.
 *
 *      row        pending: whatever happens, the next start knows what to remove
 *      copy       of the disk, into scratch (copy.c)
 *      publish    synced, read-only, under its own name
 *      verify     looked at again
 *      row        not pending any more, synced: now it is there
 *
 * What fails in between takes all of it back. */

#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/shape.h"
#include "state/internal.h"

typedef struct Taking {
        Work work;
        Snapshot *snapshot; /* in the table, pending */
        SnapshotDone done;
        bool copied; /* there may be a tree to take back */
} Taking;

static void free_taking(Work *w) {
        free(w);
}

static void take_back(Taking *t) {
        State *s = t->work.state;

        scratch_drop(s, t->snapshot->id); /* also of a copy that has failed: nobody knows how far it came */
        if (t->copied)
                snapshot_drop(s, t->snapshot->id);
        else
                (void) store_snapshot_delete(s->manager->store, t->snapshot->id);
}

static void take_fail(Taking *t, const Error *why) {
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

/* How much it holds is a number for people, and asking takes longer than the rest: it is told later. */

typedef struct Measuring {
        Work work;
        char id[SNAPSHOT_ID_LENGTH + 1];
} Measuring;

static void take_on_measured(const TreeAnswer *answer, const Error *error, void *userdata) {
        Measuring *g = userdata;
        Snapshot *n;

        g->work.call = NULL;
        HASH_FIND_STR(g->work.state->snapshots, g->id, n);
        if (!error && n && !n->pending) {
                n->bytes = answer->bytes;
                (void) store_snapshot_update(g->work.state->manager->store, n);
        }
        work_end(&g->work);
}

static void take_measure(State *s, const Snapshot *n) {
        TreeRequest request = { .operation = TREE_USAGE, .n_refs = 1, .refs = { tree_ref(TREE_SNAPSHOT, n->id) } };
        Measuring *g = calloc(1, sizeof(*g));
        Error ignored = { 0 };

        if (!g)
                return;
        memcpy(g->id, n->id, sizeof(g->id));
        work_begin(&g->work, s, /* userdata= */ NULL, free_taking);
        if (trees_ask(s->manager, &request, NULL, NULL, take_on_measured, g, &g->work.call, &ignored) < 0)
                work_end(&g->work);
}

static void take_finish(Taking *t) {
        State *s = t->work.state;
        Snapshot *n = t->snapshot;
        SnapshotDone done = t->work.forgotten ? NULL : t->done;
        void *userdata = t->work.userdata;
        Error error = { 0 };
        int r;

        n->pending = false;
        r = store_snapshot_update(s->manager->store, n);
        if (r >= 0)
                r = store_sync(s->manager->store);
        if (r < 0) {
                n->pending = true;
                (void) error_set(&error, r, "cannot write the snapshot down: %m");
                take_fail(t, &error);
                return;
        }
        snapshot_set_last(s, n->sandbox, n->id);
        work_end(&t->work);
        take_measure(s, n);
        if (done)
                done(n, NULL, userdata);
}

static void take_on_verified(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;

        t->work.call = NULL;
        if (error)
                take_fail(t, error);
        else
                take_finish(t);
}

static void take_on_published(const TreeAnswer *answer, const Error *error, void *userdata) {
        Taking *t = userdata;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, t->snapshot->id);
        Error failure = { 0 };

        t->work.call = NULL;
        if (error)
                take_fail(t, error);
        else if (trees_verify(t->work.state->manager, &ref, take_on_verified, t, &t->work.call, &failure) < 0)
                take_fail(t, &failure);
}

static void take_on_copied(const Error *error, void *userdata) {
        Taking *t = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, t->snapshot->id), as = tree_ref(TREE_SNAPSHOT, t->snapshot->id);
        Error failure = { 0 };

        t->copied = !error;
        if (error)
                take_fail(t, error);
        else if (trees_publish(t->work.state->manager, &scratch, &as, take_on_published, t, &t->work.call, &failure) < 0)
                take_fail(t, &failure);
}

/* Asking. */

static int take_fill(State *s, const Sandbox *sb, Snapshot *n, const char *name, const char *comment, Error *reterr) {
        int r = id_make(n->id);

        if (r >= 0)
                r = shape_text_set(&n->name, name);
        if (r >= 0)
                r = shape_text_set(&n->comment, comment);
        if (r >= 0)
                r = shape_text_set(&n->tenant, sb->spec.tenant ? sb->spec.tenant : "");
        if (r >= 0)
                r = shape_text_set(&n->sandbox, sb->id);
        if (r >= 0)
                r = shape_text_set(&n->parent, snapshot_last(s, sb));
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        n->created_at = clock_wall_usec();
        n->pending = true;
        return sandbox_fork_spec(sb, &n->spec, reterr);
}

/* Its name is taken from here on. */
static int take_write_down(State *s, Snapshot *n, Error *reterr) {
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

static int take_start(State *s, Sandbox *sb, Snapshot *n, SnapshotDone done, void *userdata, Error *reterr) {
        Taking *t = calloc(1, sizeof(*t));
        int r;

        if (!t)
                return error_set(reterr, -ENOMEM, "out of memory");
        t->snapshot = n;
        t->done = done;
        work_begin(&t->work, s, userdata, free_taking);
        r = disk_copy(s, sb, n->id, take_on_copied, t, reterr);
        if (r < 0)
                work_end(&t->work);
        return r;
}

int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, SnapshotDone done, void *userdata, Error *reterr) {
        Snapshot *n;
        int r;

        if (HASH_COUNT(s->snapshots) >= SNAPSHOTS_MAX)
                return error_set(reterr, -EDQUOT, "there are %d snapshots already: remove some (`cove snapshot rm`)", SNAPSHOTS_MAX);
        n = snapshot_new();
        if (!n)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = take_fill(s, sb, n, name, comment, reterr);
        if (r >= 0)
                r = take_write_down(s, n, reterr);
        if (r < 0) {
                snapshot_free(n);
                return r;
        }
        r = take_start(s, sb, n, done, userdata, reterr);
        if (r < 0) {
                (void) store_snapshot_delete(s->manager->store, n->id);
                snapshot_unregister(s, n);
                snapshot_free(n);
        }
        return r;
}

int sandbox_fork_spec(const Sandbox *sb, SandboxSpec *ret, Error *reterr) {
        SandboxSpec spec;
        int r = sandbox_spec_copy(&sb->spec, &spec);

        if (r < 0)
                return error_set(reterr, r, "out of memory");
        (void) shape_text_set(&spec.name, NULL); /* one has it */
        (void) shape_text_set(&spec.snapshot, NULL);
        r = shape_text_set(&spec.parent, sb->id);
        spec.address = 0;
        spec.persistent = true;
        if (r < 0) {
                sandbox_spec_done(&spec);
                return error_set(reterr, r, "out of memory");
        }
        *ret = spec;
        return 0;
}
