/* snapshot.c: existing snapshots: finding them, removing them, and the spec of a create from them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "state/internal.h"

Snapshot *snapshot_new(void) {
        Snapshot *n = calloc(1, sizeof(*n));

        if (n)
                n->spec.hub_fd = -EBADF;
        return n;
}

Snapshot *snapshot_free(Snapshot *n) {
        if (!n)
                return NULL;
        free(n->tree.name);
        free(n->tree.tenant);
        free(n->sandbox);
        free(n->parent);
        free(n->comment);
        sandbox_spec_done(&n->spec);
        free(n);
        return NULL;
}

static void snapshot_free_held(HeldTree *t) {
        snapshot_free((Snapshot *) t);
}

static uint64_t snapshot_holds(const HeldTree *t) {
        return t->bytes;
}

const HeldKind snapshot_kind = {
        .noun = "snapshot",
        .nouns = "snapshots",
        .tree = TREE_SNAPSHOT,
        .name_cure = true,
        .table = &snapshot_table,
        .size = sizeof(Snapshot),
        .charge = LEDGER_SNAPSHOT,
        .max = SNAPSHOTS_MAX,
        .holds = snapshot_holds,
        .free = snapshot_free_held,
};

void snapshot_set_last(State *s, const char *sandbox, const char *snapshot) {
        SnapshotLast *last;

        HASH_FIND_STR(s->lasts, sandbox, last);
        if (!last) {
                last = calloc(1, sizeof(*last));
                if (!last)
                        return; /* only a line in a picture is missing */
                (void) snprintf(last->sandbox, sizeof(last->sandbox), "%s", sandbox);
                HASH_ADD_STR(s->lasts, sandbox, last);
        }
        (void) snprintf(last->snapshot, sizeof(last->snapshot), "%s", snapshot);
}

const char *snapshot_last(State *s, const Sandbox *sb) {
        SnapshotLast *last;

        HASH_FIND_STR(s->lasts, sb->id, last);
        return last ? last->snapshot : sb->spec.snapshot;
}

Snapshot *snapshot_find(State *s, const Principal *who, const char *id_or_name) {
        return (Snapshot *) held_find(&s->snapshots, who, id_or_name);
}

int snapshot_resolve(State *s, const Principal *who, const char *text, Snapshot **ret, Error *reterr) {
        HeldTree *t;
        int r = held_resolve(&s->snapshots, who, text, &t, reterr);

        if (r >= 0)
                *ret = (Snapshot *) t;
        return r;
}

Snapshot *snapshot_next(State *s, const Principal *who, const char *sandbox, usec_t after_at, const char *after_id) {
        Snapshot *n = (Snapshot *) held_next(&s->snapshots, who, after_at, after_id);

        while (n && sandbox && strcmp(n->sandbox, sandbox) != 0)
                n = (Snapshot *) held_next(&s->snapshots, who, n->tree.created_at, n->tree.id);
        return n;
}

int snapshot_remove(State *s, Snapshot *snapshot, HeldDone done, void *userdata, Error *reterr) {
        return held_remove(&s->snapshots, &snapshot->tree, done, userdata, reterr);
}

int snapshot_spec(const Snapshot *snapshot, SandboxSpec *ret, Error *reterr) {
        SandboxSpec spec;
        int r;

        if (snapshot->tree.missing)
                return error_set(reterr, -EUCLEAN, "the files of snapshot %s are gone from the depot: it can only be removed", snapshot->tree.id);
        r = sandbox_spec_copy(&snapshot->spec, &spec);
        if (r >= 0)
                r = shape_text_set(&spec.snapshot, snapshot->tree.id);
        if (r >= 0)
                r = shape_text_set(&spec.tenant, snapshot->tree.tenant);
        if (r >= 0)
                r = shape_text_set(&spec.parent, snapshot->sandbox);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        spec.persistent = true;
        *ret = spec;
        return 0;
}
