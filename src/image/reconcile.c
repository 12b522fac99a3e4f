/* reconcile.c: after a start, makes rows and trees agree before the first job.
 *
 *      marked row           its removal is continued
 *      tree without a row   it was published when the daemon was interrupted: it is complete, and gets its row
 *      row without a tree   the depot was removed: the row is deleted, and templates on it report the problem
 *      snapshot with a marked row   a build or a commit was interrupted before it took it over: it is removed. One without a row stays (core/quarantine.h)
 *
 * The depot is created at its first use. So if no row names a tree, the list of trees is requested only
 * before the first job. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "image/internal.h"

#define PAUSE_USEC (100 * USEC_PER_MSEC)

typedef struct ReadyWaiter {
        MakingWork *work;
        struct ReadyWaiter *prev, *next;
} ReadyWaiter;

typedef struct SeenTree {
        char name[TREE_NAME_MAX + 1];
        UT_hash_handle hh;
} SeenTree;

struct Reconciliation {
        Images *images;
        TreeCall *call;
        sd_event_source *timer; /* until the core is ready */
        SeenTree *seen;
        ReadyWaiter *waiters;
};

static void seen_free(Reconciliation *x) {
        SeenTree *t, *next;

        HASH_ITER(hh, x->seen, t, next) {
                HASH_DEL(x->seen, t);
                free(t);
        }
}

static void reconciliation_free(Reconciliation *x) {
        ReadyWaiter *w, *next;

        seen_free(x);
        DL_FOREACH_SAFE(x->waiters, w, next)
                free(w);
        tree_call_forget(x->call);
        sd_event_source_disable_unref(x->timer);
        free(x);
}

void reconciliation_stop(Images *i) {
        if (i->reconciliation)
                reconciliation_free(i->reconciliation);
        i->reconciliation = NULL;
}

static void reconcile_tell_waiters(Images *i, const Error *error) {
        Reconciliation *x = TAKE_PTR(i->reconciliation);
        ReadyWaiter *w, *next;

        DL_FOREACH_SAFE(x->waiters, w, next) {
                DL_DELETE(x->waiters, w);
                sequence_heard(&w->work->run, error);
                free(w);
        }
        reconciliation_free(x);
}

static void see(Reconciliation *x, const char *name) {
        SeenTree *t = calloc(1, sizeof(*t));

        if (!t)
                return;
        (void) snprintf(t->name, sizeof(t->name), "%s", name);
        HASH_ADD_STR(x->seen, name, t);
}

/* Snapshots. */

static void on_snapshot(const TreeRef *ref, uint64_t bytes, void *userdata) {
        Reconciliation *x = userdata;
        Manager *m = x->images->manager;
        ImageSnapshotEntry *e;

        see(x, ref->name);
        /* A snapshot that is being made is in the store, but not in this table. */
        HASH_FIND_STR(x->images->snapshots, ref->name, e);
        if (!e || !e->row.removing)
                return;
        log_info("snapshot %.12s belongs to nothing and is removed", ref->name);
        /* If this fails, the next start tries again. */
        (void) trees_remove(m, ref, /* done= */ NULL, NULL, /* ret= */ NULL, /* reterr= */ NULL);
}

static void on_snapshots_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Reconciliation *x = userdata;
        Images *i = x->images;
        ImageSnapshotEntry *e, *next;
        SeenTree *t;

        x->call = NULL;
        HASH_ITER(hh, i->snapshots, e, next) {
                HASH_FIND_STR(x->seen, e->row.name, t);
                if (!error && !t && e->counted)
                        images_snapshot_drop(i, e->row.name);
        }
        if (!error)
                i->reconciled = true;
        reconcile_tell_waiters(i, error);
}

/* Layers. */

static void reconcile_on_item(const TreeRef *ref, uint64_t bytes, void *userdata) {
        Reconciliation *x = userdata;
        Images *i = x->images;
        StoreLayer row = { .bytes = bytes, .created_at = clock_wall_usec() };
        LayerEntry *l;

        see(x, ref->name);
        HASH_FIND_STR(i->layers, ref->name, l);
        if (l || i->manager->doubts_store)
                return; /* doubtful store: quarantine.h */
        memcpy(row.chain, ref->name, sizeof(row.chain));
        if (images_layer_put(i, &row) >= 0)
                log_info("layer %.12s was complete when the daemon was killed: it is kept", ref->name);
}

static void drop_missing(Reconciliation *x) {
        Images *i = x->images;
        LayerEntry *l, *next;
        SeenTree *t;

        HASH_ITER(hh, i->layers, l, next) {
                HASH_FIND_STR(x->seen, l->row.chain, t);
                if (t || !l->counted)
                        continue;
                if (!l->row.removing)
                        log_warning("layer %.12s is missing from the depot: templates based on it cannot be used", l->row.chain);
                images_layer_drop(i, l->row.chain);
        }
}

static void go_on_removing(Images *i) {
        LayerEntry *l, *next;

        HASH_ITER(hh, i->layers, l, next)
                if (l->row.removing)
                        /* If this fails, the next gc tries again. */
                        (void) layer_remove(i, l->row.chain, /* done= */ NULL, NULL, /* reterr= */ NULL);
}

/* Marks what exists when the list is requested. Rows added before the answer comes are not in it, and are
 * not missing. */
static void reconcile_count(Images *i) {
        for (LayerEntry *l = i->layers; l; l = l->hh.next)
                l->counted = true;
        for (ImageSnapshotEntry *e = i->snapshots; e; e = e->hh.next)
                e->counted = true;
}

static void reconcile_ask(Images *i, TreeKind kind, TreeItem item, TreeDone done) {
        Reconciliation *x = i->reconciliation;
        TreeRequest request = { .operation = TREE_LIST, .n_refs = 1 };
        Error error = { 0 };

        request.refs[0].kind = (uint8_t) kind;
        seen_free(x);
        reconcile_count(i);
        if (trees_ask(i->manager, &request, /* fds= */ NULL, item, done, x, &x->call, &error) < 0)
                reconcile_tell_waiters(i, &error);
}

static void image_reconcile_on_listed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Reconciliation *x = userdata;
        Images *i = x->images;

        x->call = NULL;
        if (error) {
                reconcile_tell_waiters(i, error);
                return;
        }
        drop_missing(x);
        go_on_removing(i);
        reconcile_ask(i, TREE_SNAPSHOT, on_snapshot, on_snapshots_listed);
}

static int image_reconcile_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Images *i = userdata;

        if (!i->manager->recovering) {
                i->reconciliation->timer = sd_event_source_disable_unref(i->reconciliation->timer);
                reconcile_ask(i, TREE_LAYER, reconcile_on_item, image_reconcile_on_listed);
                return 0;
        }
        (void) sd_event_source_set_time_relative(source, PAUSE_USEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int reconciliation_new(Images *i) {
        Reconciliation *x = calloc(1, sizeof(*x));

        if (!x)
                return -ENOMEM;
        x->images = i;
        i->reconciliation = x;
        return 0;
}

int reconciliation_start(Images *i, Error *reterr) {
        int r;

        if (!i->layers && !i->snapshots)
                return 0;
        r = reconciliation_new(i);
        if (r >= 0)
                r = sd_event_add_time_relative(i->manager->event, &i->reconciliation->timer, CLOCK_MONOTONIC, 0, 0, image_reconcile_on_timer, i);
        return r < 0 ? error_set(reterr, r, "cannot check the layers: %s", strerror(-r)) : 0;
}

int images_when_ready(void *work, Error *reterr) {
        MakingWork *k = work;
        Images *i = k->images;
        bool under_way = i->reconciliation;
        ReadyWaiter *w;

        if (i->reconciled)
                return STEP_DONE;
        w = calloc(1, sizeof(*w));
        if (!w || (!under_way && reconciliation_new(i) < 0)) {
                free(w);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        w->work = k;
        DL_APPEND(i->reconciliation->waiters, w);
        if (!under_way)
                reconcile_ask(i, TREE_LAYER, reconcile_on_item, image_reconcile_on_listed);
        return STEP_WAITS;
}
