/* rows.h: rows of templates, images, layers, the cache of builds and makings. As core/store.h. */
#pragma once

#include "core/store.h"
#include "image/image.h"

#define MAKING_ID_LENGTH 25 /* "m" and 24 hexadecimal digits, by chance */

typedef struct StoreTemplate {
        char *tenant; /* "": everybody's */
        char *name, *tag;
        char digest[sizeof(((Image *) NULL)->digest)];
        usec_t updated_at;
} StoreTemplate;

typedef struct StoreLayer {
        char chain[TREE_NAME_MAX + 1], parent[TREE_NAME_MAX + 1];
        char *diff_id, *digest, *media_type; /* NULL: was made here, and not packed yet */
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
        char *name; /* NAME[:TAG]; NULL: it is about none */
        int status; /* MakingStatus */
        int error_code;
        char *error;
        char digest[sizeof(((Image *) NULL)->digest)];
        char *stage;
        uint64_t progress_done, progress_total;
        usec_t created_at, ended_at;
} StoreMaking;

void store_template_done(StoreTemplate *row);
void store_layer_done(StoreLayer *row);
void store_cache_done(StoreCache *row);
void store_making_done(StoreMaking *row);

/* put: makes it, or changes what may change. each: rows may be taken from (their texts set to NULL). */
int store_image_put(Store *s, const Image *image);
int store_image_delete(Store *s, const char *digest); /* -ENOENT: a template points to it */
int store_image_each(Store *s, int (*each)(Image *row, void *userdata), void *userdata);

int store_template_put(Store *s, const StoreTemplate *row);
int store_template_delete(Store *s, const StoreTemplate *row);
int store_template_each(Store *s, int (*each)(StoreTemplate *row, void *userdata), void *userdata);

int store_layer_put(Store *s, const StoreLayer *row);
int store_layer_delete(Store *s, const char *chain);
int store_layer_each(Store *s, int (*each)(StoreLayer *row, void *userdata), void *userdata);

/* Layers that snapshots of sandboxes stand on, each once. */
int store_layers_of_snapshots(Store *s, int (*each)(const char *layer, void *userdata), void *userdata);

int store_image_snapshot_put(Store *s, const StoreImageSnapshot *row);
int store_image_snapshot_delete(Store *s, const char *name);
int store_image_snapshot_each(Store *s, int (*each)(StoreImageSnapshot *row, void *userdata), void *userdata);
int store_image_snapshot_exists(Store *s, const char *name); /* 1, 0 */
/* For whoever sweeps TREE_SNAPSHOT: 1: some row speaks of it, of an image, a build or a sandbox; 0: none does. */
int store_snapshot_is_owned(Store *s, const char *name);

int store_cache_put(Store *s, const StoreCache *row);
int store_cache_delete(Store *s, const StoreCache *row);
int store_cache_each(Store *s, int (*each)(StoreCache *row, void *userdata), void *userdata);

int store_making_put(Store *s, const StoreMaking *row);
int store_making_delete(Store *s, const char *id);
int store_making_each(Store *s, int (*each)(StoreMaking *row, void *userdata), void *userdata); /* the oldest first */
