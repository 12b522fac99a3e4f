/* ingest.c: turns an image from a registry or an archive into layers and a row.
 *
 *      ready      rows and trees agree (reconcile.c)
 *      fetch      cove-registry: blobs, manifest, configuration
 *      layers     each from the bottom up (layers.c)
 *      inspect    looks the image's user up
 *      register   image and name in one transaction
 *
 * If it ends early, finished blobs, and finished layers with their rows, are kept. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "image/ingest.h"

typedef struct Ingest {
        MakingWork work;
        bool takes_name; /* only if the name is free */
        char *reference, *name, *platform, *auth;
        char *blobs; /* directory for the blobs */
        int in_fd;
        Spool *spool; /* owner of in_fd, until everything is in blobs */
        ImageChild *child;
        LayerWaiter *waiter;
        json_t *result;
        Error refused; /* why fetching was stopped; code 0: not stopped */
        size_t next;   /* layer */
        char parent[DIGEST_HEX + 1], chain[DIGEST_HEX + 1];
        Image image;
        ImageDone done; /* NULL: the making ends with it */
        void *userdata;
} Ingest;

static void ingest_free(void *work) {
        Ingest *g = work;

        making_work_done(&g->work);
        image_child_free(g->child);
        if (g->waiter)
                layer_waiter_cancel(g->waiter);
        json_decref(g->result);
        image_done(&g->image);
        (void) fd_close(g->in_fd);
        (void) spool_unref(g->spool);
        if (g->auth)
                explicit_bzero(g->auth, strlen(g->auth));
        FREE_ALL(g->reference, g->name, g->platform, g->blobs, g->auth, g);
}

static json_t *layer_at(const Ingest *g, size_t n) {
        return json_array_get(json_object_get(g->result, "layers"), n);
}

static const char *layer_text(const json_t *layer, const char *key) {
        return json_string_value(json_object_get(layer, key));
}

static void ingest_end(void *work, const Error *error) {
        Ingest *g = work;
        const Image *image = error ? NULL : &images_entry(g->work.images, layer_text(g->result, "manifestDigest"))->image;

        making_work_done(&g->work);
        if (g->done)
                g->done(image, error, g->userdata);
        else
                making_end(g->work.making, image, error);
        ingest_free(g);
}

/* The end. */

/* If the name was to be taken only if free, and is taken by now, the image gets no name. gc then removes it
 * after the making that needed it. */
static int ingest_register(void *work, Error *reterr) {
        Ingest *g = work;
        Images *i = g->work.images;
        const char *tenant = g->work.making->row.tenant, *name = g->name;

        ledger_release(&g->work.making->fetched); /* counted with all blobs from here on */
        blobs_charge(i, tenant);
        if (name && g->takes_name && images_find(i, tenant, name))
                name = NULL;
        return images_put(i, tenant, name, &g->image, reterr);
}

/* The user as found in the image's own /etc/passwd. */
static int ingest_take_user(const char *text, ImageConfig *c, Error *reterr) {
        _cleanup_json_ json_t *j = json_loads(text, 0, NULL);
        const json_t *inner = json_object_get(j, "result"), *result = inner ? inner : j, *uid = json_object_get(result, "uid"),
                     *gid = json_object_get(result, "gid");
        const char *home = json_string_value(json_object_get(result, "home"));

        if (!json_is_integer(uid) || !json_is_integer(gid))
                return error_set(reterr, -EBADMSG, "cannot determine the image's user");
        c->uid = (uint32_t) json_integer_value(uid);
        c->gid = (uint32_t) json_integer_value(gid);
        free(c->home);
        c->home = home && *home ? strdup(home) : NULL;
        return 0;
}

static void ingest_on_inspected(const char *result, const Error *error, void *userdata) {
        Ingest *g = userdata;
        Error why = { 0 };

        g->work.call = NULL;
        if (!error && ingest_take_user(result, &g->image.config, &why) < 0)
                error = &why;
        sequence_heard(&g->work.run, error);
}

static int ingest_inspect(void *work, Error *reterr) {
        static const TreeRunEvents events = { .done = ingest_on_inspected };
        Ingest *g = work;
        const char *user = g->image.config.user;
        const char *const arguments[] = { "inspect", "--user", user && *user ? user : "0", NULL };
        TreeRef layer = tree_ref(TREE_LAYER, g->parent);

        memcpy(g->image.layer, g->parent, sizeof(g->parent));
        g->image.layers = json_dumps(json_object_get(g->result, "layers"), JSON_COMPACT);
        if (!g->image.layers)
                return -ENOMEM;
        making_progress(g->work.making, "looking at it", 0, 0);
        return making_work_waits(trees_run(g->work.images->manager, &layer, 1, arguments, /* in_fd= */ -EBADF, /* out_fd= */ -EBADF, &events, g, &g->work.call,
                        reterr));
}

/* Layers. */

static void ingest_on_layer(const Error *error, void *userdata) {
        Ingest *g = userdata;
        const LayerEntry *l;

        g->waiter = NULL;
        if (error) {
                sequence_heard(&g->work.run, error);
                return;
        }
        l = images_layer(g->work.images, g->chain);
        g->image.bytes += l ? l->row.bytes : 0;
        (void) json_object_set_new(layer_at(g, g->next), "chain", json_string(g->chain));
        memcpy(g->parent, g->chain, sizeof(g->parent));
        g->next++;
        sequence_heard_again(&g->work.run);
}

static void ingest_leave_layer(void *work) {
        static const Error left = { -ECANCELED, "cancelled" };
        Ingest *g = work;

        layer_waiter_cancel(TAKE_PTR(g->waiter));
        sequence_heard(&g->work.run, &left);
}

static int ingest_layer(void *work, Error *reterr) {
        Ingest *g = work;
        const json_t *layer = layer_at(g, g->next);
        size_t n = json_array_size(json_object_get(g->result, "layers"));
        StoreLayer want = {
                .digest = (char *) layer_text(layer, "digest"),
                .diff_id = (char *) layer_text(layer, "diffId"),
                .media_type = (char *) layer_text(layer, "mediaType"),
                .blob_bytes = (uint64_t) json_integer_value(json_object_get(layer, "size")),
        };
        char stage[64];

        if (g->next >= n)
                return STEP_DONE;
        if (g->image.bytes > images_config(g->work.images)->image_bytes_max)
                return error_set(reterr, -EFBIG, "the image has more than %llu bytes unpacked (images.maxSize)",
                                (unsigned long long) images_config(g->work.images)->image_bytes_max);
        chain_id(g->parent, want.diff_id, g->chain);
        memcpy(want.parent, g->parent, sizeof(g->parent));
        memcpy(want.chain, g->chain, sizeof(g->chain));
        (void) snprintf(stage, sizeof(stage), "unpacking layer %zu of %zu", g->next + 1, n);
        making_progress(g->work.making, stage, 0, 0);
        return making_work_waits(layer_want(g->work.images, g->work.making, &want, ingest_on_layer, g, &g->waiter, reterr));
}

/* Fetching. */

static int check_result(Ingest *g, Error *reterr) {
        const json_t *layers = json_object_get(g->result, "layers"), *layer;
        const char *manifest = layer_text(g->result, "manifestDigest"), *config = layer_text(g->result, "configDigest");
        size_t k;

        if (!manifest || !image_digest_is_valid(manifest))
                return error_set(reterr, -EBADMSG, "the registry program gave no result");
        if (json_array_size(layers) == 0)
                return error_set(reterr, -EBADMSG, "the image has no layers: there is nothing to start from");
        if (json_array_size(layers) > IMAGE_LAYERS_MAX)
                return error_set(reterr, -E2BIG, "the image has %zu layers; the maximum is %d", json_array_size(layers), IMAGE_LAYERS_MAX);
        json_array_foreach(layers, k, layer) {
                const char *digest = layer_text(layer, "digest"), *diff_id = layer_text(layer, "diffId");

                if (!digest || !diff_id || !image_digest_is_valid(digest) || !image_digest_is_valid(diff_id))
                        return error_set(reterr, -EBADMSG, "layer %zu of the image has no digest to verify", k + 1);
        }
        (void) snprintf(g->image.digest, sizeof(g->image.digest), "%s", manifest);
        g->image.config_digest = config ? strdup(config) : NULL;
        return image_config_read(json_object_get(g->result, "config"), &g->image.config, reterr);
}

static int adopt_blobs(Ingest *g, Error *reterr) {
        const char *tenant = g->work.making->row.tenant;
        const json_t *layer;
        size_t k;
        int r = blob_adopt(g->work.images, tenant, g->image.digest, reterr);

        if (r >= 0 && g->image.config_digest)
                r = blob_adopt(g->work.images, tenant, g->image.config_digest, reterr);
        json_array_foreach(json_object_get(g->result, "layers"), k, layer)
                if (r >= 0)
                        r = blob_adopt(g->work.images, tenant, layer_text(layer, "digest"), reterr);
        return r;
}

static void ingest_on_progress(Ingest *g, uint64_t bytes, uint64_t total) {
        Making *k = g->work.making;

        making_progress(k, "fetching", bytes, total);
        if (g->refused.code < 0 || ledger_reserve(g->work.images->manager, &k->fetched, k->row.tenant, LEDGER_TEMPLATE, bytes, &g->refused) >= 0)
                return;
        image_child_stop(g->child);
}

static void ingest_on_line(const char *line, void *userdata) {
        Ingest *g = userdata;
        json_t *j = json_loads(line, 0, NULL);
        const json_t *p = json_object_get(j, "progress"), *result = json_object_get(j, "result");

        if (json_is_object(p))
                ingest_on_progress(g, (uint64_t) json_integer_value(json_object_get(p, "bytes")), (uint64_t) json_integer_value(json_object_get(p, "total")));
        else if (json_is_object(result)) {
                json_decref(g->result);
                g->result = json_incref((json_t *) result);
        } else if (json_is_string(json_object_get(j, "log")))
                making_log(g->work.making, "%s", json_string_value(json_object_get(j, "log")));
        json_decref(j);
}

static int ingest_take_result(Ingest *g, Error *reterr) {
        char size[IMAGE_SIZE_TEXT];
        int r = check_result(g, reterr);
        size_t n;

        if (r >= 0)
                r = adopt_blobs(g, reterr);
        if (r < 0)
                return r;
        n = json_array_size(json_object_get(g->result, "layers"));
        making_log(g->work.making, "%s: %zu layer%s, %s", g->image.digest, n, n == 1 ? "" : "s",
                        image_size_text((uint64_t) json_integer_value(json_object_get(g->result, "size")), size));
        return 0;
}

static void ingest_on_fetched(const Error *error, void *userdata) {
        Ingest *g = userdata;
        Error why = { 0 };

        g->child = NULL;
        g->in_fd = fd_close(g->in_fd);
        g->spool = spool_unref(g->spool);
        if (g->refused.code < 0) {
                blobs_drop_parts(g->work.images, g->work.making);
                error = &g->refused;
        }
        if (!error && ingest_take_result(g, &why) < 0)
                error = &why;
        sequence_heard(&g->work.run, error);
}

static void ingest_stop_fetching(void *work) {
        image_child_stop(((Ingest *) work)->child);
}

static bool is_insecure(const Images *i, const char *reference) {
        const Strv *list = &images_config(i)->insecure;
        char host[300];

        reference_host(reference, host, sizeof(host));
        for (size_t k = 0; k < list->n; k++)
                if (strcmp(list->items[k], host) == 0)
                        return true;
        return false;
}

/* A tenant must not reach services of this machine, unless the operator has listed the registry as
 * insecure. */
size_t registry_arguments(Images *i, const char *tenant, const char *blobs, const char *reference, const char **ret) {
        size_t n = 0;

        ret[n++] = "--blobs";
        ret[n++] = blobs;
        if (reference && is_insecure(i, reference))
                ret[n++] = "--insecure";
        else if (reference && tenant && *tenant)
                ret[n++] = "--outside";
        if (reference && images_config(i)->ca_file) {
                ret[n++] = "--ca";
                ret[n++] = images_config(i)->ca_file;
        }
        return n;
}

static int ingest_fetch(void *work, Error *reterr) {
        static const ImageChildEvents events = { ingest_on_line, ingest_on_fetched };
        Ingest *g = work;
        Images *i = g->work.images;
        Making *k = g->work.making;
        const char *arguments[24] = { "cove-registry" };
        char limit[24], stall[24];
        size_t n = 1;
        int r = blobs_of_tenant(i, k->row.tenant, &g->blobs, reterr);

        if (r < 0)
                return r;
        making_log(k, "%s %s", g->reference ? "pulling" : "importing", g->reference ? g->reference : g->name ? g->name : "an archive");
        making_progress(k, "fetching", 0, 0);
        (void) snprintf(limit, sizeof(limit), "%llu", (unsigned long long) images_config(i)->image_bytes_max);
        (void) snprintf(stall, sizeof(stall), "%llu", (unsigned long long) (images_config(i)->stall_usec / USEC_PER_SEC));
        if (g->reference) {
                arguments[n++] = "pull";
                arguments[n++] = g->reference;
                arguments[n++] = "--max-bytes";
                arguments[n++] = limit;
                arguments[n++] = "--stall";
                arguments[n++] = stall;
                if (g->platform) {
                        arguments[n++] = "--platform";
                        arguments[n++] = g->platform;
                }
        } else
                arguments[n++] = "import";
        (void) registry_arguments(i, k->row.tenant, g->blobs, g->reference, arguments + n);
        return making_work_waits(image_child_start(i, arguments, g->auth, g->in_fd, &events, g, &g->child, reterr));
}

static const SequenceStep ingest_steps[] = {
        { "ready", images_when_ready },
        { "fetch", ingest_fetch, .cancel = ingest_stop_fetching },
        { "layers", ingest_layer, .cancel = ingest_leave_layer },
        { "inspect", ingest_inspect, .cancel = making_work_cancel_run },
        { "register", ingest_register },
};
/* Deferred, so that the caller has its making before the first callback. */
static const Sequence ingest = SEQUENCE("ingest", ingest_steps, ingest_end, .defer = making_work_defer);

static char *ingest_copy(const char *text) {
        return text ? strdup(text) : NULL;
}

int ingest_start(Images *i, Making *k, const IngestRequest *request, ImageDone done, void *userdata, Error *reterr) {
        Ingest *g = calloc(1, sizeof(*g));
        int r;

        if (!g)
                return error_set(reterr, -ENOMEM, "out of memory");
        *g = (Ingest) {
                .work = { .images = i, .making = k, .release = ingest_free, .cancelled = "cancelled; finished layers are kept" },
                .takes_name = request->only_free_name,
                .reference = ingest_copy(request->reference),
                .name = ingest_copy(request->name),
                .platform = ingest_copy(request->platform),
                .auth = ingest_copy(request->auth),
                .in_fd = request->in_fd >= 0 ? fcntl(request->in_fd, F_DUPFD_CLOEXEC, 3) : -EBADF,
                .spool = spool_ref(request->spool),
                .image.source = ingest_copy(request->source),
                .done = done,
                .userdata = userdata,
        };
        r = making_work_start(&g->work, &ingest, reterr);
        if (r < 0)
                ingest_free(g);
        return r < 0 ? r : 0;
}
