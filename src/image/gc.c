/* gc.c: what nobody uses goes.
 *
 * In use: the layers of images that have a name, of sandboxes that have not ended, of snapshots, and what makings under way hold, each with all its parents; the disk
 * trees of named images and of the cache. A row is marked, its tree removed, the row removed: so a death in between is gone on with after the next start. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "image/internal.h"

typedef struct Gc {
        Images *images;
        Making *making;
        TreeCall *call;
        char snapshot[TREE_NAME_MAX + 1]; /* that is being removed */
        ImagesWaste done;
        unsigned failed;
        bool waiting; /* for a layer */
        sd_event_source *defer;
} Gc;

/* Looking. */

static void use_layer(Images *i, const char *chain) {
        LayerEntry *l;

        while (chain && *chain) {
                HASH_FIND_STR(i->layers, chain, l);
                if (!l || l->used)
                        return;
                l->used = true;
                chain = l->row.parent;
        }
}

static void use_snapshot(Images *i, const char *name) {
        ImageSnapshotEntry *e = NULL;

        if (name)
                HASH_FIND_STR(i->snapshots, name, e);
        if (e)
                e->used = true;
}

static bool gc_is_held(const Images *i, const char *chain) {
        const Making *k;

        DL_FOREACH(i->makings, k)
                for (size_t n = 0; n < k->held.n; n++)
                        if (strcmp(k->held.items[n], chain) == 0)
                                return true;
        return false;
}

static bool image_is_waste(const Images *i, const ImageEntry *e) {
        return e->n_names == 0 && !(*e->image.layer && gc_is_held(i, e->image.layer));
}

static bool cache_is_waste(Images *i, const CacheEntry *c) {
        return c->row.used_at + images_config(i)->keep_cache_usec < clock_wall_usec() && manager_trusts_calendar(i->manager);
}

static void use_of_sandboxes(Images *i) {
        for (const Sandbox *sb = i->manager->sandboxes; sb; sb = sb->hh.next) {
                if (sandbox_status_is_ended(sb->status))
                        continue;
                use_layer(i, sb->spec.layer);
                if (sb->status == SANDBOX_INITIALIZING) /* its disk is about to be copied from it */
                        use_snapshot(i, sb->spec.snapshot);
        }
}

static int use_of_snapshot(const char *layer, void *userdata) {
        use_layer(userdata, layer);
        return 0;
}

static int gc_look(Images *i) {
        const Making *k;

        for (LayerEntry *l = i->layers; l; l = l->hh.next)
                l->used = false;
        for (ImageSnapshotEntry *e = i->snapshots; e; e = e->hh.next)
                e->used = false;
        for (const ImageEntry *e = i->images; e; e = e->hh.next)
                if (!image_is_waste(i, e)) {
                        use_layer(i, e->image.layer);
                        use_snapshot(i, e->image.snapshot);
                }
        for (const CacheEntry *c = i->cache; c; c = c->hh.next)
                if (!cache_is_waste(i, c))
                        use_snapshot(i, c->row.snapshot);
        DL_FOREACH(i->makings, k)
                for (size_t n = 0; n < k->held.n; n++)
                        use_layer(i, k->held.items[n]);
        use_of_sandboxes(i);
        return store_layers_of_snapshots(i->manager->store, use_of_snapshot, i);
}

int images_waste(Images *i, ImagesWasteItem item, void *userdata, ImagesWaste *ret) {
        ImagesWaste w = { 0 };
        int r = gc_look(i);

        if (r < 0)
                return r;
        for (const ImageEntry *e = i->images; e; e = e->hh.next)
                if (image_is_waste(i, e)) {
                        w.images++;
                        item("image", e->image.digest, 0, userdata);
                }
        for (const CacheEntry *c = i->cache; c; c = c->hh.next)
                if (cache_is_waste(i, c)) {
                        w.cache++;
                        item("cache", c->row.key, 0, userdata);
                }
        for (const LayerEntry *l = i->layers; l; l = l->hh.next)
                if (!l->used) {
                        w.layers++;
                        w.bytes += l->row.bytes;
                        item("layer", l->row.chain, l->row.bytes, userdata);
                }
        for (const ImageSnapshotEntry *e = i->snapshots; e; e = e->hh.next)
                if (!e->used) {
                        w.snapshots++;
                        item("snapshot", e->row.name, 0, userdata);
                }
        w.blob_bytes = blobs_waste(i, /* remove= */ false, item, userdata, &w.blobs);
        *ret = w;
        return 0;
}

/* Removing. */

static void gc_next(Gc *g);

static void gc_free(Gc *g) {
        tree_call_forget(g->call);
        sd_event_source_disable_unref(g->defer);
        if (g->images->gc == g)
                g->images->gc = NULL;
        free(g);
}

static void gc_release(void *work) {
        gc_free(work);
}

static void gc_cancel(void *work) {
        (void) work; /* it is looked at after each tree */
}

static void gc_end(Gc *g, const Error *error) {
        Making *k = g->making;

        making_log(k, "removed %u images, %u layers (%llu bytes), %u snapshots, %u steps of builds, %u blobs (%llu bytes)%s", g->done.images, g->done.layers,
                        (unsigned long long) g->done.bytes, g->done.snapshots, g->done.cache, g->done.blobs, (unsigned long long) g->done.blob_bytes,
                        g->failed > 0 ? "; some could not be, and are tried again next time" : "");
        making_progress(k, "done", g->done.bytes + g->done.blob_bytes, g->done.bytes + g->done.blob_bytes);
        making_set_work(k, NULL, NULL);
        making_end(k, NULL, error);
        gc_free(g);
}

static void remove_rows(Gc *g) {
        Images *i = g->images;
        ImageEntry *e, *en;
        CacheEntry *c, *cn;

        HASH_ITER(hh, i->cache, c, cn)
                if (cache_is_waste(i, c) && store_cache_delete(i->manager->store, &c->row) >= 0) {
                        cache_entry_free(i, c);
                        g->done.cache++;
                }
        HASH_ITER(hh, i->images, e, en)
                if (image_is_waste(i, e) && images_drop(i, e) >= 0)
                        g->done.images++;
}

static void on_layer_removed(const Error *error, void *userdata) {
        Gc *g = userdata;

        g->waiting = false;
        if (error) {
                making_log(g->making, "%s", error->text);
                g->failed++;
        }
        gc_next(g);
}

/* Whoever needs it from now on waits, and makes it anew. */
static int remove_layer(Gc *g, LayerEntry *l) {
        StoreLayer row = l->row;
        Error error = { 0 };
        uint64_t bytes = row.bytes;
        int r;

        row.removing = true;
        r = l->row.removing ? 0 : images_layer_put(g->images, &row);
        if (r >= 0)
                r = layer_remove(g->images, row.chain, on_layer_removed, g, &error);
        if (r < 0) {
                g->failed++;
                return r;
        }
        g->waiting = true;
        g->done.layers++;
        g->done.bytes += bytes;
        making_log(g->making, "layer %.12s", row.chain);
        return 0;
}

static void on_snapshot_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Gc *g = userdata;

        g->call = NULL;
        if (error)
                g->failed++;
        else {
                images_snapshot_drop(g->images, g->snapshot);
                g->done.snapshots++;
        }
        gc_next(g);
}

static int remove_snapshot(Gc *g, ImageSnapshotEntry *e) {
        TreeRef ref = tree_ref(TREE_SNAPSHOT, e->row.name);
        int r = e->row.removing ? 0 : images_snapshot_mark(g->images, e);

        memcpy(g->snapshot, e->row.name, sizeof(g->snapshot));
        if (r >= 0)
                r = trees_remove(g->images->manager, &ref, on_snapshot_removed, g, &g->call, /* reterr= */ NULL);
        if (r < 0)
                g->failed++;
        return r;
}

/* One tree after the other, each looked at anew: it may have come into use meanwhile. One that fails ends it: the others would, too. */
static void gc_next(Gc *g) {
        Images *i = g->images;
        Error error = { 0 };
        LayerEntry *l;
        ImageSnapshotEntry *e;
        unsigned n = 0;
        int r = making_is_cancelled(g->making) ? error_set(&error, -ECANCELED, "it was cancelled") : gc_look(i);

        for (l = i->layers; r >= 0 && g->failed == 0 && l; l = l->hh.next)
                if (!l->used && remove_layer(g, l) >= 0)
                        return;
        for (e = i->snapshots; r >= 0 && g->failed == 0 && e; e = e->hh.next)
                if (!e->used && remove_snapshot(g, e) >= 0)
                        return;
        if (r >= 0) {
                g->done.blob_bytes = blobs_waste(i, /* remove= */ true, /* item= */ NULL, NULL, &n);
                g->done.blobs = n;
        } else if (error.code == 0)
                (void) error_set(&error, r, "cannot see what is in use: %s", strerror(-r));
        gc_end(g, r < 0 ? &error : NULL);
}

static void gc_on_ready(Making *k, const Error *error, void *userdata) {
        Gc *g = userdata;

        if (error) {
                making_set_work(k, NULL, NULL);
                making_end(k, NULL, error);
                gc_free(g);
                return;
        }
        if (gc_look(g->images) >= 0)
                remove_rows(g);
        gc_next(g);
}

static int gc_on_defer(sd_event_source *source, void *userdata) {
        Gc *g = userdata;

        g->defer = sd_event_source_disable_unref(g->defer);
        images_when_ready(g->images, g->making, gc_on_ready, g);
        return 0;
}

int images_gc(Images *i, const Principal *who, Making **ret, Error *reterr) {
        static const MakingOps ops = { gc_cancel, gc_release };
        Making *k;
        Gc *g;
        int r = images_check_depot(i, reterr);

        if (r < 0)
                return r;
        if (i->gc) { /* one is enough */
                *ret = i->gc->making;
                return 0;
        }
        r = making_new(i, who, MAKING_GC, /* template_name= */ NULL, &k, reterr);
        if (r < 0)
                return r;
        g = calloc(1, sizeof(*g));
        r = g ? sd_event_add_defer(i->manager->event, &g->defer, gc_on_defer, g) : -ENOMEM;
        if (r < 0) {
                free(g);
                (void) error_set(reterr, r, "out of memory");
                making_end(k, NULL, reterr);
                return r;
        }
        g->images = i;
        g->making = k;
        i->gc = g;
        making_set_work(k, &ops, g);
        *ret = k;
        return 0;
}

/* By the clock: quietly, and only when there is something. */

static void count_nothing(const char *kind, const char *name, uint64_t bytes, void *userdata) {
}

static void gc_arm(Images *i) {
        usec_t interval = images_config(i)->gc_interval_usec;

        (void) sd_event_source_set_time_relative(i->gc_timer, interval > 0 ? interval : 3600 * USEC_PER_SEC);
        (void) sd_event_source_set_enabled(i->gc_timer, SD_EVENT_ONESHOT);
}

static int on_gc_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Images *i = userdata;
        ImagesWaste w;
        Error error = { 0 };
        Making *k;

        gc_arm(i);
        makings_trim(i);
        if (images_config(i)->gc_interval_usec == 0 || i->manager->recovering || images_waste(i, count_nothing, NULL, &w) < 0)
                return 0;
        if (w.images + w.layers + w.snapshots + w.cache + w.blobs > 0 && images_gc(i, /* who= */ NULL, &k, &error) < 0)
                log_debug("no clean-up of templates: %s", error.text);
        return 0;
}

int gc_start(Images *i, Error *reterr) {
        int r = sd_event_add_time_relative(i->manager->event, &i->gc_timer, CLOCK_MONOTONIC, 60 * USEC_PER_SEC, 0, on_gc_timer, i);

        return r < 0 ? error_set(reterr, r, "cannot add templates to the loop: %s", strerror(-r)) : 0;
}

void gc_stop(Images *i) {
        i->gc_timer = sd_event_source_disable_unref(i->gc_timer);
}
