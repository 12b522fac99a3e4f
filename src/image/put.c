/* put.c: adds and removes rows; the store first, then the copy in memory. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/internal.h"

int images_check_name(const Images *i, const char *text, TemplateName *ret, Error *reterr) {
        int r = template_name_parse(text, ret, reterr);

        if (r >= 0 && images_is_reserved(i, ret->name))
                return error_set(reterr, -EINVAL, "'%s' is the name of a template that the daemon was started with: take another", ret->name);
        return r;
}

/* Layers. */

int layer_copy(const StoreLayer *from, StoreLayer *to) {
        int r;

        *to = *from;
        to->diff_id = to->digest = to->media_type = NULL;
        r = string_copy(&to->diff_id, from->diff_id);
        if (r >= 0)
                r = string_copy(&to->digest, from->digest);
        if (r >= 0)
                r = string_copy(&to->media_type, from->media_type);
        if (r < 0)
                store_layer_done(to);
        return r;
}

int images_layer_put(Images *i, const StoreLayer *row) {
        StoreLayer copy;
        LayerEntry *l;
        int r = layer_copy(row, &copy);

        if (r < 0)
                return r;
        r = store_layer_put(i->manager->store, row);
        HASH_FIND_STR(i->layers, row->chain, l);
        if (r >= 0 && l) {
                StoreLayer old = l->row;

                l->row = copy;
                copy = old;
        } else if (r >= 0 && !layer_entry_add(i, &copy))
                r = -ENOMEM;
        store_layer_done(&copy);
        return r;
}

void images_layer_drop(Images *i, const char *chain) {
        LayerEntry *l;

        HASH_FIND_STR(i->layers, chain, l);
        if (l && store_layer_delete(i->manager->store, chain) >= 0)
                layer_entry_free(i, l);
}

/* Images. */

int images_drop(Images *i, ImageEntry *e) {
        int r = e->n_names > 0 ? -EBUSY : store_image_delete(i->manager->store, e->image.digest);

        if (r >= 0)
                image_entry_free(i, e);
        return r;
}

static int put_rows(Images *i, const StoreTemplate *row, const Image *image, const StoreImageSnapshot *snapshot) {
        Store *s = i->manager->store;
        int r;

        (void) store_begin(s);
        r = store_image_put(s, image);
        if (r >= 0 && *snapshot->name)
                r = store_image_snapshot_put(s, snapshot);
        if (r >= 0 && row->name)
                r = store_template_put(s, row);
        return store_end(s, r);
}

/* Stores the image; the latest data replaces an entry with the same digest. */
static ImageEntry *keep_image(Images *i, Image *image) {
        ImageEntry *e = images_entry(i, image->digest);

        if (!e)
                return image_entry_add(i, image);
        image_count(i, &e->image, -1);
        image_done(&e->image);
        e->image = *image;
        *image = (Image) { 0 };
        image_count(i, &e->image, +1);
        return e;
}

static int keep_name(Images *i, StoreTemplate *row, ImageEntry *e) {
        _cleanup_free_ char *key = NULL;
        TemplateEntry *t;

        if (asprintf(&key, "%s\n%s:%s", row->tenant, row->name, row->tag) < 0)
                return -ENOMEM;
        HASH_FIND_STR(i->templates, key, t);
        if (!t)
                return template_entry_add(i, row, e) ? 0 : -ENOMEM;
        t->image->n_names--;
        e->n_names++;
        t->image = e;
        t->row.updated_at = row->updated_at;
        memcpy(t->row.digest, row->digest, sizeof(t->row.digest));
        return 0;
}

/* Keeps the original source if the same image is imported from an archive. */
static int keep_origin(Images *i, Image *image) {
        const ImageEntry *e = images_entry(i, image->digest);

        if (!e)
                return 0;
        image->created_at = e->image.created_at;
        return image->source && strcmp(image->source, IMAGE_SOURCE_IMPORT) == 0 ? string_copy(&image->source, e->image.source) : 0;
}

static int image_put(Images *i, StoreTemplate *row, Image *image) {
        StoreImageSnapshot snapshot = { .created_at = clock_wall_usec() };
        ImageSnapshotEntry *known = NULL;
        ImageEntry *e;
        int r;

        if (image->snapshot) {
                (void) snprintf(snapshot.name, sizeof(snapshot.name), "%s", image->snapshot);
                HASH_FIND_STR(i->snapshots, snapshot.name, known);
        }
        r = put_rows(i, row, image, &snapshot);
        if (r < 0)
                return r;
        if (*snapshot.name && !known && !image_snapshot_add(i, &snapshot))
                return -ENOMEM;
        e = keep_image(i, image);
        if (!e)
                return -ENOMEM;
        return row->name ? keep_name(i, row, e) : 0;
}

static int template_row(StoreTemplate *row, const char *tenant, const TemplateName *name) {
        int r = string_copy(&row->tenant, tenant ? tenant : "");

        if (r >= 0)
                r = string_copy(&row->name, name->name);
        return r < 0 ? r : string_copy(&row->tag, name->tag);
}

static int template_put_failed(int r, const char *name, Error *reterr) {
        return error_set(reterr, r, "cannot save template '%.100s': %s", name ? name : "", strerror(-r));
}

int images_put(Images *i, const char *tenant, const char *name_and_tag, Image *image, Error *reterr) {
        StoreTemplate row = { .updated_at = clock_wall_usec() };
        LedgerEntry room = { 0 };
        TemplateName name;
        int refused = 0, r = name_and_tag ? images_check_name(i, name_and_tag, &name, reterr) : 0;

        if (r < 0)
                return r;
        if (image->created_at == 0)
                image->created_at = row.updated_at;
        if (!*image->digest)
                r = image_digest(image, image->digest);
        memcpy(row.digest, image->digest, sizeof(row.digest));
        if (r >= 0 && name_and_tag)
                r = template_row(&row, tenant, &name);
        if (r >= 0)
                r = keep_origin(i, image);
        if (r >= 0 && name_and_tag)
                refused = template_reserve(i, row.tenant, image, &room, reterr);
        if (r >= 0 && refused >= 0)
                r = image_put(i, &row, image);
        store_template_done(&row);
        ledger_release(&room);
        templates_charge(i);
        return refused < 0 ? refused : r < 0 ? template_put_failed(r, name_and_tag, reterr) : 0;
}

int images_tag(Images *i, const char *tenant, const char *name_and_tag, const char *digest, Error *reterr) {
        StoreTemplate row = { .updated_at = clock_wall_usec() };
        ImageEntry *e = images_entry(i, digest);
        LedgerEntry room = { 0 };
        TemplateName name;
        int refused = 0, r = images_check_name(i, name_and_tag, &name, reterr);

        if (r < 0)
                return r;
        if (!e)
                return error_set(reterr, -ENOENT, "there is no image '%.80s' any more", digest);
        memcpy(row.digest, e->image.digest, sizeof(row.digest));
        r = template_row(&row, tenant, &name);
        if (r >= 0)
                refused = template_reserve(i, row.tenant, &e->image, &room, reterr);
        if (r >= 0 && refused >= 0)
                r = store_template_put(i->manager->store, &row);
        if (r >= 0 && refused >= 0)
                r = keep_name(i, &row, e);
        store_template_done(&row);
        ledger_release(&room);
        templates_charge(i);
        return refused < 0 ? refused : r < 0 ? template_put_failed(r, name_and_tag, reterr) : 0;
}

/* Snapshots that belong to images and to the cache. */

int images_snapshot_announce(Images *i, const char *name) {
        StoreImageSnapshot row = { .created_at = clock_wall_usec(), .removing = true };

        (void) snprintf(row.name, sizeof(row.name), "%s", name);
        return store_image_snapshot_put(i->manager->store, &row);
}

void images_snapshot_disown(Images *i, const char *name) {
        StoreImageSnapshot row = { .created_at = clock_wall_usec(), .removing = true };
        TreeRef ref = tree_ref(TREE_SNAPSHOT, name);

        (void) snprintf(row.name, sizeof(row.name), "%s", name);
        (void) image_snapshot_add(i, &row); /* the next gc removes the row, and the tree if it still exists */
        (void) trees_remove(i->manager, &ref, /* done= */ NULL, NULL, /* ret= */ NULL, /* reterr= */ NULL);
}

int images_snapshot_mark(Images *i, ImageSnapshotEntry *e) {
        int r;

        e->row.removing = true;
        r = store_image_snapshot_put(i->manager->store, &e->row);
        if (r < 0)
                e->row.removing = false;
        return r;
}

void images_snapshot_drop(Images *i, const char *name) {
        ImageSnapshotEntry *e;

        HASH_FIND_STR(i->snapshots, name, e);
        if (e && store_image_snapshot_delete(i->manager->store, name) >= 0)
                image_snapshot_free(i, e);
}

/* The cache of builds. */

static CacheEntry *find_cache(Images *i, const char *tenant, const char *key) {
        char name[ACCESS_NAME_MAX + TREE_NAME_MAX + 2];
        CacheEntry *c;

        (void) snprintf(name, sizeof(name), "%.63s\n%.64s", tenant ? tenant : "", key);
        HASH_FIND_STR(i->cache, name, c);
        return c;
}

int images_cache_get(Images *i, const char *tenant, const char *key, char ret_snapshot[TREE_NAME_MAX + 1]) {
        CacheEntry *c = find_cache(i, tenant, key);
        ImageSnapshotEntry *e = NULL;

        if (c)
                HASH_FIND_STR(i->snapshots, c->row.snapshot, e);
        if (!e || e->row.removing)
                return 0;
        c->row.used_at = clock_wall_usec();
        /* If the write is lost, the entry looks older than it is. */
        store_may_lose(store_cache_put(i->manager->store, &c->row), "that a step was used again");
        memcpy(ret_snapshot, c->row.snapshot, sizeof(c->row.snapshot));
        return 1;
}

static int put_cache_rows(Images *i, const StoreCache *row, const StoreImageSnapshot *snapshot) {
        Store *s = i->manager->store;
        int r;

        (void) store_begin(s);
        r = store_image_snapshot_put(s, snapshot);
        if (r >= 0)
                r = store_cache_put(s, row);
        return store_end(s, r);
}

int images_cache_put(Images *i, const char *tenant, const char *key, const char *snapshot) {
        StoreCache row = { .created_at = clock_wall_usec() };
        StoreImageSnapshot tree = { .created_at = row.created_at };
        ImageSnapshotEntry *known;
        CacheEntry *old;
        int r;

        if (strlen(key) > TREE_NAME_MAX || !tree_name_is_valid(snapshot))
                return -EINVAL;
        row.used_at = row.created_at;
        (void) snprintf(row.key, sizeof(row.key), "%s", key);
        (void) snprintf(row.snapshot, sizeof(row.snapshot), "%s", snapshot);
        (void) snprintf(tree.name, sizeof(tree.name), "%s", snapshot);
        row.tenant = strdup(tenant ? tenant : "");
        if (!row.tenant)
                return -ENOMEM;
        r = put_cache_rows(i, &row, &tree);
        HASH_FIND_STR(i->snapshots, tree.name, known);
        if (r >= 0 && !known && !image_snapshot_add(i, &tree))
                r = -ENOMEM;
        /* The tree of an old entry is unused then, and the next gc removes it. */
        old = r >= 0 ? find_cache(i, tenant, key) : NULL;
        if (old)
                cache_entry_free(i, old);
        if (r >= 0 && !cache_entry_add(i, &row))
                r = -ENOMEM;
        store_cache_done(&row);
        return r;
}
