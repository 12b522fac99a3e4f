/* layers.c: makes and removes layer trees, each layer in one job at a time.
 *
 *      unpack    blob · scratch, a copy of the parent or empty · cove-tree unpack · publish under its chain id · row
 *      remove    mark the row · tree · row
 *
 * A request for a layer that is being unpacked waits for it. A request for one that is being removed waits
 * too, and then makes it anew. So no request relies on a tree that is about to be removed, and no tree is
 * made twice. When the last waiter has left, the job ends. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "image/internal.h"

struct LayerWaiter {
        LayerWork *work;
        Making *making; /* NULL: waits for a removal */
        StoreLayer want;
        LayerDone done;
        void *userdata;
        LayerWaiter *prev, *next;
};

struct LayerWork {
        LayerWriting writing; /* in a removal, the row's chain names the layer */
        bool removing, given_up;
        int blob_fd;
        usec_t began;
        LayerWaiter *waiters;
        UT_hash_handle hh;
};

static void layers_waiter_free(LayerWaiter *w) {
        store_layer_done(&w->want);
        free(w);
}

static void layer_work_free(LayerWork *w) {
        HASH_DEL(w->writing.work.images->works, w);
        making_work_done(&w->writing.work);
        (void) fd_close(w->blob_fd);
        store_layer_done(&w->writing.row);
        free(w);
}

void layers_free(Images *i) {
        LayerWork *w, *next;
        LayerWaiter *x, *xn;

        HASH_ITER(hh, i->works, w, next) {
                DL_FOREACH_SAFE(w->waiters, x, xn)
                        layers_waiter_free(x);
                layer_work_free(w);
        }
}

static LayerWork *layer_work_new(Images *i, const char *chain) {
        LayerWork *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        w->writing.work.images = i;
        w->blob_fd = -EBADF;
        w->began = clock_usec();
        (void) snprintf(w->writing.row.chain, sizeof(w->writing.row.chain), "%s", chain);
        HASH_ADD_STR(i->works, writing.row.chain, w);
        return w;
}

/* Frees the job before the callbacks, which may request the same layer again. */
static void layer_work_tell(LayerWork *w, const Error *error) {
        LayerWaiter *list = TAKE_PTR(w->waiters), *x, *next;

        layer_work_free(w);
        DL_FOREACH_SAFE(list, x, next) {
                DL_DELETE(list, x);
                x->work = NULL;
                if (x->done)
                        x->done(error, x->userdata);
                layers_waiter_free(x);
        }
}

static void layer_work_begin(Images *i, LayerWaiter *list);

/* Only the blob that was unpacked is known to contain this layer. For any other blob, the tenant merely
 * claims it. */
static bool is_proven(const char *tenant, const char *unpacked, const char *digest) {
        return !*tenant || (unpacked && strcmp(unpacked, digest) == 0);
}

/* Whether the result of the job applies to this waiter. It does if the waiter brought the same blob and, if
 * the quota was exceeded, has the same quota. A waiter without a tenant is trusted that its blob contains
 * this layer, but a failure of another blob says nothing about its own. */
static bool concerns(const LayerWork *w, const Error *error, const LayerWaiter *x) {
        const char *tenant = x->making->row.tenant;

        if (error && error->code == -EDQUOT && strcmp(tenant, w->writing.tenant) != 0)
                return false;
        return is_proven(error ? "?" : tenant, w->writing.row.digest, x->want.digest);
}

static LayerWaiter *take_strangers(LayerWork *w, const Error *error) {
        LayerWaiter *list = NULL, *x, *next;

        DL_FOREACH_SAFE(w->waiters, x, next)
                if (x->making && !concerns(w, error, x)) {
                        DL_DELETE(w->waiters, x);
                        DL_APPEND(list, x);
                }
        return list;
}

static const char *layer_work_name(const LayerWork *w) {
        return w->writing.row.digest ? w->writing.row.digest + strlen(DIGEST_PREFIX) : w->writing.row.chain;
}

/* Writing; flatten.c uses these steps too. */

int layer_make_scratch(void *work, Error *reterr) {
        LayerWriting *w = work;
        TreeRef parent = tree_ref(TREE_LAYER, w->row.parent);

        return making_work_make_scratch(&w->work, w->work.making ? making_tenant(w->work.making) : w->tenant, *w->row.parent ? &parent : NULL, reterr);
}

void layer_on_written(const char *result, const Error *error, void *work) {
        LayerWriting *w = work;

        w->work.call = NULL;
        w->row.bytes = error ? 0 : tree_result_bytes(result);
        sequence_heard(&w->work.run, error);
}

int layer_publish(void *work, Error *reterr) {
        LayerWriting *w = work;

        return making_work_publish(&w->work, TREE_LAYER, w->row.chain, reterr);
}

int layer_put_row(void *work, Error *reterr) {
        LayerWriting *w = work;

        w->row.created_at = clock_wall_usec();
        /* An existing row keeps its blob, which may be another tenant's. */
        return images_layer(w->work.images, w->row.chain) ? 0 : images_layer_put(w->work.images, &w->row);
}

int layer_keep(void *work, Error *why) {
        LayerWriting *w = work;

        if (!*w->work.scratch && layer_put_row(work, why) < 0)
                log_debug("layer %.12s is registered at the next start", w->row.chain);
        return STEP_DONE;
}

/* Unpacking. */

static int layer_open_blob(void *work, Error *reterr) {
        LayerWork *w = work;
        const char *digest = w->writing.row.digest;

        w->blob_fd = blob_open(w->writing.work.images, digest);
        return w->blob_fd < 0 ? error_set(reterr, w->blob_fd, "blob %s is not there: %s", digest, strerror(-w->blob_fd)) : STEP_DONE;
}

static void on_unpack_progress(const char *line, void *work) {
        LayerWork *w = work;
        LayerWaiter *x;

        DL_FOREACH(w->waiters, x)
                making_progress(x->making, x->making->row.stage, tree_result_bytes(line), 0);
}

static int layer_unpack(void *work, Error *reterr) {
        static const TreeRunEvents events = { on_unpack_progress, layer_on_written };
        LayerWork *w = work;
        LayerWriting *l = &w->writing;
        TreeRef scratch = tree_ref(TREE_SCRATCH, l->work.scratch);
        char limit[24];
        const char *const arguments[] = { "unpack", "--digest", l->row.digest, "--diff-id", l->row.diff_id, "--max-bytes", limit, NULL };

        scratch.writable = true;
        (void) snprintf(limit, sizeof(limit), "%llu", (unsigned long long) images_config(l->work.images)->image_bytes_max);
        return making_work_waits(trees_run(l->work.images->manager, &scratch, 1, arguments, w->blob_fd, /* out_fd= */ -EBADF, &events, w, &l->work.call, reterr));
}

static void layer_work_log(const LayerWork *w) {
        const StoreLayer *row = &w->writing.row;
        char sizes[2][IMAGE_SIZE_TEXT];

        for (const LayerWaiter *x = w->waiters; x; x = x->next)
                if (x == w->waiters)
                        making_log(x->making, "layer %.12s: %s, unpacked to %s in %llu ms", layer_work_name(w), image_size_text(row->blob_bytes, sizes[0]),
                                        image_size_text(row->bytes, sizes[1]), (unsigned long long) ((clock_usec() - w->began) / USEC_PER_MSEC));
                else
                        making_log(x->making, "layer %.12s: already there", layer_work_name(w));
}

static void layer_work_end(void *work, const Error *error) {
        LayerWork *w = work;
        Images *i = w->writing.work.images;
        Error why = error ? *error : (Error) { 0 };
        /* Waiters for another job: they came after this one was given up, or its result does not apply to
         * them. */
        LayerWaiter *rest;

        if (!error)
                layer_work_log(w);
        rest = error && w->given_up ? TAKE_PTR(w->waiters) : take_strangers(w, error);
        if (error && error->code == -EDQUOT)
                (void) error_set(&why, -EDQUOT, "layer %.12s does not fit into its tenant's disk quota (quotas.diskMB): remove templates, snapshots or volumes (%.200s)",
                                w->writing.row.chain, error->text);
        else if (error && error->code == -ENOSPC)
                (void) error_set(&why, -ENOSPC, "there is no room for layer %.12s: free some with `cove template gc`, or raise storage.size (%.200s)",
                                w->writing.row.chain, error->text);
        else if (error)
                (void) error_prefix(&why, error->code, "layer %.12s", layer_work_name(w));
        layer_work_tell(w, error ? &why : NULL);
        if (rest)
                layer_work_begin(i, rest);
}

static const SequenceStep layer_steps[] = {
        { "blob", layer_open_blob },
        { "scratch", layer_make_scratch, making_work_drop_scratch },
        { "unpack", layer_unpack, .cancel = making_work_cancel_run },
        { "publish", layer_publish, layer_keep },
        { "row", layer_put_row },
};
static const Sequence layer = SEQUENCE("layer", layer_steps, layer_work_end);

/* Starts a job for the first waiter in the list; the others wait for the same job. */
static void layer_work_begin(Images *i, LayerWaiter *list) {
        static const Error no_memory = { -ENOMEM, "out of memory" };
        LayerWaiter *x, *next;
        LayerWork *w = layer_work_new(i, list->want.chain);
        Error error = { 0 };

        DL_FOREACH_SAFE(list, x, next) {
                DL_DELETE(list, x);
                x->work = w;
                if (w)
                        DL_APPEND(w->waiters, x);
                else {
                        x->done(&no_memory, x->userdata);
                        layers_waiter_free(x);
                }
        }
        if (!w)
                return;
        if (w->waiters->making)
                (void) snprintf(w->writing.tenant, sizeof(w->writing.tenant), "%s", making_tenant(w->waiters->making));
        if (layer_copy(&w->waiters->want, &w->writing.row) < 0)
                layer_work_end(w, &no_memory);
        else if (making_work_start(&w->writing.work, &layer, &error) < 0)
                layer_work_end(w, &error);
}

static LayerWaiter *waiter_new(Making *k, const StoreLayer *want, LayerDone done, void *userdata) {
        LayerWaiter *x = calloc(1, sizeof(*x));

        if (!x)
                return NULL;
        *x = (LayerWaiter) { .making = k, .done = done, .userdata = userdata };
        if (layer_copy(want, &x->want) < 0) {
                free(x);
                return NULL;
        }
        return x;
}

int layer_want(Images *i, Making *k, const StoreLayer *want, LayerDone done, void *userdata, LayerWaiter **ret, Error *reterr) {
        LayerWaiter *x, *list = NULL;
        const LayerEntry *l;
        LayerWork *w;
        int r = making_hold(k, want->chain);

        *ret = NULL;
        if (r < 0)
                return error_set(reterr, r, "an image of so many layers cannot be held");
        l = images_layer(i, want->chain);
        if (l && is_proven(k->row.tenant, l->row.digest, want->digest)) {
                making_log(k, "layer %.12s: is there", want->digest + strlen(DIGEST_PREFIX));
                done(NULL, userdata);
                return 0;
        }
        x = waiter_new(k, want, done, userdata);
        if (!x)
                return error_set(reterr, -ENOMEM, "out of memory");
        *ret = x;
        HASH_FIND_STR(i->works, want->chain, w);
        if (w) {
                x->work = w;
                DL_APPEND(w->waiters, x);
                making_log(k, "layer %.12s: waiting for another request that unpacks it", want->digest + strlen(DIGEST_PREFIX));
                return 0;
        }
        DL_APPEND(list, x);
        layer_work_begin(i, list);
        return 0;
}

void layer_waiter_cancel(LayerWaiter *x) {
        static const Error unwanted = { -ECANCELED, "no request needs it any more" };
        LayerWork *w = x->work;

        if (w) {
                DL_DELETE(w->waiters, x);
                if (!w->waiters && !w->removing && !w->given_up) {
                        w->given_up = true;
                        sequence_cancel(&w->writing.work.run, &unwanted);
                }
        }
        layers_waiter_free(x);
}

/* Removing. */

static void layers_on_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        LayerWork *w = userdata;
        Images *i = w->writing.work.images;
        LayerWaiter *x, *next, *again = NULL;

        w->writing.work.call = NULL;
        if (!error)
                images_layer_drop(i, w->writing.row.chain); /* else the row stays marked, and the next gc tries again */
        DL_FOREACH_SAFE(w->waiters, x, next)
                if (x->making) {
                        DL_DELETE(w->waiters, x);
                        DL_APPEND(again, x);
                }
        layer_work_tell(w, error);
        if (again)
                layer_work_begin(i, again);
}

int layer_remove(Images *i, const char *chain, LayerDone done, void *userdata, Error *reterr) {
        TreeRef ref = tree_ref(TREE_LAYER, chain);
        LayerWaiter *x;
        LayerWork *w;
        int r;

        HASH_FIND_STR(i->works, chain, w);
        if (w)
                return error_set(reterr, -EBUSY, "layer %.12s is being worked on", chain);
        x = calloc(1, sizeof(*x));
        w = x ? layer_work_new(i, chain) : NULL;
        if (!w) {
                free(x);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        r = trees_remove(i->manager, &ref, layers_on_removed, w, &w->writing.work.call, reterr);
        if (r < 0) {
                free(x);
                layer_work_free(w);
                return r;
        }
        *x = (LayerWaiter) { .work = w, .done = done, .userdata = userdata };
        w->removing = true;
        DL_APPEND(w->waiters, x);
        return 0;
}
