/* snapshot.c: those that are there: finding, removing, what is made of them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/log.h"
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
        free(n->name);
        free(n->tenant);
        free(n->sandbox);
        free(n->parent);
        free(n->comment);
        sandbox_spec_done(&n->spec);
        free(n);
        return NULL;
}

/* Names. */

static SnapshotName *snapshot_find_name(State *s, const char *tenant, const char *name) {
        char key[sizeof(((SnapshotName *) NULL)->key)];
        SnapshotName *n;

        (void) snprintf(key, sizeof(key), "%s/%s", tenant ? tenant : "", name);
        HASH_FIND_STR(s->names, key, n);
        return n;
}

int snapshot_register(State *s, Snapshot *n) {
        SnapshotName *name;

        if (n->name) {
                if (snapshot_find_name(s, n->tenant, n->name))
                        return -EEXIST;
                name = calloc(1, sizeof(*name));
                if (!name)
                        return -ENOMEM;
                (void) snprintf(name->key, sizeof(name->key), "%s/%s", n->tenant, n->name);
                name->snapshot = n;
                HASH_ADD_STR(s->names, key, name);
        }
        HASH_ADD_STR(s->snapshots, id, n);
        return 0;
}

void snapshot_unregister(State *s, Snapshot *n) {
        SnapshotName *name = n->name ? snapshot_find_name(s, n->tenant, n->name) : NULL;

        if (name && name->snapshot == n) {
                HASH_DEL(s->names, name);
                free(name);
        }
        if (n->hh.tbl)
                HASH_DEL(s->snapshots, n);
}

void snapshot_set_last(State *s, const char *sandbox, const char *snapshot) {
        SnapshotLast *last;

        HASH_FIND_STR(s->lasts, sandbox, last);
        if (!last) {
                last = calloc(1, sizeof(*last));
                if (!last)
                        return; /* a line less in a picture */
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

/* Finding. */

static bool snapshot_sees(const Principal *who, const Snapshot *n) {
        return !n->pending && (!who->tenant || strcmp(who->tenant, n->tenant) == 0);
}

Snapshot *snapshot_find(State *s, const Principal *who, const char *id_or_name) {
        SnapshotName *name = NULL;
        Snapshot *n;

        HASH_FIND_STR(s->snapshots, id_or_name, n);
        if (!n && strlen(id_or_name) <= SNAPSHOT_NAME_MAX)
                name = snapshot_find_name(s, who->tenant, id_or_name);
        if (name)
                n = name->snapshot;
        return n && snapshot_sees(who, n) ? n : NULL;
}

static bool snapshot_is_after(const Snapshot *n, usec_t at, const char *id) {
        return n->created_at != at ? n->created_at > at : strcmp(n->id, id) > 0;
}

Snapshot *snapshot_next(State *s, const Principal *who, const char *sandbox, usec_t after_at, const char *after_id) {
        Snapshot *n = NULL;

        if (after_id)
                HASH_FIND_STR(s->snapshots, after_id, n);
        n = n ? n->hh.next : s->snapshots;
        for (; n; n = n->hh.next)
                if (snapshot_sees(who, n) && (!after_id || snapshot_is_after(n, after_at, after_id)) && (!sandbox || strcmp(n->sandbox, sandbox) == 0))
                        return n;
        return NULL;
}

int snapshot_spec(const Snapshot *snapshot, SandboxSpec *ret, Error *reterr) {
        SandboxSpec spec;
        int r;

        if (snapshot->missing)
                return error_set(reterr, -EUCLEAN, "the files of snapshot %s are gone from the depot: it can only be removed", snapshot->id);
        r = sandbox_spec_copy(&snapshot->spec, &spec);
        if (r >= 0)
                r = shape_text_set(&spec.snapshot, snapshot->id);
        if (r >= 0)
                r = shape_text_set(&spec.tenant, snapshot->tenant);
        if (r >= 0)
                r = shape_text_set(&spec.parent, snapshot->sandbox);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        spec.persistent = true;
        *ret = spec;
        return 0;
}

/* Removing: the row says that it goes, the tree goes, the row goes. */

typedef struct SnapshotRemoval {
        Work work;
        char id[SNAPSHOT_ID_LENGTH + 1];
        Snapshot *snapshot; /* out of the table; NULL: only its id is known */
        SnapshotDone done;
} SnapshotRemoval;

static void free_removal(Work *w) {
        SnapshotRemoval *r = (SnapshotRemoval *) w;

        snapshot_free(r->snapshot);
        free(r);
}

static void snapshot_on_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        SnapshotRemoval *r = userdata;
        State *s = r->work.state;
        int k;

        r->work.call = NULL;
        if (error)
                log_warning("snapshot %s: cannot be removed now, the next start tries again: %s", r->id, error->text);
        else {
                k = store_snapshot_delete(s->manager->store, r->id);
                if (k < 0)
                        log_warning("snapshot %s: its row cannot be deleted, the next start tries again: %s", r->id, strerror(-k));
        }
        if (r->done && !r->work.forgotten)
                r->done(r->snapshot, error, r->work.userdata);
        work_end(&r->work);
}

static int remove_tree(State *s, const char *id, Snapshot *snapshot, SnapshotDone done, void *userdata, Error *reterr) {
        TreeRef ref = tree_ref(TREE_SNAPSHOT, id);
        SnapshotRemoval *r = calloc(1, sizeof(*r));
        int k;

        if (!r)
                return error_set(reterr, -ENOMEM, "out of memory");
        (void) snprintf(r->id, sizeof(r->id), "%s", id);
        r->done = done;
        work_begin(&r->work, s, userdata, free_removal);
        k = trees_remove(s->manager, &ref, snapshot_on_removed, r, &r->work.call, reterr);
        if (k < 0) {
                work_end(&r->work);
                return k;
        }
        r->snapshot = snapshot;
        return 0;
}

void snapshot_drop(State *s, const char *id) {
        Error error = { 0 };

        if (remove_tree(s, id, /* snapshot= */ NULL, /* done= */ NULL, /* userdata= */ NULL, &error) < 0)
                log_warning("snapshot %s: cannot be removed now, the next start tries again: %s", id, error.text);
}

int snapshot_remove(State *s, Snapshot *snapshot, SnapshotDone done, void *userdata, Error *reterr) {
        int r;

        snapshot->pending = true;
        r = store_snapshot_update(s->manager->store, snapshot);
        if (r >= 0)
                r = remove_tree(s, snapshot->id, snapshot, done, userdata, reterr);
        else
                (void) error_set(reterr, r, "cannot write it down: %m");
        if (r < 0) {
                snapshot->pending = false;
                (void) store_snapshot_update(s->manager->store, snapshot);
                return r;
        }
        snapshot_unregister(s, snapshot);
        return 0;
}
