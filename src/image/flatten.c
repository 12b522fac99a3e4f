/* flatten.c: what a sandbox has changed becomes a layer: a copy of what it stood on, cove-tree flatten, publish, row. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"

typedef struct ImageFlatten {
        Images *images;
        Making *making;
        StoreLayer row;
        TreeRef disk;
        char scratch[TREE_NAME_MAX + 1];
        TreeCall *call;
        ImageDone done;
        void *userdata;
} ImageFlatten;

static void flatten_free(ImageFlatten *f) {
        tree_call_forget(f->call);
        free(f);
}

static void flatten_release(void *work) {
        flatten_free(work);
}

static void flatten_cancel(void *work) {
        ImageFlatten *f = work;

        if (f->call)
                tree_call_cancel(f->call);
}

static void flatten_finish(ImageFlatten *f, const Error *error) {
        TreeRef scratch = tree_ref(TREE_SCRATCH, f->scratch);
        Image image = { .bytes = f->row.bytes };
        ImageDone done = f->done;
        void *userdata = f->userdata;

        if (error && *f->scratch)
                (void) trees_remove(f->images->manager, &scratch, /* done= */ NULL, NULL, /* ret= */ NULL, /* reterr= */ NULL); /* or the spawner's next start */
        memcpy(image.layer, f->row.chain, sizeof(image.layer));
        making_set_work(f->making, NULL, NULL);
        flatten_free(f);
        done(error ? NULL : &image, error, userdata);
}

static void image_flatten_fail(ImageFlatten *f, int r, const Error *why) {
        Error error = *why;

        if (error.code == 0)
                (void) error_set(&error, r, "%s", strerror(-r));
        (void) error_prefix(&error, error.code, "what was changed cannot be made a layer");
        flatten_finish(f, &error);
}

static void flatten_on_published(const TreeAnswer *answer, const Error *error, void *userdata) {
        ImageFlatten *f = userdata;
        Error why = { 0 };
        int r;

        f->call = NULL;
        if (error && error->code != -EEXIST) {
                image_flatten_fail(f, error->code, error);
                return;
        }
        f->scratch[0] = '\0';
        f->row.created_at = clock_wall_usec();
        r = images_layer_put(f->images, &f->row);
        if (r < 0)
                image_flatten_fail(f, r, &why);
        else
                flatten_finish(f, NULL);
}

static void flatten_on_flattened(const char *result, const Error *error, void *userdata) {
        ImageFlatten *f = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, f->scratch), layer = tree_ref(TREE_LAYER, f->row.chain);
        Error why = { 0 };
        int r;

        f->call = NULL;
        if (error) {
                image_flatten_fail(f, error->code, error);
                return;
        }
        f->row.bytes = tree_result_bytes(result);
        r = trees_publish(f->images->manager, &scratch, &layer, flatten_on_published, f, &f->call, &why);
        if (r < 0)
                image_flatten_fail(f, r, &why);
}

static void on_progress(const char *line, void *userdata) {
        ImageFlatten *f = userdata;

        making_progress(f->making, "writing a layer", tree_result_bytes(line), 0);
}

static void flatten_on_scratch(const TreeAnswer *answer, const Error *error, void *userdata) {
        static const TreeRunEvents events = { on_progress, flatten_on_flattened };
        static const char *const arguments[] = { "flatten", NULL };
        ImageFlatten *f = userdata;
        TreeRef refs[] = { tree_ref(TREE_SCRATCH, f->scratch), f->disk };
        Error why = { 0 };
        int r;

        f->call = NULL;
        if (error) {
                image_flatten_fail(f, error->code, error);
                return;
        }
        if (making_is_cancelled(f->making)) {
                image_flatten_fail(f, -ECANCELED, &why);
                return;
        }
        refs[0].writable = true;
        r = trees_run(f->images->manager, refs, ELEMENTSOF(refs), arguments, /* in_fd= */ -EBADF, /* out_fd= */ -EBADF, &events, f, &f->call, &why);
        if (r < 0)
                image_flatten_fail(f, r, &why);
}

int images_flatten(Images *i, Making *k, const char *parent_layer, TreeKind disk_kind, const char *disk_name, const char *chain, ImageDone done,
                void *userdata, Error *reterr) {
        static const MakingWork ops = { flatten_cancel, flatten_release };
        TreeRef scratch, parent = tree_ref(TREE_LAYER, parent_layer);
        ImageFlatten *f = calloc(1, sizeof(*f));
        int r = f ? making_hold(k, chain) : -ENOMEM;

        if (r >= 0 && *parent_layer)
                r = making_hold(k, parent_layer);
        if (r < 0) {
                free(f);
                return error_set(reterr, r, "out of memory");
        }
        *f = (ImageFlatten) { .images = i, .making = k, .disk = tree_ref(disk_kind, disk_name), .done = done, .userdata = userdata };
        (void) snprintf(f->row.chain, sizeof(f->row.chain), "%s", chain);
        (void) snprintf(f->row.parent, sizeof(f->row.parent), "%s", parent_layer);
        chain_random(f->scratch);
        scratch = tree_ref(TREE_SCRATCH, f->scratch);
        r = trees_make(i->manager, &scratch, *parent_layer ? &parent : NULL, /* limit= */ 0, flatten_on_scratch, f, &f->call, reterr);
        if (r < 0) {
                free(f);
                return r;
        }
        making_set_work(k, &ops, f);
        return 0;
}
