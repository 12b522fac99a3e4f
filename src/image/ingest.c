/* ingest.c: an image from a registry or an archive becomes layers and a row.
 *
 *      rows and trees agree (reconcile.c) · cove-registry: blobs, manifest, configuration · each layer from the bottom up (layers.c) ·
 *      who its user is (inspect) · image and name in one transaction
 *
 * What was finished when it ends early stays: blobs, and layers with their rows. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "image/ingest.h"

#define LAYERS_MAX 512

typedef struct Ingest {
        Images *images;
        Making *making;
        bool owns_making; /* whose end is its end */
        bool takes_name;  /* only where it is free */
        char *reference, *name, *platform, *auth;
        char *blobs; /* where they come to */
        int in_fd;
        ImageChild *child;
        LayerWaiter *waiter;
        ImageInspection inspection;
        sd_event_source *defer;
        json_t *result;
        size_t next; /* layer */
        char parent[DIGEST_HEX + 1], chain[DIGEST_HEX + 1];
        bool wanting, again; /* in layer_want(), which has answered from within */
        Image image;
        ImageDone done;
        void *userdata;
} Ingest;

static void ingest_free(Ingest *g) {
        image_child_free(g->child);
        if (g->waiter)
                layer_waiter_cancel(g->waiter);
        tree_call_forget(g->inspection.call);
        sd_event_source_disable_unref(g->defer);
        json_decref(g->result);
        image_done(&g->image);
        (void) fd_close(g->in_fd);
        if (g->auth)
                explicit_bzero(g->auth, strlen(g->auth));
        free(g->reference);
        free(g->name);
        free(g->platform);
        free(g->blobs);
        free(g->auth);
        free(g);
}

static void ingest_release(void *work) {
        ingest_free(work);
}

static void ingest_finish(Ingest *g, const Image *image, const Error *error) {
        Making *k = g->making;
        Error cancelled = { -ECANCELED, "it was cancelled; finished layers are kept" };

        if (error && making_is_cancelled(k))
                error = &cancelled;
        making_set_work(k, NULL, NULL);
        if (g->owns_making)
                making_end(k, image, error);
        else
                g->done(image, error, g->userdata);
        ingest_free(g);
}

static void ingest_fail(Ingest *g, int r, const Error *why) {
        Error error = *why;

        if (error.code == 0)
                (void) error_set(&error, r, "%s", strerror(-r));
        ingest_finish(g, NULL, &error);
}

static void ingest_cancel(void *work) {
        Ingest *g = work;
        Error error = { -ECANCELED, "cancelled" };

        if (g->child)
                image_child_stop(g->child);
        else if (g->waiter) {
                layer_waiter_cancel(TAKE_PTR(g->waiter));
                ingest_finish(g, NULL, &error);
        } else if (g->inspection.call)
                tree_call_cancel(g->inspection.call);
}

static const MakingOps ingest_work = { ingest_cancel, ingest_release };

static bool is_cancelled(Ingest *g) {
        Error error = { -ECANCELED, "cancelled" };

        if (!making_is_cancelled(g->making))
                return false;
        ingest_finish(g, NULL, &error);
        return true;
}

/* The end. */

/* Where the name is somebody else's by now, it is an image without one, and goes with the gc after the making that wanted it. */
static void put_image(Ingest *g) {
        Images *i = g->images;
        const char *tenant = g->making->row.tenant, *name = g->name;
        char digest[sizeof(g->image.digest)];
        Error error = { 0 };
        int r;

        if (name && g->takes_name && images_find(i, tenant, name))
                name = NULL;
        memcpy(digest, g->image.digest, sizeof(digest));
        r = images_put(i, tenant, name, &g->image, &error);
        if (r < 0)
                ingest_fail(g, r, &error);
        else
                ingest_finish(g, &images_entry(i, digest)->image, NULL);
}

static void ingest_on_inspected(const Error *error, void *userdata) {
        Ingest *g = userdata;

        if (error)
                ingest_fail(g, error->code, error);
        else if (!is_cancelled(g))
                put_image(g);
}

static void ingest_inspect(Ingest *g) {
        Error error = { 0 };
        int r;

        memcpy(g->image.layer, g->parent, sizeof(g->parent));
        g->image.layers = json_dumps(json_object_get(g->result, "layers"), JSON_COMPACT);
        if (!g->image.layers) {
                ingest_fail(g, -ENOMEM, &error);
                return;
        }
        g->inspection = (ImageInspection) { .image = &g->image, .done = ingest_on_inspected, .userdata = g };
        r = image_inspect(g->images, g->making, &g->inspection, &error);
        if (r < 0)
                ingest_fail(g, r, &error);
}

/* Layers. */

static json_t *layer_at(const Ingest *g, size_t n) {
        return json_array_get(json_object_get(g->result, "layers"), n);
}

static const char *layer_text(const json_t *layer, const char *key) {
        return json_string_value(json_object_get(layer, key));
}

static void ingest_next_layer(Ingest *g);

static void ingest_on_layer(const Error *error, void *userdata) {
        Ingest *g = userdata;
        const LayerEntry *l;

        g->waiter = NULL;
        if (error) {
                ingest_fail(g, error->code, error);
                return;
        }
        l = images_layer(g->images, g->chain);
        g->image.bytes += l ? l->row.bytes : 0;
        (void) json_object_set_new(layer_at(g, g->next), "chain", json_string(g->chain));
        memcpy(g->parent, g->chain, sizeof(g->parent));
        g->next++;
        if (g->wanting)
                g->again = true;
        else
                ingest_next_layer(g);
}

static int want_layer(Ingest *g, Error *reterr) {
        const json_t *layer = layer_at(g, g->next);
        size_t n = json_array_size(json_object_get(g->result, "layers"));
        const LayerWant want = {
                .parent = g->parent,
                .chain = g->chain,
                .digest = layer_text(layer, "digest"),
                .diff_id = layer_text(layer, "diffId"),
                .media_type = layer_text(layer, "mediaType"),
                .blob_bytes = (uint64_t) json_integer_value(json_object_get(layer, "size")),
        };
        char stage[64];

        if (g->image.bytes > images_config(g->images)->image_bytes_max)
                return error_set(reterr, -EFBIG, "the image has more than %llu bytes unpacked (images.maxSize)",
                                (unsigned long long) images_config(g->images)->image_bytes_max);
        chain_id(g->parent, want.diff_id, g->chain);
        (void) snprintf(stage, sizeof(stage), "unpacking layer %zu of %zu", g->next + 1, n);
        making_progress(g->making, stage, 0, 0);
        return layer_want(g->images, g->making, &want, ingest_on_layer, g, &g->waiter, reterr);
}

/* Those that are there answer from within, so it is a loop and not a recursion. */
static void ingest_next_layer(Ingest *g) {
        Error error = { 0 };
        int r;

        do {
                if (is_cancelled(g))
                        return;
                if (g->next >= json_array_size(json_object_get(g->result, "layers"))) {
                        ingest_inspect(g);
                        return;
                }
                g->wanting = true;
                g->again = false;
                r = want_layer(g, &error);
                g->wanting = false;
        } while (r >= 0 && g->again);
        if (r < 0)
                ingest_fail(g, r, &error);
}

/* Fetching. */

static int check_result(Ingest *g, Error *reterr) {
        const json_t *layers = json_object_get(g->result, "layers"), *layer;
        const char *manifest = layer_text(g->result, "manifestDigest"), *config = layer_text(g->result, "configDigest");
        size_t k;

        if (!manifest || !image_digest_is_valid(manifest))
                return error_set(reterr, -EBADMSG, "the registry program has not told what it got");
        if (json_array_size(layers) == 0)
                return error_set(reterr, -EBADMSG, "the image has no layers: there is nothing to start from");
        if (json_array_size(layers) > LAYERS_MAX)
                return error_set(reterr, -E2BIG, "the image has %zu layers, at most %d can be", json_array_size(layers), LAYERS_MAX);
        json_array_foreach(layers, k, layer) {
                const char *digest = layer_text(layer, "digest"), *diff_id = layer_text(layer, "diffId");

                if (!digest || !diff_id || !image_digest_is_valid(digest) || !image_digest_is_valid(diff_id))
                        return error_set(reterr, -EBADMSG, "layer %zu of the image has no digest that could be checked", k + 1);
        }
        (void) snprintf(g->image.digest, sizeof(g->image.digest), "%s", manifest);
        g->image.config_digest = config ? strdup(config) : NULL;
        return image_config_read(json_object_get(g->result, "config"), &g->image.config, reterr);
}

static int adopt_blobs(Ingest *g, Error *reterr) {
        const char *tenant = g->making->row.tenant;
        const json_t *layer;
        size_t k;
        int r = blob_adopt(g->images, tenant, g->image.digest, reterr);

        if (r >= 0 && g->image.config_digest)
                r = blob_adopt(g->images, tenant, g->image.config_digest, reterr);
        json_array_foreach(json_object_get(g->result, "layers"), k, layer)
                if (r >= 0)
                        r = blob_adopt(g->images, tenant, layer_text(layer, "digest"), reterr);
        return r;
}

static void ingest_on_line(const char *line, void *userdata) {
        Ingest *g = userdata;
        json_t *j = json_loads(line, 0, NULL);
        const json_t *p = json_object_get(j, "progress"), *result = json_object_get(j, "result");

        if (json_is_object(p))
                making_progress(g->making, "fetching", (uint64_t) json_integer_value(json_object_get(p, "bytes")),
                                (uint64_t) json_integer_value(json_object_get(p, "total")));
        else if (json_is_object(result)) {
                json_decref(g->result);
                g->result = json_incref((json_t *) result);
        } else if (json_is_string(json_object_get(j, "log")))
                making_log(g->making, "%s", json_string_value(json_object_get(j, "log")));
        json_decref(j);
}

static void ingest_on_fetched(const Error *error, void *userdata) {
        Ingest *g = userdata;
        char size[IMAGE_SIZE_TEXT];
        size_t n;
        Error why = { 0 };
        int r;

        g->child = NULL;
        if (error) {
                ingest_fail(g, error->code, error);
                return;
        }
        r = check_result(g, &why);
        if (r >= 0)
                r = adopt_blobs(g, &why);
        if (r < 0) {
                ingest_fail(g, r, &why);
                return;
        }
        n = json_array_size(json_object_get(g->result, "layers"));
        making_log(g->making, "%s: %zu layer%s, %s", g->image.digest, n, n == 1 ? "" : "s",
                        image_size_text((uint64_t) json_integer_value(json_object_get(g->result, "size")), size));
        ingest_next_layer(g);
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

/* A tenant has no business with services of this machine, unless the operator has named the registry. */
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

static int fetch(Ingest *g, Error *reterr) {
        static const ImageChildEvents events = { ingest_on_line, ingest_on_fetched };
        const char *arguments[24] = { "cove-registry" };
        char limit[24], stall[24];
        size_t n = 1;
        int r = blobs_of_tenant(g->images, g->making->row.tenant, &g->blobs, reterr);

        if (r < 0)
                return r;
        (void) snprintf(limit, sizeof(limit), "%llu", (unsigned long long) images_config(g->images)->image_bytes_max);
        (void) snprintf(stall, sizeof(stall), "%llu", (unsigned long long) (images_config(g->images)->stall_usec / USEC_PER_SEC));
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
        (void) registry_arguments(g->images, g->making->row.tenant, g->blobs, g->reference, arguments + n);
        return image_child_start(g->images, arguments, g->auth, g->in_fd, &events, g, &g->child, reterr);
}

static void ingest_on_ready(Making *k, const Error *error, void *userdata) {
        Ingest *g = userdata;
        Error why = { 0 };
        int r;

        if (error) {
                ingest_fail(g, error->code, error);
                return;
        }
        if (is_cancelled(g))
                return;
        making_log(k, "%s %s", g->reference ? "pulling" : "importing", g->reference ? g->reference : g->name ? g->name : "an archive");
        making_progress(k, "fetching", 0, 0);
        r = fetch(g, &why);
        if (r < 0)
                ingest_fail(g, r, &why);
}

/* Beginning. Not from within the call that asks, so that whoever asked has its making before anything is told. */

static int ingest_on_defer(sd_event_source *source, void *userdata) {
        Ingest *g = userdata;

        g->defer = sd_event_source_disable_unref(g->defer);
        images_when_ready(g->images, g->making, ingest_on_ready, g);
        return 0;
}

static char *ingest_copy(const char *text) {
        return text ? strdup(text) : NULL;
}

int ingest_start(Images *i, Making *k, const IngestRequest *request, ImageDone done, void *userdata, Error *reterr) {
        Ingest *g = calloc(1, sizeof(*g));
        int r = -ENOMEM;

        if (g) {
                *g = (Ingest) {
                        .images = i,
                        .making = k,
                        .owns_making = !done,
                        .takes_name = request->only_free_name,
                        .reference = ingest_copy(request->reference),
                        .name = ingest_copy(request->name),
                        .platform = ingest_copy(request->platform),
                        .auth = ingest_copy(request->auth),
                        .in_fd = request->in_fd >= 0 ? fcntl(request->in_fd, F_DUPFD_CLOEXEC, 3) : -EBADF,
                        .done = done,
                        .userdata = userdata,
                };
                g->image.source = ingest_copy(request->source);
                r = sd_event_add_defer(i->manager->event, &g->defer, ingest_on_defer, g);
        }
        if (r < 0) {
                if (g)
                        ingest_free(g);
                return error_set(reterr, r, "cannot begin: %s", strerror(-r));
        }
        making_set_work(k, &ingest_work, g);
        return 0;
}
