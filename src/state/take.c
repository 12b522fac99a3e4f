/* take.c: takes a snapshot, step by step.
 *
 *      row        pending: after a crash, the next start knows what to remove
 *      copy       of the disk, to a scratch tree (copy.c)
 *      publish    synced, read-only, under its own name
 *      verify     the published tree
 *      row        final, synced: the snapshot exists from here on
 *
 * A failure undoes all steps before it. */

#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/shape.h"
#include "state/internal.h"

typedef struct Taking {
        HeldMaking making;
        Sandbox *sandbox; /* until it is copied */
        bool copied;      /* or the copy was requested: there may be one to remove */
} Taking;

static int take_copy(void *object, Error *reterr) {
        Taking *t = object;
        int r = disk_copy(t->making.work.state, t->sandbox, t->making.tree->id, work_on_done, t, reterr);

        t->copied = r >= 0;
        return r < 0 ? r : STEP_WAITS;
}

/* Also after a failed copy, which may be incomplete. */
static int take_drop_copy(void *object, Error *why) {
        Taking *t = object;

        if (t->copied)
                scratch_drop(t->making.work.state, t->making.tree->id);
        return STEP_DONE;
}

static int take_publish(void *object, Error *reterr) {
        Taking *t = object;
        TreeRef scratch = tree_ref(TREE_SCRATCH, t->making.tree->id), as = tree_ref(TREE_SNAPSHOT, t->making.tree->id);

        t->making.may_have_tree = true;
        return work_ask(&t->making.work, TREE_PUBLISH, &scratch, &as, /* bytes= */ 0, reterr);
}

static int take_verify(void *object, Error *reterr) {
        Taking *t = object;
        TreeRef ref = tree_ref(TREE_SNAPSHOT, t->making.tree->id);

        return work_ask(&t->making.work, TREE_VERIFY, &ref, NULL, /* bytes= */ 0, reterr);
}

/* The size of a snapshot is only for display, and measuring takes longer than all other steps: it is reported
 * later. */

typedef struct Measuring {
        Work work;
        char id[SNAPSHOT_ID_LENGTH + 1];
} Measuring;

static void take_on_measured(const TreeAnswer *answer, const Error *error, void *userdata) {
        Measuring *g = userdata;
        HeldTree *n = held_by_id(&g->work.state->snapshots, g->id);

        g->work.call = NULL;
        if (!error && n && !n->pending) {
                n->bytes = answer->bytes;
                held_charge(&g->work.state->snapshots, n);
                (void) held_update(&g->work.state->snapshots, n);
        }
        work_end(&g->work);
}

static void take_measure(State *s, const char *id) {
        TreeRequest request = { .operation = TREE_USAGE, .n_refs = 1, .refs = { tree_ref(TREE_SNAPSHOT, id) } };
        Measuring *g = calloc(1, sizeof(*g));
        Error ignored = { 0 };

        if (!g)
                return;
        memcpy(g->id, id, sizeof(g->id));
        work_begin(&g->work, s, /* userdata= */ NULL, work_free_plain);
        if (trees_ask(s->manager, &request, NULL, NULL, take_on_measured, g, &g->work.call, &ignored) < 0)
                work_end(&g->work);
}

static void take_end(void *object, const Error *error) {
        Taking *t = object;
        State *s = t->making.work.state;
        HeldTree *n = t->making.tree; /* NULL with an error */
        Error told = work_error(error);

        if (n) {
                snapshot_set_last(s, ((const Snapshot *) n)->sandbox, n->id);
                take_measure(s, n->id);
        }
        if (!t->making.work.forgotten)
                t->making.done(n, error ? &told : NULL, t->making.work.userdata);
        work_end(&t->making.work);
}

static const SequenceStep take_steps[] = {
        { "row",       held_write_down, held_strike_out },
        { "copy",      take_copy,         take_drop_copy },
        { "publish",   take_publish },
        { "verify",    take_verify },
        { "final row", held_settle },
};
const Sequence take_sequence = SEQUENCE("snapshot", take_steps, take_end);

static int take_fill(State *s, const Sandbox *sb, Snapshot *n, const char *name, const char *comment, Error *reterr) {
        int r = id_make(n->tree.id);

        if (r >= 0)
                r = shape_text_set(&n->tree.name, name);
        if (r >= 0)
                r = shape_text_set(&n->comment, comment);
        if (r >= 0)
                r = shape_text_set(&n->tree.tenant, sb->spec.tenant ? sb->spec.tenant : "");
        if (r >= 0)
                r = shape_text_set(&n->sandbox, sb->id);
        if (r >= 0)
                r = shape_text_set(&n->parent, snapshot_last(s, sb));
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        n->tree.created_at = clock_wall_usec();
        n->tree.pending = true;
        return sandbox_fork_spec(sb, &n->spec, reterr);
}

int snapshot_take(State *s, Sandbox *sb, const char *name, const char *comment, HeldDone done, void *userdata, Error *reterr) {
        Snapshot *n;
        Taking *t;
        int r;

        n = snapshot_new();
        t = n ? calloc(1, sizeof(*t)) : NULL;
        r = t ? take_fill(s, sb, n, name, comment, reterr) : error_set(reterr, -ENOMEM, "out of memory");
        if (r < 0) {
                snapshot_free(n);
                free(t);
                return r;
        }
        t->making = (HeldMaking) { .all = &s->snapshots, .tree = &n->tree, .done = done };
        t->sandbox = sb;
        work_begin(&t->making.work, s, userdata, work_free_plain);
        return work_start(&t->making.work, &take_sequence, reterr);
}

int sandbox_fork_spec(const Sandbox *sb, SandboxSpec *ret, Error *reterr) {
        SandboxSpec spec;
        int r = sandbox_spec_copy(&sb->spec, &spec);

        if (r < 0)
                return error_set(reterr, r, "out of memory");
        (void) shape_text_set(&spec.name, NULL); /* names are unique */
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
