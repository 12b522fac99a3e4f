/* flatten.c: makes a layer from the changes of a sandbox. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"

typedef struct ImageFlatten {
        LayerWriting writing;
        TreeRef disk;
        ImageDone done;
        void *userdata;
} ImageFlatten;

static void flatten_free(void *work) {
        ImageFlatten *f = work;

        making_work_done(&f->writing.work);
        free(f);
}

static void flatten_end(void *work, const Error *error) {
        ImageFlatten *f = work;
        Image image = { .bytes = f->writing.row.bytes };
        Error why = error ? *error : (Error) { 0 };
        ImageDone done = f->done;
        void *userdata = f->userdata;

        memcpy(image.layer, f->writing.row.chain, sizeof(image.layer));
        flatten_free(f);
        done(error ? NULL : &image, error ? &why : NULL, userdata);
}

static void flatten_on_progress(const char *line, void *work) {
        making_progress(((MakingWork *) work)->making, "writing a layer", tree_result_bytes(line), 0);
}

static int flatten_run(void *work, Error *reterr) {
        static const TreeRunEvents events = { flatten_on_progress, layer_on_written };
        static const char *const arguments[] = { "flatten", NULL };
        ImageFlatten *f = work;
        MakingWork *w = &f->writing.work;
        TreeRef refs[] = { tree_ref(TREE_SCRATCH, w->scratch), f->disk };

        refs[0].writable = true;
        return making_work_waits(trees_run(w->images->manager, refs, ELEMENTSOF(refs), arguments, /* in_fd= */ -EBADF, /* out_fd= */ -EBADF, &events, f,
                        &w->call, reterr));
}

/* The undo of the first step is the last to see the error, so it adds the context. */
static int flatten_explain(void *work, Error *why) {
        (void) error_prefix(why, why->code, "the changes cannot be written as a layer");
        return making_work_drop_scratch(work, why);
}

static const SequenceStep flatten_steps[] = {
        { "scratch", layer_make_scratch, flatten_explain },
        { "flatten", flatten_run, .cancel = making_work_cancel_run },
        { "publish", layer_publish, layer_keep },
        { "row", layer_put_row },
};
static const Sequence flatten = SEQUENCE("flatten", flatten_steps, flatten_end);

int images_flatten(Images *i, Making *k, const char *parent_layer, TreeKind disk_kind, const char *disk_name, const char *chain, ImageDone done,
                void *userdata, Error *reterr) {
        ImageFlatten *f = calloc(1, sizeof(*f));
        int r = f ? making_hold(k, chain) : -ENOMEM;

        if (r >= 0 && *parent_layer)
                r = making_hold(k, parent_layer);
        if (r < 0) {
                free(f);
                return error_set(reterr, r, "out of memory");
        }
        *f = (ImageFlatten) {
                .writing.work = { .images = i, .making = k, .release = flatten_free },
                .disk = tree_ref(disk_kind, disk_name),
                .done = done,
                .userdata = userdata,
        };
        (void) snprintf(f->writing.row.chain, sizeof(f->writing.row.chain), "%s", chain);
        (void) snprintf(f->writing.row.parent, sizeof(f->writing.row.parent), "%s", parent_layer);
        r = making_work_start(&f->writing.work, &flatten, reterr);
        if (r < 0)
                free(f);
        return r < 0 ? r : 0;
}
