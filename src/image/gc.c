/* gc.c: removes unused layers and trees.
 *
 * In use are the layers of images with a name, of sandboxes that have not ended, of snapshots, and those that
 * running makings hold, each with all its parents; and the disk trees of named images and of the cache. gc
 * marks the row, removes the tree and then the row, so that an interrupted removal is continued after the
 * next start. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "image/internal.h"

typedef struct Gc {
        MakingWork work;
        char snapshot[TREE_NAME_MAX + 1]; /* the one being removed */
        ImagesWaste done;
        unsigned failed;
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
                if (sb->status == SANDBOX_INITIALIZING) /* its disk is about to be copied from the snapshot */
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

static void gc_free(void *work) {
        Gc *g = work;

        making_work_done(&g->work);
        if (g->work.images->gc == g)
                g->work.images->gc = NULL;
        free(g);
}

static int gc_tell(void *work, Error *why) {
        const Gc *g = work;
        Making *k = g->work.making;

        making_log(k, "removed %u images, %u layers (%llu bytes), %u snapshots, %u steps of builds, %u blobs (%llu bytes)%s", g->done.images, g->done.layers,
                        (unsigned long long) g->done.bytes, g->done.snapshots, g->done.cache, g->done.blobs, (unsigned long long) g->done.blob_bytes,
                        g->failed > 0 ? "; some could not be removed, the next clean-up retries" : "");
        making_progress(k, "done", g->done.bytes + g->done.blob_bytes, g->done.bytes + g->done.blob_bytes);
        return STEP_DONE;
}

static void gc_end(void *work, const Error *error) {
        Gc *g = work;

        if (!error)
                (void) gc_tell(g, /* why= */ NULL);
        making_end(g->work.making, NULL, error);
        gc_free(g);
}

static int gc_remove_rows(void *work, Error *reterr) {
        Gc *g = work;
        Images *i = g->work.images;
        ImageEntry *e, *en;
        CacheEntry *c, *cn;

        if (gc_look(i) < 0)
                return STEP_DONE; /* the next step reports the error */
        HASH_ITER(hh, i->cache, c, cn)
                if (cache_is_waste(i, c) && store_cache_delete(i->manager->store, &c->row) >= 0) {
                        cache_entry_free(i, c);
                        g->done.cache++;
                }
        HASH_ITER(hh, i->images, e, en)
                if (image_is_waste(i, e) && images_drop(i, e) >= 0)
                        g->done.images++;
        return STEP_DONE;
}

static void gc_on_layer_removed(const Error *error, void *userdata) {
        Gc *g = userdata;

        if (error) {
                making_log(g->work.making, "%s", error->text);
                g->failed++;
        }
        sequence_heard_again(&g->work.run);
}

/* Requests for the layer wait from now on, and unpack it again. */
static int gc_remove_layer(Gc *g, LayerEntry *l) {
        StoreLayer row = l->row;
        Error error = { 0 };
        uint64_t bytes = row.bytes;
        int r;

        row.removing = true;
        r = l->row.removing ? 0 : images_layer_put(g->work.images, &row);
        if (r >= 0)
                r = layer_remove(g->work.images, row.chain, gc_on_layer_removed, g, &error);
        if (r < 0)
                return r;
        g->done.layers++;
        g->done.bytes += bytes;
        making_log(g->work.making, "layer %.12s", row.chain);
        return 0;
}

static void gc_on_snapshot_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        Gc *g = userdata;

        g->work.call = NULL;
        if (error)
                g->failed++;
        else {
                images_snapshot_drop(g->work.images, g->snapshot);
                g->done.snapshots++;
        }
        sequence_heard_again(&g->work.run);
}

static int gc_remove_snapshot(Gc *g, ImageSnapshotEntry *e) {
        TreeRef ref = tree_ref(TREE_SNAPSHOT, e->row.name);
        int r = e->row.removing ? 0 : images_snapshot_mark(g->work.images, e);

        memcpy(g->snapshot, e->row.name, sizeof(g->snapshot));
        return r < 0 ? r : trees_remove(g->work.images->manager, &ref, gc_on_snapshot_removed, g, &g->work.call, /* reterr= */ NULL);
}

/* Removes one tree at a time. Each time it checks again what is in use, because that may have changed. The
 * first failure ends it, because the other removals would fail as well. */
static int gc_remove_tree(void *work, Error *reterr) {
        Gc *g = work;
        Images *i = g->work.images;
        int r = gc_look(i);

        if (r < 0)
                return error_set(reterr, r, "cannot find out what is in use: %s", strerror(-r));
        for (LayerEntry *l = i->layers; g->failed == 0 && l; l = l->hh.next)
                if (!l->used) {
                        if (gc_remove_layer(g, l) >= 0)
                                return STEP_WAITS;
                        g->failed++;
                }
        for (ImageSnapshotEntry *e = i->snapshots; g->failed == 0 && e; e = e->hh.next)
                if (!e->used) {
                        if (gc_remove_snapshot(g, e) >= 0)
                                return STEP_WAITS;
                        g->failed++;
                }
        return STEP_DONE;
}

static int gc_remove_blobs(void *work, Error *reterr) {
        Gc *g = work;

        g->done.blob_bytes = blobs_waste(g->work.images, /* remove= */ true, /* item= */ NULL, NULL, &g->done.blobs);
        return STEP_DONE;
}

static const SequenceStep gc_steps[] = {
        { "ready", images_when_ready },
        { "rows", gc_remove_rows, gc_tell }, /* the undo does not undo, it reports */
        { "trees", gc_remove_tree },
        { "blobs", gc_remove_blobs },
};
static const Sequence gc = SEQUENCE("gc", gc_steps, gc_end, .defer = making_work_defer);

int images_gc(Images *i, const Principal *who, Making **ret, Error *reterr) {
        Making *k;
        Gc *g;
        int r = images_check_depot(i, reterr);

        if (r < 0)
                return r;
        if (i->gc) { /* one is enough */
                *ret = i->gc->work.making;
                return 0;
        }
        r = making_new(i, who, MAKING_GC, /* template_name= */ NULL, &k, reterr);
        if (r < 0)
                return r;
        g = calloc(1, sizeof(*g));
        if (g)
                g->work = (MakingWork) { .images = i, .making = k, .release = gc_free };
        r = g ? making_work_start(&g->work, &gc, reterr) : error_set(reterr, -ENOMEM, "out of memory");
        if (r < 0) {
                free(g);
                making_end(k, NULL, reterr);
                return r;
        }
        i->gc = g;
        *ret = k;
        return 0;
}

/* The periodic run: silent, and only if there is something to remove. */

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
        if (images_config(i)->gc_interval_usec == 0 || i->manager->recovering || i->manager->doubts_store || images_waste(i, count_nothing, NULL, &w) < 0)
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
