/* internal.h: what the files behind image.h share. Everything that the store has is in memory too: there are hundreds of it, not millions. */
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
        const char *payer; /* charge.c's, while it counts */
        UT_hash_handle hh; /* by digest */
} ImageEntry;

typedef struct TemplateEntry {
        StoreTemplate row;
        char *key; /* tenant, a newline, name:tag */
        ImageEntry *image;
        LedgerEntry charge; /* what it is the first of its tenant's to stand on */
        UT_hash_handle hh; /* by key */
} TemplateEntry;

typedef struct LayerEntry {
        StoreLayer row;
        unsigned n_images; /* that have it */
        bool used;         /* gc.c's, while it looks */
        const char *payer; /* charge.c's, while it counts */
        bool counted; /* was there when it was asked which trees there are */
        UT_hash_handle hh; /* by chain */
} LayerEntry;

typedef struct ImageSnapshotEntry {
        StoreImageSnapshot row;
        bool used; /* likewise */
        bool counted; /* was there when it was asked which trees there are */
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
        int log_fd; /* -EBADF: it has ended */
        uint64_t log_bytes;
        bool log_full;
        bool cancelled, ended;
        LedgerEntry charge;  /* while it runs */
        LedgerEntry fetched; /* blobs that come, until they are counted with all that there are (charge.c) */
        Strv held; /* layers that it counts on */
        MakingWork *works; /* the outer one first */
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
        LayerWork *works; /* by chain: unpacked or removed at this moment */
        int makings_fd, blobs_fd;
        char *blobs_path;
        BlobsOf *blobs_of; /* by tenant */
        char *program; /* cove-registry; NULL: it was not found */
        Reconciliation *reconciliation; /* under way, or waited for */
        bool reconciled;
        sd_event_source *gc_timer;
        struct Gc *gc; /* under way */
        uint64_t blob_bytes; /* as gc has seen it last */
        ImagesObserver observer;
        void *observer_data;
};

static inline const ImagesConfig *images_config(const Images *i) {
        return &i->manager->settings->images;
}

/* images.c */
ImageEntry *images_entry(Images *i, const char *digest);
LayerEntry *images_layer(Images *i, const char *chain); /* NULL: none, or it is about to go */
const char *images_problem(Images *i, const Image *image);
bool images_is_reserved(const Images *i, const char *name);

/* put.c */
int layer_copy(const StoreLayer *from, StoreLayer *to);
int images_layer_put(Images *i, const StoreLayer *row); /* copies */
void images_layer_drop(Images *i, const char *chain);   /* the row */
int images_drop(Images *i, ImageEntry *e);              /* the row of one that has no name */
int images_snapshot_mark(Images *i, ImageSnapshotEntry *e); /* it is about to go */
void images_snapshot_drop(Images *i, const char *name);
int images_check_name(const Images *i, const char *text, TemplateName *ret, Error *reterr); /* and it is not reserved */

/* load.c */
int images_load(Images *i, Error *reterr);
void images_unload(Images *i);
ImageEntry *image_entry_add(Images *i, Image *image); /* takes it */
TemplateEntry *template_entry_add(Images *i, StoreTemplate *row, ImageEntry *image); /* takes it */
void template_entry_free(Images *i, TemplateEntry *t);
LayerEntry *layer_entry_add(Images *i, StoreLayer *row);
void layer_entry_free(Images *i, LayerEntry *l);
ImageSnapshotEntry *image_snapshot_add(Images *i, const StoreImageSnapshot *row);
void image_snapshot_free(Images *i, ImageSnapshotEntry *e);
CacheEntry *cache_entry_add(Images *i, StoreCache *row);
void cache_entry_free(Images *i, CacheEntry *c);
void image_entry_free(Images *i, ImageEntry *e);
void image_count(Images *i, const Image *image, int by); /* its layers know how many have them */

/* making.c */
int makings_load(Images *i, Error *reterr);
void makings_free(Images *i);
int making_hold(Making *k, const char *chain);
void makings_trim(Images *i);

/* oci.c: configurations, in and out. */
int image_config_read(const json_t *config, ImageConfig *ret, Error *reterr);
json_t *image_config_write(const ImageConfig *config);
/* Of what was made here: its description's. */
/* `bytes` of a report of cove-tree. */
uint64_t tree_result_bytes(const char *line);
int image_digest(const Image *image, char ret[static DIGEST_LENGTH + 1]);

/* child.c: cove-registry. */
typedef struct ImageChild ImageChild;
typedef struct ImageChildEvents {
        void (*line)(const char *line, void *userdata);        /* of its reports */
        void (*ended)(const Error *error, void *userdata);     /* NULL: well. It is gone then */
} ImageChildEvents;
int image_child_start(Images *i, const char *const *arguments, const char *auth, int in_fd /* -EBADF: none; copied */, const ImageChildEvents *events,
                void *userdata, ImageChild **ret, Error *reterr);
void image_child_stop(ImageChild *c); /* asks it to end; ended() is told */
ImageChild *image_child_free(ImageChild *c); /* at once, nothing is told */

/* layers.c: one layer that is there, or is made; whoever wants the same waits for whoever was first. */
typedef void (*LayerDone)(const Error *error, void *userdata);
typedef struct LayerWaiter LayerWaiter;
/* done is called from within when it is there already. */
int layer_want(Images *i, Making *k, const StoreLayer *want /* copied */, LayerDone done, void *userdata, LayerWaiter **ret, Error *reterr);
void layer_waiter_cancel(LayerWaiter *w); /* done is not called; work that only it wanted ends */
/* Removes one whose row is marked; done may be NULL. */
int layer_remove(Images *i, const char *chain, LayerDone done, void *userdata, Error *reterr);
void layers_free(Images *i);
/* A layer that is written: what its begin a MakingWork, an unpacking and a flattening have in common. */
typedef struct LayerWriting {
        MakingWork work;
        StoreLayer row; /* what it will be */
        char tenant[ACCESS_NAME_MAX + 1]; /* whose quota of disk it counts for, where the work is no making's */
} LayerWriting;
int layer_make_scratch(void *work, Error *reterr); /* a copy of its parent, or empty */
void layer_on_written(const char *result, const Error *error, void *work);
int layer_publish(void *work, Error *reterr);
int layer_keep(void *work, Error *why); /* undo: it is whole, and others may count on it by now. It has its row, and goes with the next gc */
int layer_put_row(void *work, Error *reterr);

/* charge.c */
void templates_charge(Images *i); /* names, images or layers have changed */
int template_reserve(Images *i, const char *tenant, const Image *image, LedgerEntry *ret, Error *reterr); /* what a template of it would hold more */
void blobs_charge(Images *i, const char *tenant); /* as there are by now */
void blobs_charge_all(Images *i);
void blobs_of_free(Images *i);

/* blobs.c */
#define BLOBS_OF "of-" /* … TENANT: a directory */
int blobs_open(Images *i, Error *reterr);
/* Where those come to that a tenant gets: what another has is not there. Without a tenant: where all are. Caller frees. */
int blobs_of_tenant(Images *i, const char *tenant, char **ret_path, Error *reterr);
int blob_adopt(Images *i, const char *tenant, const char *digest, Error *reterr); /* from there to where all are */
int blob_open(Images *i, const char *digest); /* -ENOENT */
void blobs_drop_parts(Images *i, const Making *of); /* of a tenant that has no room for the rest: nobody goes on with them */
uint64_t blobs_waste(Images *i, bool remove, ImagesWasteItem item, void *userdata, unsigned *ret_n);

/* reconcile.c: rows and trees agree, before anything is made. */
int reconciliation_start(Images *i, Error *reterr);
void reconciliation_stop(Images *i);
int images_when_ready(void *work, Error *reterr); /* a step of a MakingWork */

/* gc.c */
int gc_start(Images *i, Error *reterr);
void gc_stop(Images *i);
