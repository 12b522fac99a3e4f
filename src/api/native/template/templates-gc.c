/* templates-gc.c: what templates no longer need: shown, or removed. */

#include <errno.h>

#include "api/native/template/templates.h"

typedef struct GcBody {
        bool dry_run;
} GcBody;

static const ShapeField native_template_gc_fields[] = {
        { "dryRun", SHAPE_BOOL, offsetof(GcBody, dry_run), 0 },
};
const Shape native_template_gc_shape = SHAPE_BODY(native_template_gc_fields);

static void add_item(const char *kind, const char *name, uint64_t bytes, void *userdata) {
        (void) json_array_append_new(userdata, json_pack("{s:s,s:s,s:I}", "kind", kind, "name", name, "bytes", (json_int_t) bytes));
}

static void answer_waste(ApiRequest *q, Images *i) {
        json_t *items = json_array();
        ImagesWaste w;
        int r = items ? images_waste(i, add_item, items, &w) : -ENOMEM;

        if (r < 0) {
                json_decref(items);
                (void) api_errno(q, r, NULL);
                return;
        }
        (void) api_answer(q, 200, json_pack("{s:b,s:i,s:i,s:i,s:i,s:i,s:I,s:I,s:o}",
                        "dryRun", 1,
                        "images", (int) w.images,
                        "layers", (int) w.layers,
                        "snapshots", (int) w.snapshots,
                        "cache", (int) w.cache,
                        "blobs", (int) w.blobs,
                        "bytes", (json_int_t) w.bytes,
                        "blobBytes", (json_int_t) w.blob_bytes,
                        "items", items));
}

void native_template_gc(ApiRequest *q) {
        Images *i = native_images(q);
        GcBody b = { 0 };
        Error error = { 0 };
        Making *k;
        int r;

        if (!i || api_read(q, &b) < 0)
                return;
        if (b.dry_run) {
                answer_waste(q, i);
                return;
        }
        r = images_gc(i, &q->who, &k, &error);
        if (r < 0)
                native_template_error(q, r, &error);
        else
                native_answer_making(q, k);
}

void native_template_stats(ApiRequest *q) {
        Images *i = native_images(q);
        ImagesStats s;

        if (!i)
                return;
        images_stats(i, &s);
        (void) api_answer(q, 200, json_pack("{s:i,s:i,s:i,s:i,s:i,s:I,s:I}",
                        "templates", (int) s.templates,
                        "images", (int) s.images,
                        "layers", (int) s.layers,
                        "cache", (int) s.cache,
                        "makings", (int) s.makings,
                        "layerBytes", (json_int_t) s.layer_bytes,
                        "blobBytes", (json_int_t) s.blob_bytes));
}
