/* templates-gc.c: unused data of templates: shows or removes it. */

#include <errno.h>

#include "api/native/template/templates.h"

typedef struct GcBody {
        bool dry_run;
} GcBody;

static const Shape native_template_gc_shape = SHAPE_FIELDS(
        { "dryRun", SHAPE_BOOL, offsetof(GcBody, dry_run), 0 });

/* Unused data and totals. */

typedef struct WasteItem {
        const char *kind, *name;
        uint64_t bytes;
} WasteItem;

static const Shape waste_item_shape = SHAPE_FIELDS(
        { "kind",  SHAPE_BORROWED, offsetof(WasteItem, kind), SHAPE_ALWAYS },
        { "name",  SHAPE_BORROWED, offsetof(WasteItem, name), SHAPE_ALWAYS },
        { "bytes", SHAPE_UINT64,   offsetof(WasteItem, bytes)              });

typedef struct NativeWaste {
        ImagesWaste sums;
        json_t *items;
} NativeWaste;

#define SUM(member) offsetof(NativeWaste, sums.member)
static const Shape native_waste_answer = SHAPE_FIELDS(
        { "dryRun",    SHAPE_BOOL,   0,                                    .json = SHAPE_SHOW(native_show_true) },
        { "images", SHAPE_UINT32, SUM(images) }, { "layers", SHAPE_UINT32, SUM(layers) },
        { "snapshots", SHAPE_UINT32, SUM(snapshots) }, { "cache", SHAPE_UINT32, SUM(cache) },
        { "blobs", SHAPE_UINT32, SUM(blobs) }, { "bytes", SHAPE_UINT64, SUM(bytes) },
        { "blobBytes", SHAPE_UINT64, SUM(blob_bytes) },
        { "items",     SHAPE_LIST,   offsetof(NativeWaste, items),         .shape = &waste_item_shape, .json = SHAPE_MADE });

#define STAT(member) offsetof(ImagesStats, member)
static const Shape native_template_stats_answer = SHAPE_FIELDS(
        { "templates", SHAPE_UINT32, STAT(templates) }, { "images", SHAPE_UINT32, STAT(images) },
        { "layers", SHAPE_UINT32, STAT(layers) }, { "cache", SHAPE_UINT32, STAT(cache) },
        { "makings", SHAPE_UINT32, STAT(makings) }, { "layerBytes", SHAPE_UINT64, STAT(layer_bytes) },
        { "blobBytes", SHAPE_UINT64, STAT(blob_bytes) });

static void waste_add_item(const char *kind, const char *name, uint64_t bytes, void *userdata) {
        (void) json_array_append_new(userdata, shape_show(&waste_item_shape, &(WasteItem) { kind, name, bytes }));
}

static void answer_waste(ApiRequest *q, Images *i) {
        _cleanup_json_ json_t *items = json_array();
        NativeWaste w = { .items = items };
        int r = items ? images_waste(i, waste_add_item, items, &w.sums) : -ENOMEM;

        if (r < 0)
                (void) api_errno(q, r, NULL);
        else
                (void) api_show(q, 200, &w);
}

static void native_template_gc(ApiRequest *q) {
        Images *i = native_images(q);
        GcBody b = { 0 };
        Error error = { 0 };
        Making *k = NULL;
        int r;

        if (!i || api_read(q, &b) < 0)
                return;
        if (b.dry_run) {
                answer_waste(q, i);
                return;
        }
        r = images_gc(i, &q->who, &k, &error);
        native_answer_making(q, k, r, &error);
}

static void native_template_stats(ApiRequest *q) {
        Images *i = native_images(q);
        ImagesStats s;

        if (!i)
                return;
        images_stats(i, &s);
        (void) api_show(q, 200, &s);
}

const ApiRoute template_gc_routes[] = {
        { "POST", "/api/templates/gc",    MAY_ADMIN,   .handle = native_template_gc, JSON_BODY(template_gc), ANSWER(waste) },
        { "GET",  "/api/templates/stats", MAY_OVERSEE, .handle = native_template_stats, ANSWER(template_stats) },
        { 0 },
};
