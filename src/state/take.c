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
        Sandbox *sandbox;   /* until it is being copied */
        Snapshot *snapshot; /* pending */
        SnapshotDone done;
        bool copied, published; /* or it was asked for: there may be something to take back */
} Taking;

static void free_taking(Work *w) {
        free(w);
}

/* Its name is taken from here on. */
static int take_write_down(void *object, Error *reterr) {
        Taking *t = object;
        State *s = t->work.state;
        Snapshot *n = t->snapshot;
        int r = snapshot_register(s, n);

        if (r == -EEXIST)
                return error_set(reterr, r, "there is a snapshot '%s' already: choose another name, or remove it (`cove snapshot rm %s`)", n->name, n->name);
        if (r >= 0)
                r = store_snapshot_insert(s->manager->store, n);
        return r < 0 ? error_set(reterr, r, "cannot write the snapshot down: %m") : STEP_DONE;
}

/* The row goes after the tree, where there may be one. */
static int take_strike_out(void *object, Error *why) {
        Taking *t = object;
        State *s = t->work.state;

        if (t->published)
                snapshot_drop(s, t->snapshot->id);
        else
                (void) store_snapshot_delete(s->manager->store, t->snapshot->id);
        snapshot_unregister(s, t->snapshot);
        t->snapshot = snapshot_free(t->snapshot);
        return STEP_DONE;
}

static int take_copy(void *object, Error *reterr) {
        Taking *t = object;
        int r = disk_copy(t->work.state, t->sandbox, t->snapshot->id, work_on_done, t, reterr);

        t->copied = r >= 0;
        return r < 0 ? r : STEP_WAITS;
}

/* Also of a copy that has failed: nobody knows how far it came. */
static int take_drop_copy(void *object, Error *why) {
        Taking *t = object;

        if (t->copied)
                scratch_drop(t->work.state, t->snapshot->id);
        return STEP_DONE;
}

static int take_publish(void *object, Error *reterr) {
        Taking *t = object;
        TreeRef scratch = tree_ref(TREE_SCRATCH, t->snapshot->id), as = tree_ref(TREE_SNAPSHOT, t->snapshot->id);

        t->published = true;
        return work_ask(&t->work, TREE_PUBLISH, &scratch, &as, /* bytes= */ 0, reterr);
}

static int take_verify(void *object, Error *reterr) {
        Taking *t = object;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, t->snapshot->id);

        return work_ask(&t->work, TREE_VERIFY, &ref, NULL, /* bytes= */ 0, reterr);
}

static int take_write_final(void *object, Error *reterr) {
        Taking *t = object;
        Store *store = t->work.state->manager->store;
        int r;

        t->snapshot->pending = false;
        r = store_snapshot_update(store, t->snapshot);
        if (r >= 0)
                r = store_sync(store);
        if (r >= 0)
                return STEP_DONE;
        t->snapshot->pending = true;
        return error_set(reterr, r, "cannot write the snapshot down: %m");
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

static void take_end(void *object, const Error *error) {
        Taking *t = object;
        State *s = t->work.state;
        Snapshot *n = t->snapshot; /* NULL with an error */
        Error told = work_error(error);

        if (n) {
                snapshot_set_last(s, n->sandbox, n->id);
                take_measure(s, n);
        }
        if (!t->work.forgotten)
                t->done(n, error ? &told : NULL, t->work.userdata);
        work_end(&t->work);
}

static const SequenceStep take_steps[] = {
        { "row",       take_write_down, take_strike_out },
        { "copy",      take_copy,       take_drop_copy },
        { "publish",   take_publish },
        { "verify",    take_verify },
        { "final row", take_write_final },
};
const Sequence take_sequence = SEQUENCE("snapshot", take_steps, take_end);

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

int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, SnapshotDone done, void *userdata, Error *reterr) {
        Taking *t;
        int r;

        if (HASH_COUNT(s->snapshots) >= SNAPSHOTS_MAX)
                return error_set(reterr, -EDQUOT, "there are %d snapshots already: remove some (`cove snapshot rm`)", SNAPSHOTS_MAX);
        t = calloc(1, sizeof(*t));
        if (t)
                t->snapshot = snapshot_new();
        r = t && t->snapshot ? take_fill(s, sb, t->snapshot, name, comment, reterr) : error_set(reterr, -ENOMEM, "out of memory");
        if (r < 0) {
                if (t)
                        snapshot_free(t->snapshot);
                free(t);
                return r;
        }
        t->sandbox = sb;
        t->done = done;
        work_begin(&t->work, s, userdata, free_taking);
        return work_start(&t->work, &take_sequence, reterr);
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
