/* layers.c: layer trees that are made and removed, each by one at a time.
 *
 *      unpack    scratch, a copy of the parent or empty · cove-tree unpack · publish under its chain id · row
 *      remove    row is marked · tree · row
 *
 * Whoever wants a layer that is being unpacked waits for it; of one that is being removed, too, and then makes it anew. So nobody counts on a tree that is about
 * to go, and no tree is made twice. When the last who wanted it has gone, the work ends. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "image/internal.h"

struct LayerWaiter {
        LayerWork *work;
        Making *making; /* NULL: of a removal */
        StoreLayer want;
        LayerDone done;
        void *userdata;
        LayerWaiter *prev, *next;
};

struct LayerWork {
        Images *images;
        char chain[TREE_NAME_MAX + 1];
        bool removing, cancelled;
        char scratch[TREE_NAME_MAX + 1];
        StoreLayer row; /* what it will be */
        int blob_fd;
        usec_t began;
        TreeCall *call;
        LayerWaiter *waiters;
        UT_hash_handle hh;
};

static void layers_waiter_free(LayerWaiter *w) {
        store_layer_done(&w->want);
        free(w);
}

static void work_free(LayerWork *w) {
        HASH_DEL(w->images->works, w);
        tree_call_forget(w->call);
        (void) fd_close(w->blob_fd);
        store_layer_done(&w->row);
        free(w);
}

void layers_free(Images *i) {
        LayerWork *w, *next;
        LayerWaiter *x, *xn;

        HASH_ITER(hh, i->works, w, next) {
                DL_FOREACH_SAFE(w->waiters, x, xn)
                        layers_waiter_free(x);
                work_free(w);
        }
}

static LayerWork *work_new(Images *i, const char *chain) {
        LayerWork *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        w->images = i;
        w->blob_fd = -EBADF;
        w->began = clock_usec();
        (void) snprintf(w->chain, sizeof(w->chain), "%s", chain);
        HASH_ADD_STR(i->works, chain, w);
        return w;
}

/* It is gone before they hear of it, who may want the next thing from there. */
static void layers_work_end(LayerWork *w, const Error *error) {
        LayerWaiter *list = TAKE_PTR(w->waiters), *x, *next;
        Images *i = w->images;
        TreeRef scratch = tree_ref(TREE_SCRATCH, w->scratch);

        if (error && *w->scratch)
                (void) trees_remove(i->manager, &scratch, /* done= */ NULL, NULL, /* ret= */ NULL, /* reterr= */ NULL); /* else the spawner's next start does */
        work_free(w);
        DL_FOREACH_SAFE(list, x, next) {
                DL_DELETE(list, x);
                x->work = NULL;
                if (x->done)
                        x->done(error, x->userdata);
                layers_waiter_free(x);
        }
}

static void restart(Images *i, LayerWaiter *list);

/* That a blob has this layer in it is known of the one that was unpacked; who brings another one has only said so. */
static bool is_proven(const char *tenant, const char *unpacked, const char *digest) {
        return !*tenant || (unpacked && strcmp(unpacked, digest) == 0);
}

/* Those whom what became of it tells nothing: they have brought another blob. all: also those without a tenant, who are believed. */
static LayerWaiter *take_strangers(LayerWork *w, bool all) {
        LayerWaiter *list = NULL, *x, *next;

        DL_FOREACH_SAFE(w->waiters, x, next)
                if (x->making && !is_proven(all ? "?" : x->making->row.tenant, w->row.digest, x->want.digest)) {
                        DL_DELETE(w->waiters, x);
                        DL_APPEND(list, x);
                }
        return list;
}

static void work_fail(LayerWork *w, int r, const Error *why) {
        Error error = *why;
        /* came when it had been given up already; or it was another's blob that was wrong */
        LayerWaiter *late = w->cancelled ? TAKE_PTR(w->waiters) : take_strangers(w, /* all= */ true);
        Images *i = w->images;

        if (error.code == 0)
                (void) error_set(&error, r, "%s", strerror(-r));
        if (error.code == -ENOSPC || error.code == -EDQUOT)
                (void) error_set(&error, -ENOSPC, "there is no room for layer %.12s: `cove template gc` removes what nobody uses, storage.size makes the depot larger (%.200s)",
                                w->chain, why->text);
        else
                (void) error_prefix(&error, error.code, "layer %.12s", w->row.digest ? w->row.digest + strlen(DIGEST_PREFIX) : w->chain);
        layers_work_end(w, &error);
        if (late)
                restart(i, late);
}

/* Unpacking. */

static void layers_on_published(const TreeAnswer *answer, const Error *error, void *userdata) {
        LayerWork *w = userdata;
        LayerWaiter *x, *strangers;
        Images *i;
        Error why = { 0 };
        int r;

        w->call = NULL;
        if (error && error->code != -EEXIST) { /* somebody's that is as good */
                work_fail(w, error->code, error);
                return;
        }
        w->scratch[0] = '\0';
        w->row.created_at = clock_wall_usec();
        r = error && images_layer(w->images, w->chain) ? 0 : images_layer_put(w->images, &w->row); /* that one's blob is another's to push */
        if (r < 0) {
                work_fail(w, r, &why);
                return;
        }
        for (x = w->waiters; x; x = x->next) {
                char sizes[2][IMAGE_SIZE_TEXT];
                const char *name = w->row.digest ? w->row.digest + strlen(DIGEST_PREFIX) : w->chain;

                if (x == w->waiters)
                        making_log(x->making, "layer %.12s: %s, unpacked to %s in %llu ms", name, image_size_text(w->row.blob_bytes, sizes[0]),
                                        image_size_text(w->row.bytes, sizes[1]), (unsigned long long) ((clock_usec() - w->began) / USEC_PER_MSEC));
                else
                        making_log(x->making, "layer %.12s: is there by now", name);
        }
        strangers = take_strangers(w, /* all= */ false);
        i = w->images;
        layers_work_end(w, NULL);
        if (strangers)
                restart(i, strangers);
}

static void on_unpack_progress(const char *line, void *userdata) {
        LayerWork *w = userdata;
        LayerWaiter *x;

        DL_FOREACH(w->waiters, x)
                making_progress(x->making, x->making->row.stage, tree_result_bytes(line), 0);
}

static void on_unpacked(const char *result, const Error *error, void *userdata) {
        LayerWork *w = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, w->scratch), layer = tree_ref(TREE_LAYER, w->chain);
        Error why = { 0 };
        int r;

        w->call = NULL;
        if (error) {
                work_fail(w, error->code, error);
                return;
        }
        w->row.bytes = tree_result_bytes(result);
        r = trees_publish(w->images->manager, &scratch, &layer, layers_on_published, w, &w->call, &why);
        if (r < 0)
                work_fail(w, r, &why);
}

static void layers_on_scratch(const TreeAnswer *answer, const Error *error, void *userdata) {
        static const TreeRunEvents events = { on_unpack_progress, on_unpacked };
        LayerWork *w = userdata;
        TreeRef scratch = tree_ref(TREE_SCRATCH, w->scratch);
        char limit[24];
        const char *const arguments[] = { "unpack", "--digest", w->row.digest, "--diff-id", w->row.diff_id, "--max-bytes", limit, NULL };
        Error why = { 0 };
        int r;

        w->call = NULL;
        if (error) {
                work_fail(w, error->code, error);
                return;
        }
        if (w->cancelled) {
                work_fail(w, -ECANCELED, &why);
                return;
        }
        scratch.writable = true;
        (void) snprintf(limit, sizeof(limit), "%llu", (unsigned long long) images_config(w->images)->image_bytes_max);
        r = trees_run(w->images->manager, &scratch, 1, arguments, w->blob_fd, /* out_fd= */ -EBADF, &events, w, &w->call, &why);
        if (r < 0)
                work_fail(w, r, &why);
}

static int begin_unpack(LayerWork *w, const StoreLayer *want, Error *reterr) {
        Images *i = w->images;
        TreeRef scratch, parent = tree_ref(TREE_LAYER, want->parent);

        w->row = *want; /* its texts are taken by the caller */
        w->blob_fd = blob_open(i, want->digest);
        if (w->blob_fd < 0)
                return error_set(reterr, w->blob_fd, "blob %s is not there: %s", want->digest, strerror(-w->blob_fd));
        chain_random(w->scratch);
        scratch = tree_ref(TREE_SCRATCH, w->scratch);
        return trees_make(i->manager, &scratch, *want->parent ? &parent : NULL, /* limit= */ 0, layers_on_scratch, w, &w->call, reterr);
}

/* For whom it was removed under his feet: the first of them begins anew. */
static void restart(Images *i, LayerWaiter *list) {
        LayerWaiter *x, *next;
        LayerWork *w = work_new(i, list->want.chain);
        StoreLayer want = list->want;
        Error error = { 0 };
        int r = w ? 0 : -ENOMEM;

        if (w) {
                want.diff_id = strdup(list->want.diff_id);
                want.digest = strdup(list->want.digest);
                want.media_type = list->want.media_type ? strdup(list->want.media_type) : NULL;
                r = want.diff_id && want.digest ? begin_unpack(w, &want, &error) : -ENOMEM;
        }
        DL_FOREACH_SAFE(list, x, next) {
                DL_DELETE(list, x);
                x->work = w;
                if (w)
                        DL_APPEND(w->waiters, x);
                else
                        x->done(&(Error) { -ENOMEM, "out of memory" }, x->userdata);
        }
        if (w && r < 0)
                work_fail(w, r, &error);
}

static LayerWaiter *waiter_new(Making *k, const LayerWant *want, LayerDone done, void *userdata) {
        LayerWaiter *x = calloc(1, sizeof(*x));

        if (!x)
                return NULL;
        *x = (LayerWaiter) { .making = k, .done = done, .userdata = userdata };
        (void) snprintf(x->want.chain, sizeof(x->want.chain), "%s", want->chain);
        (void) snprintf(x->want.parent, sizeof(x->want.parent), "%s", want->parent);
        x->want.blob_bytes = want->blob_bytes;
        x->want.diff_id = strdup(want->diff_id);
        x->want.digest = strdup(want->digest);
        x->want.media_type = want->media_type ? strdup(want->media_type) : NULL;
        if (x->want.diff_id && x->want.digest)
                return x;
        layers_waiter_free(x);
        return NULL;
}

int layer_want(Images *i, Making *k, const LayerWant *want, LayerDone done, void *userdata, LayerWaiter **ret, Error *reterr) {
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
                making_log(k, "layer %.12s: waits for the one who is at it", want->digest + strlen(DIGEST_PREFIX));
                return 0;
        }
        DL_APPEND(list, x);
        restart(i, list);
        return 0;
}

/* Its RUN ends by itself then, and its scratch goes. */
void layer_waiter_cancel(LayerWaiter *x) {
        LayerWork *w = x->work;

        if (w) {
                DL_DELETE(w->waiters, x);
                if (!w->waiters && !w->removing && w->call && !w->cancelled) {
                        w->cancelled = true;
                        tree_call_cancel(w->call);
                }
        }
        layers_waiter_free(x);
}

/* Removing. */

static void layers_on_removed(const TreeAnswer *answer, const Error *error, void *userdata) {
        LayerWork *w = userdata;
        Images *i = w->images;
        LayerWaiter *x, *next, *again = NULL;

        w->call = NULL;
        if (!error)
                images_layer_drop(i, w->chain); /* else it stays marked, and the next gc asks again */
        DL_FOREACH_SAFE(w->waiters, x, next)
                if (x->making) {
                        DL_DELETE(w->waiters, x);
                        DL_APPEND(again, x);
                }
        layers_work_end(w, error);
        if (again)
                restart(i, again);
}

int layer_remove(Images *i, const char *chain, LayerDone done, void *userdata, Error *reterr) {
        TreeRef ref = tree_ref(TREE_LAYER, chain);
        LayerWaiter *x = calloc(1, sizeof(*x));
        LayerWork *w;
        int r = -ENOMEM;

        HASH_FIND_STR(i->works, chain, w);
        if (w) {
                free(x);
                return error_set(reterr, -EBUSY, "layer %.12s is being worked on", chain);
        }
        w = x ? work_new(i, chain) : NULL;
        if (w) {
                *x = (LayerWaiter) { .work = w, .done = done, .userdata = userdata };
                w->removing = true;
                DL_APPEND(w->waiters, x);
                r = trees_remove(i->manager, &ref, layers_on_removed, w, &w->call, reterr);
        } else
                (void) error_set(reterr, r, "out of memory");
        if (r >= 0)
                return 0;
        free(x);
        if (w) {
                w->waiters = NULL;
                work_free(w);
        }
        return r;
}
