/* load.c: loads the store's rows into objects. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"

/* Counts the image in each layer of its chain, from the top down. A missing parent ends the chain. */
void image_count(Images *i, const Image *image, int by) {
        const char *chain = image->layer;
        LayerEntry *l;

        while (*chain) {
                HASH_FIND_STR(i->layers, chain, l);
                if (!l)
                        return;
                l->n_images = (unsigned) ((int) l->n_images + by);
                chain = l->row.parent;
        }
}

ImageEntry *image_entry_add(Images *i, Image *image) {
        ImageEntry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        e->image = *image;
        *image = (Image) { 0 };
        HASH_ADD_STR(i->images, image.digest, e);
        image_count(i, &e->image, +1);
        return e;
}

void image_entry_free(Images *i, ImageEntry *e) {
        image_count(i, &e->image, -1);
        HASH_DEL(i->images, e);
        image_done(&e->image);
        free(e);
}

TemplateEntry *template_entry_add(Images *i, StoreTemplate *row, ImageEntry *image) {
        TemplateEntry *t = calloc(1, sizeof(*t));

        if (!t)
                return NULL;
        if (asprintf(&t->key, "%s\n%s:%s", row->tenant, row->name, row->tag) < 0) {
                free(t);
                return NULL;
        }
        t->row = *row;
        *row = (StoreTemplate) { 0 };
        t->image = image;
        image->n_names++;
        HASH_ADD_KEYPTR(hh, i->templates, t->key, strlen(t->key), t);
        return t;
}

void template_entry_free(Images *i, TemplateEntry *t) {
        HASH_DEL(i->templates, t);
        t->image->n_names--;
        ledger_release(&t->charge);
        store_template_done(&t->row);
        free(t->key);
        free(t);
}

LayerEntry *layer_entry_add(Images *i, StoreLayer *row) {
        LayerEntry *l = calloc(1, sizeof(*l));

        if (!l)
                return NULL;
        l->row = *row;
        row->diff_id = row->digest = row->media_type = NULL;
        HASH_ADD_STR(i->layers, row.chain, l);
        return l;
}

void layer_entry_free(Images *i, LayerEntry *l) {
        HASH_DEL(i->layers, l);
        store_layer_done(&l->row);
        free(l);
}

ImageSnapshotEntry *image_snapshot_add(Images *i, const StoreImageSnapshot *row) {
        ImageSnapshotEntry *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        e->row = *row;
        HASH_ADD_STR(i->snapshots, row.name, e);
        return e;
}

void image_snapshot_free(Images *i, ImageSnapshotEntry *e) {
        HASH_DEL(i->snapshots, e);
        free(e);
}

CacheEntry *cache_entry_add(Images *i, StoreCache *row) {
        CacheEntry *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        if (asprintf(&c->name, "%s\n%s", row->tenant, row->key) < 0) {
                free(c);
                return NULL;
        }
        c->row = *row;
        row->tenant = NULL;
        HASH_ADD_KEYPTR(hh, i->cache, c->name, strlen(c->name), c);
        return c;
}

void cache_entry_free(Images *i, CacheEntry *c) {
        HASH_DEL(i->cache, c);
        store_cache_done(&c->row);
        free(c->name);
        free(c);
}

/* Rows. */

static int take_layer(StoreLayer *row, void *userdata) {
        return layer_entry_add(userdata, row) ? 0 : -ENOMEM;
}

static int load_take_image(Image *row, void *userdata) {
        return image_entry_add(userdata, row) ? 0 : -ENOMEM;
}

static int load_take_template(StoreTemplate *row, void *userdata) {
        Images *i = userdata;
        ImageEntry *e;

        HASH_FIND_STR(i->images, row->digest, e);
        if (!e)
                return -EUCLEAN; /* the foreign key guarantees it */
        return template_entry_add(i, row, e) ? 0 : -ENOMEM;
}

static int take_snapshot(StoreImageSnapshot *row, void *userdata) {
        return image_snapshot_add(userdata, row) ? 0 : -ENOMEM;
}

static int take_cache(StoreCache *row, void *userdata) {
        return cache_entry_add(userdata, row) ? 0 : -ENOMEM;
}

int images_load(Images *i, Error *reterr) {
        Store *s = i->manager->store;
        int r = store_layer_each(s, take_layer, i); /* before images, which are counted in their layers */

        if (r >= 0)
                r = store_image_each(s, load_take_image, i);
        if (r >= 0)
                r = store_template_each(s, load_take_template, i);
        if (r >= 0)
                r = store_image_snapshot_each(s, take_snapshot, i);
        if (r >= 0)
                r = store_cache_each(s, take_cache, i);
        if (r >= 0)
                templates_charge(i);
        return r < 0 ? error_set(reterr, r, "cannot read the templates: %s", strerror(-r)) : 0;
}

void images_unload(Images *i) {
        TemplateEntry *t, *tn;
        ImageEntry *e, *en;
        LayerEntry *l, *ln;
        ImageSnapshotEntry *n, *nn;
        CacheEntry *c, *cn;

        HASH_ITER(hh, i->templates, t, tn)
                template_entry_free(i, t);
        HASH_ITER(hh, i->images, e, en)
                image_entry_free(i, e);
        HASH_ITER(hh, i->layers, l, ln)
                layer_entry_free(i, l);
        HASH_ITER(hh, i->snapshots, n, nn)
                image_snapshot_free(i, n);
        HASH_ITER(hh, i->cache, c, cn)
                cache_entry_free(i, c);
}
