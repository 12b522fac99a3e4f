/* internal.h: shared by the files behind image.h. Everything in the store is in memory too: there are
 * hundreds of entries, not millions. */
#pragma once

#include <utlist.h>

#include "config/config.h"
#include "core/ledger.h"
#include "image/image.h"
#include "image/names.h"
#include "json/json.h"
#include "image/rows.h"

#define IMAGE_SOURCE_IMPORT "import"
#define IMAGE_LAYERS_MAX    512

typedef struct BlobsOf BlobsOf;

typedef struct ImageEntry {
        Image image;
        unsigned n_names;
        const char *payer; /* charge.c: the tenant that pays, during a count */
        UT_hash_handle hh; /* by digest */
} ImageEntry;

typedef struct TemplateEntry {
        StoreTemplate row;
        char *key; /* tenant, a newline, name:tag */
        ImageEntry *image;
        LedgerEntry charge; /* the bytes that no earlier template of its tenant, and no shared one, pays for */
        UT_hash_handle hh; /* by key */
} TemplateEntry;

typedef struct LayerEntry {
        StoreLayer row;
        unsigned n_images; /* that contain it */
        bool used;         /* gc.c: mark, during a run */
        const char *payer; /* charge.c: the tenant that pays, during a count */
        bool counted; /* existed when reconciliation asked for the list of trees */
        UT_hash_handle hh; /* by chain */
} LayerEntry;

typedef struct ImageSnapshotEntry {
        StoreImageSnapshot row;
        bool used; /* gc.c: mark, during a run */
        bool counted; /* existed when reconciliation asked for the list of trees */
        UT_hash_handle hh; /* by name */
} ImageSnapshotEntry;

typedef struct CacheEntry {
        StoreCache row;
        char *name; /* tenant, a newline, key */
        UT_hash_handle hh;
} CacheEntry;

typedef struct LayerWork LayerWork;
typedef struct Reconciliation Reconciliation;

struct Making {
        Images *images;
        StoreMaking row;
        int log_fd; /* -EBADF: the making has ended */
        uint64_t log_bytes;
        bool log_full;
        bool cancelled, ended;
        LedgerEntry charge;  /* while it runs */
        LedgerEntry fetched; /* blobs being fetched, until blobs_charge() counts them */
        Strv held; /* layers that it needs */
        MakingWork *works; /* the outermost first */
        MakingWatch *watches;
        Making *prev, *next; /* the oldest first */
        UT_hash_handle hh;   /* by id */
};

struct Images {
        Manager *manager;
        TemplateKeeper keeper;
        ImageEntry *images;
        TemplateEntry *templates;
        LayerEntry *layers;
        ImageSnapshotEntry *snapshots;
        CacheEntry *cache;
        Making *makings, *makings_by_id;
        unsigned n_running;
        LayerWork *works; /* by chain: layers being unpacked or removed */
        int makings_fd, blobs_fd;
        char *blobs_path;
        BlobsOf *blobs_of; /* by tenant */
        char *program; /* cove-registry; NULL: not found */
        Reconciliation *reconciliation; /* under way or waiting */
        bool reconciled;
        sd_event_source *gc_timer;
        struct Gc *gc; /* under way */
        uint64_t blob_bytes; /* as of the last gc */
        ImagesObserver observer;
        void *observer_data;
};

static inline const ImagesConfig *images_config(const Images *i) {
        return &i->manager->settings->images;
}

/* images.c */
ImageEntry *images_entry(Images *i, const char *digest);
LayerEntry *images_layer(Images *i, const char *chain); /* NULL: none, or being removed */
const char *images_problem(Images *i, const Image *image);
bool images_is_reserved(const Images *i, const char *name);

/* put.c */
int layer_copy(const StoreLayer *from, StoreLayer *to);
int images_layer_put(Images *i, const StoreLayer *row); /* copies */
void images_layer_drop(Images *i, const char *chain);   /* the row only */
int images_drop(Images *i, ImageEntry *e);              /* the row of an image without a name */
int images_snapshot_mark(Images *i, ImageSnapshotEntry *e); /* marks the row before the removal */
void images_snapshot_drop(Images *i, const char *name);
/* Also checks that the name is not reserved. */
int images_check_name(const Images *i, const char *text, TemplateName *ret, Error *reterr);

/* load.c */
int images_load(Images *i, Error *reterr);
void images_unload(Images *i);
ImageEntry *image_entry_add(Images *i, Image *image); /* takes the image */
TemplateEntry *template_entry_add(Images *i, StoreTemplate *row, ImageEntry *image); /* takes the row */
void template_entry_free(Images *i, TemplateEntry *t);
LayerEntry *layer_entry_add(Images *i, StoreLayer *row);
void layer_entry_free(Images *i, LayerEntry *l);
ImageSnapshotEntry *image_snapshot_add(Images *i, const StoreImageSnapshot *row);
void image_snapshot_free(Images *i, ImageSnapshotEntry *e);
CacheEntry *cache_entry_add(Images *i, StoreCache *row);
void cache_entry_free(Images *i, CacheEntry *c);
void image_entry_free(Images *i, ImageEntry *e);
void image_count(Images *i, const Image *image, int by); /* adds `by` to n_images of its layers */

/* making.c */
int makings_load(Images *i, Error *reterr);
void makings_free(Images *i);
int making_hold(Making *k, const char *chain);
void makings_trim(Images *i);

/* oci.c: reads and writes configurations. */
int image_config_read(const json_t *config, ImageConfig *ret, Error *reterr);
json_t *image_config_write(const ImageConfig *config);
/* The "bytes" in a report of cove-tree. */
uint64_t tree_result_bytes(const char *line);
/* The digest of an image that was made here: of its description. */
int image_digest(const Image *image, char ret[static DIGEST_LENGTH + 1]);

/* child.c: cove-registry. */
typedef struct ImageChild ImageChild;
typedef struct ImageChildEvents {
        void (*line)(const char *line, void *userdata);        /* of its reports */
        void (*ended)(const Error *error, void *userdata);     /* NULL: success. The child has been freed */
} ImageChildEvents;
int image_child_start(Images *i, const char *const *arguments, const char *auth, int in_fd /* -EBADF: none; copied */, const ImageChildEvents *events,
                void *userdata, ImageChild **ret, Error *reterr);
void image_child_stop(ImageChild *c); /* asks it to end; ended() will be called */
ImageChild *image_child_free(ImageChild *c); /* kills it at once; ended() is not called */

/* layers.c: finds or makes one layer. Concurrent requests for a layer wait for the first. */
typedef void (*LayerDone)(const Error *error, void *userdata);
typedef struct LayerWaiter LayerWaiter;
/* If the layer exists, done is called before layer_want() returns. */
int layer_want(Images *i, Making *k, const StoreLayer *want /* copied */, LayerDone done, void *userdata, LayerWaiter **ret, Error *reterr);
void layer_waiter_cancel(LayerWaiter *w); /* done is not called; the work ends if no other caller waits for it */
/* Removes a layer with a marked row; done may be NULL. */
int layer_remove(Images *i, const char *chain, LayerDone done, void *userdata, Error *reterr);
void layers_free(Images *i);
/* A layer being written: the common beginning of an unpacking and a flattening, itself beginning with a
 * MakingWork. */
typedef struct LayerWriting {
        MakingWork work;
        StoreLayer row; /* the future row */
        char tenant[ACCESS_NAME_MAX + 1]; /* whose disk quota counts if the work belongs to no making */
} LayerWriting;
int layer_make_scratch(void *work, Error *reterr); /* a copy of its parent, or empty */
void layer_on_written(const char *result, const Error *error, void *work);
int layer_publish(void *work, Error *reterr);
/* Undo of layer_publish(): the published layer is complete and may be in use, so it gets its row. The next gc
 * removes it. */
int layer_keep(void *work, Error *why);
int layer_put_row(void *work, Error *reterr);

/* charge.c */
void templates_charge(Images *i); /* call it after names, images or layers have changed */
/* Reserves what a template of the image would add to the tenant's account. */
int template_reserve(Images *i, const char *tenant, const Image *image, LedgerEntry *ret, Error *reterr);
void blobs_charge(Images *i, const char *tenant); /* recounts those on disk */
void blobs_charge_all(Images *i);
void blobs_of_free(Images *i);

/* blobs.c */
#define BLOBS_OF "of-" /* followed by the tenant; the name of a directory */
int blobs_open(Images *i, Error *reterr);
/* The directory for blobs that a tenant fetches. It does not contain other tenants' blobs. Tenant "": the
 * common directory. The caller frees. */
int blobs_of_tenant(Images *i, const char *tenant, char **ret_path, Error *reterr);
/* Links a blob from there into the common directory. */
int blob_adopt(Images *i, const char *tenant, const char *digest, Error *reterr);
int blob_open(Images *i, const char *digest); /* -ENOENT */
/* For a tenant without room for the rest: deletes the parts unless another making of the tenant may use them. */
void blobs_drop_parts(Images *i, const Making *of);
uint64_t blobs_waste(Images *i, bool remove, ImagesWasteItem item, void *userdata, unsigned *ret_n);

/* reconcile.c: makes rows and trees agree before the first job. */
int reconciliation_start(Images *i, Error *reterr);
void reconciliation_stop(Images *i);
int images_when_ready(void *work, Error *reterr); /* a step of a MakingWork */

/* gc.c */
int gc_start(Images *i, Error *reterr);
void gc_stop(Images *i);
