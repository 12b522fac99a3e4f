/* rows.h: rows of templates, images, layers, the build cache and makings. See core/store.h. */
#pragma once

#include "core/store.h"
#include "image/image.h"

#define MAKING_ID_LENGTH 25 /* "m" and 24 random hexadecimal digits */

typedef struct StoreTemplate {
        char *tenant; /* "": all tenants */
        char *name, *tag;
        char digest[sizeof(((Image *) NULL)->digest)];
        usec_t updated_at;
} StoreTemplate;

typedef struct StoreLayer {
        char chain[TREE_NAME_MAX + 1], parent[TREE_NAME_MAX + 1];
        char *diff_id, *digest, *media_type; /* NULL: made here and not packed yet */
        uint64_t blob_bytes, bytes;
        usec_t created_at;
        bool removing;
} StoreLayer;

typedef struct StoreImageSnapshot {
        char name[TREE_NAME_MAX + 1];
        usec_t created_at;
        bool removing;
} StoreImageSnapshot;

typedef struct StoreCache {
        char *tenant;
        char key[TREE_NAME_MAX + 1], snapshot[TREE_NAME_MAX + 1];
        usec_t created_at, used_at;
} StoreCache;

typedef struct StoreMaking {
        char id[MAKING_ID_LENGTH + 1];
        char *tenant;
        int kind;   /* MakingKind */
        char *name; /* NAME[:TAG]; NULL: not about a template */
        int status; /* MakingStatus */
        int error_code;
        char *error;
        char digest[sizeof(((Image *) NULL)->digest)];
        char *stage;
        uint64_t progress_done, progress_total;
        usec_t created_at, ended_at;
} StoreMaking;

extern const StoreTable image_table, template_table, layer_table, image_snapshot_table, build_cache_table, making_table;

STORE_DONE(store_template_done, template_table, StoreTemplate);
STORE_DONE(store_layer_done, layer_table, StoreLayer);
STORE_DONE(store_cache_done, build_cache_table, StoreCache);
STORE_DONE(store_making_done, making_table, StoreMaking);

/* put: inserts the row, or updates its mutable columns. each: the callback may take strings from the row (and
 * set them to NULL). */
STORE_WRITE(store_image_put, store_put, image_table, Image);
STORE_DELETE(store_image_delete, image_table); /* -ENOENT: a template points to it */
STORE_EACH(store_image_each, image_table, Image);

STORE_WRITE(store_template_put, store_put, template_table, StoreTemplate);
STORE_WRITE(store_template_delete, store_delete, template_table, StoreTemplate);
STORE_EACH(store_template_each, template_table, StoreTemplate);

STORE_WRITE(store_layer_put, store_put, layer_table, StoreLayer);
STORE_DELETE(store_layer_delete, layer_table);
STORE_EACH(store_layer_each, layer_table, StoreLayer);

/* Calls `each` once for each layer that a snapshot of a sandbox stands on. */
int store_layers_of_snapshots(Store *s, int (*each)(const char *layer, void *userdata), void *userdata);

STORE_WRITE(store_image_snapshot_put, store_put, image_snapshot_table, StoreImageSnapshot);
STORE_DELETE(store_image_snapshot_delete, image_snapshot_table);
STORE_EACH(store_image_snapshot_each, image_snapshot_table, StoreImageSnapshot);
int store_image_snapshot_exists(Store *s, const char *name); /* 1, 0 */
/* For sweeping TREE_SNAPSHOT: 1 if a row of an image, a build or a sandbox names the snapshot, else 0. */
int store_snapshot_is_owned(Store *s, const char *name);

STORE_WRITE(store_cache_put, store_put, build_cache_table, StoreCache);
STORE_WRITE(store_cache_delete, store_delete, build_cache_table, StoreCache);
STORE_EACH(store_cache_each, build_cache_table, StoreCache);

STORE_WRITE(store_making_put, store_put, making_table, StoreMaking);
STORE_DELETE(store_making_delete, making_table);
STORE_EACH(store_making_each, making_table, StoreMaking); /* the oldest first */
