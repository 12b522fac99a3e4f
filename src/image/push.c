/* push.c: pushes a template to a registry.
 *
 * Layers with a blob are sent unchanged. Layers that were made here, or whose blob was removed, are packed
 * first (cove-tree pack: the differences from the parent). If all blobs are the original ones, the original
 * manifest is sent; else cove-registry describes the image anew. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/secret.h"
#include "image/ingest.h"

#define MEDIA_TYPE "application/vnd.oci.image.layer.v1.tar+gzip"

typedef struct ImagePush {
        MakingWork work;
        char *reference, *auth;
        char digest[DIGEST_LENGTH + 1];          /* of the image */
        char manifest[DIGEST_LENGTH + 1];        /* the one to push; "": not known yet */
        char chains[IMAGE_LAYERS_MAX][DIGEST_HEX + 1]; /* from the bottom up */
        size_t n, next;
        bool packed; /* at least one layer was packed: the original manifest does not fit */
        char temporary[48]; /* name of the blob being packed, or of the configuration */
        ImageChild *child;
} ImagePush;

static int push_remove_temporary(void *work, Error *why) {
        ImagePush *p = work;

        if (*p->temporary)
                (void) unlinkat(p->work.images->blobs_fd, p->temporary, 0);
        p->temporary[0] = '\0';
        return STEP_DONE;
}

static int push_make_temporary(ImagePush *p, const char *prefix, int flags) {
        int fd;

        (void) snprintf(p->temporary, sizeof(p->temporary), "%s", prefix);
        secret_random_hex(p->temporary + strlen(prefix), 24);
        fd = openat(p->work.images->blobs_fd, p->temporary, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : fd;
}

static void push_free(void *work) {
        ImagePush *p = work;

        making_work_done(&p->work);
        (void) push_remove_temporary(p, /* why= */ NULL);
        image_child_free(p->child);
        if (p->auth)
                explicit_bzero(p->auth, strlen(p->auth));
        FREE_ALL(p->auth, p->reference, p);
}

static void push_end(void *work, const Error *error) {
        ImagePush *p = work;
        const ImageEntry *e = error ? NULL : images_entry(p->work.images, p->digest);

        if (!error)
                making_log(p->work.making, "pushed %s as %s", p->manifest, p->reference);
        making_end(p->work.making, e ? &e->image : NULL, error);
        push_free(p);
}

static void push_stop_child(void *work) {
        image_child_stop(((ImagePush *) work)->child);
}

/* Sending. */

static void on_push_line(const char *line, void *userdata) {
        ImagePush *p = userdata;
        _cleanup_json_ json_t *j = json_loads(line, 0, NULL);
        const json_t *progress = json_object_get(j, "progress");

        if (progress)
                making_progress(p->work.making, "pushing", (uint64_t) json_integer_value(json_object_get(progress, "bytes")),
                                (uint64_t) json_integer_value(json_object_get(progress, "total")));
}

static void push_on_sent(const Error *error, void *userdata) {
        ImagePush *p = userdata;

        p->child = NULL;
        sequence_heard(&p->work.run, error);
}

static int push_send(void *work, Error *reterr) {
        static const ImageChildEvents events = { on_push_line, push_on_sent };
        ImagePush *p = work;
        Images *i = p->work.images;
        const char *arguments[16] = { "cove-registry", "push", p->reference, "--manifest", p->manifest };

        (void) registry_arguments(i, p->work.making->row.tenant, i->blobs_path, p->reference, arguments + 5);
        making_log(p->work.making, "pushing %s to %s", p->manifest, p->reference);
        return making_work_waits(image_child_start(i, arguments, p->auth, /* in_fd= */ -EBADF, &events, p, &p->child, reterr));
}

/* Describing. */

static void on_described_line(const char *line, void *userdata) {
        ImagePush *p = userdata;
        _cleanup_json_ json_t *j = json_loads(line, 0, NULL);
        const char *digest = json_string_value(json_object_get(json_object_get(j, "result"), "manifestDigest"));

        if (digest && image_digest_is_valid(digest))
                (void) snprintf(p->manifest, sizeof(p->manifest), "%s", digest);
}

static void push_on_described(const Error *error, void *userdata) {
        static const Error silent = { -EPROTO, "the registry program gave no result" };
        ImagePush *p = userdata;

        p->child = NULL;
        (void) push_remove_temporary(p, /* why= */ NULL);
        sequence_heard(&p->work.run, error ? error : *p->manifest ? NULL : &silent);
}

static int push_write_config(ImagePush *p, const Image *image) {
        _cleanup_json_ json_t *j = json_pack("{s:o}", "config", image_config_write(&image->config));
        _cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
        _cleanup_close_ int fd = text ? push_make_temporary(p, "config-", O_WRONLY) : -ENOMEM;

        return fd < 0 ? fd : fd_write_all(fd, text, strlen(text));
}

static bool push_has_blob(ImagePush *p, const char *digest) {
        _cleanup_close_ int fd = digest && *digest ? blob_open(p->work.images, digest) : -ENOENT;

        return fd >= 0;
}

static int push_missing_layer(const ImagePush *p, size_t n, Error *reterr) {
        return error_set(reterr, -ENOENT, "layer %.12s was removed meanwhile", p->chains[n]);
}

static int push_describe(void *work, Error *reterr) {
        static const ImageChildEvents events = { on_described_line, push_on_described };
        ImagePush *p = work;
        Images *i = p->work.images;
        const ImageEntry *e = images_entry(i, p->digest);
        _cleanup_(strv_done) Strv list = STRV_INIT(2 * IMAGE_LAYERS_MAX + 16);
        char path[4200], text[300];
        int r;

        if (!p->packed && e && e->image.config_digest && push_has_blob(p, e->image.digest) && push_has_blob(p, e->image.config_digest)) {
                memcpy(p->manifest, p->digest, sizeof(p->manifest)); /* the original one */
                return STEP_DONE;
        }
        r = e ? push_write_config(p, &e->image) : -ENOENT;
        (void) snprintf(path, sizeof(path), "%s/%s", i->blobs_path, p->temporary);
        const char *const begin[] = { "cove-registry", "describe", "--blobs", i->blobs_path, "--config", path };
        for (size_t n = 0; n < ELEMENTSOF(begin) && r >= 0; n++)
                r = strv_push(&list, begin[n]);
        for (size_t n = 0; n < p->n && r >= 0; n++) {
                const LayerEntry *l = images_layer(i, p->chains[n]);

                if (!l)
                        return push_missing_layer(p, n, reterr);
                (void) snprintf(text, sizeof(text), "%s:%s:%llu:%s", l->row.digest, l->row.diff_id, (unsigned long long) l->row.blob_bytes,
                                l->row.media_type ? l->row.media_type : MEDIA_TYPE);
                r = strv_push(&list, "--layer");
                if (r >= 0)
                        r = strv_push(&list, text);
        }
        if (r < 0)
                return error_set(reterr, r, "the image cannot be described: %s", strerror(-r));
        return making_work_waits(image_child_start(i, (const char *const *) list.items, /* auth= */ NULL, /* in_fd= */ -EBADF, &events, p, &p->child, reterr));
}

/* Packing. */

static int take_packed(ImagePush *p, const char *result) {
        _cleanup_json_ json_t *j = json_loads(result, 0, NULL);
        const json_t *inner = json_object_get(j, "result"), *x = inner ? inner : j;
        const char *digest = json_string_value(json_object_get(x, "digest")), *diff_id = json_string_value(json_object_get(x, "diffId"));
        const LayerEntry *l = images_layer(p->work.images, p->chains[p->next]);
        char name[128], size[IMAGE_SIZE_TEXT];
        StoreLayer row;

        if (!l || !digest || !diff_id || !image_digest_is_valid(digest) || !image_digest_is_valid(diff_id))
                return -EPROTO;
        (void) snprintf(name, sizeof(name), "sha256-%s", digest + strlen(DIGEST_PREFIX));
        if (renameat(p->work.images->blobs_fd, p->temporary, p->work.images->blobs_fd, name) < 0)
                return -errno;
        p->temporary[0] = '\0';
        row = l->row;
        row.digest = (char *) digest;
        row.diff_id = (char *) diff_id;
        row.media_type = (char *) MEDIA_TYPE;
        row.blob_bytes = (uint64_t) json_integer_value(json_object_get(x, "size"));
        making_log(p->work.making, "layer %.12s: packed to %s", p->chains[p->next], image_size_text(row.blob_bytes, size));
        return images_layer_put(p->work.images, &row);
}

static void push_on_packed(const char *result, const Error *error, void *userdata) {
        ImagePush *p = userdata;
        Error why = { .code = error ? error->code : take_packed(p, result) };

        p->work.call = NULL;
        if (why.code < 0) {
                sequence_heard(&p->work.run, error ? error : &why);
                return;
        }
        p->packed = true;
        p->next++;
        sequence_heard_again(&p->work.run);
}

static void on_pack_progress(const char *line, void *userdata) {
        Making *k = ((ImagePush *) userdata)->work.making;

        making_progress(k, k->row.stage, tree_result_bytes(line), 0);
}

static int push_pack(void *work, Error *reterr) {
        static const TreeRunEvents events = { on_pack_progress, push_on_packed };
        static const char *const arguments[] = { "pack", "--compress", "gzip", NULL };
        ImagePush *p = work;
        const LayerEntry *l = NULL;
        _cleanup_close_ int fd = -EBADF;
        TreeRef refs[2];
        char stage[64];

        for (; p->next < p->n; p->next++) {
                l = images_layer(p->work.images, p->chains[p->next]);
                if (!l || !l->row.diff_id || !push_has_blob(p, l->row.digest))
                        break;
        }
        if (p->next == p->n)
                return STEP_DONE;
        if (!l)
                return push_missing_layer(p, p->next, reterr);
        refs[0] = tree_ref(TREE_LAYER, l->row.chain);
        refs[1] = tree_ref(TREE_LAYER, l->row.parent);
        fd = push_make_temporary(p, "pack-", O_RDWR);
        if (fd < 0)
                return error_set(reterr, fd, "cannot pack layer %.12s: %m", l->row.chain);
        (void) snprintf(stage, sizeof(stage), "packing layer %zu of %zu", p->next + 1, p->n);
        making_progress(p->work.making, stage, 0, 0);
        return making_work_waits(trees_run(p->work.images->manager, refs, *l->row.parent ? 2 : 1, arguments, /* in_fd= */ -EBADF, fd, &events, p,
                        &p->work.call, reterr));
}

/* Beginning. */

static const SequenceStep push_steps[] = {
        { "ready", images_when_ready },
        { "pack", push_pack, push_remove_temporary, making_work_cancel_run },
        { "describe", push_describe, push_remove_temporary, push_stop_child },
        { "send", push_send, .cancel = push_stop_child },
};
static const Sequence push = SEQUENCE("push", push_steps, push_end, .defer = making_work_defer);

/* Lists the layers from the top down, then reverses the list. */
static int list_layers(ImagePush *p, const Image *image, Error *reterr) {
        const char *chain = image->layer;

        for (const LayerEntry *l; *chain; chain = l->row.parent) {
                l = images_layer(p->work.images, chain);
                if (!l)
                        return error_set(reterr, -EUCLEAN, "layer %.12s is missing: pull or build the template again", chain);
                if (p->n >= IMAGE_LAYERS_MAX)
                        return error_set(reterr, -E2BIG, "the template has more than %d layers", IMAGE_LAYERS_MAX);
                memcpy(p->chains[p->n++], l->row.chain, DIGEST_HEX + 1);
                if (making_hold(p->work.making, l->row.chain) < 0)
                        return error_set(reterr, -ENOMEM, "out of memory");
        }
        for (size_t a = 0, b = p->n; a + 1 < b; a++) {
                char swap[DIGEST_HEX + 1];

                b--;
                memcpy(swap, p->chains[a], sizeof(swap));
                memcpy(p->chains[a], p->chains[b], sizeof(swap));
                memcpy(p->chains[b], swap, sizeof(swap));
        }
        return 0;
}

static int push_begin(Images *i, Making *k, const Image *image, const char *reference, const char *auth, Error *reterr) {
        ImagePush *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return error_set(reterr, -ENOMEM, "out of memory");
        p->work = (MakingWork) { .images = i, .making = k, .release = push_free };
        p->reference = strdup(reference);
        p->auth = auth ? strdup(auth) : NULL;
        memcpy(p->digest, image->digest, sizeof(p->digest));
        r = !p->reference || (auth && !p->auth) ? error_set(reterr, -ENOMEM, "out of memory") : list_layers(p, image, reterr);
        if (r >= 0)
                r = making_work_start(&p->work, &push, reterr);
        if (r < 0)
                push_free(p);
        return r < 0 ? r : 0;
}

int images_push(Images *i, const Principal *who, const char *name, const char *reference, const char *auth, Making **ret, Error *reterr) {
        ReferenceName target;
        TemplateInfo info;
        char full[TEMPLATE_NAME_MAX + TEMPLATE_TAG_MAX + 2];
        Making *k;
        int r = images_check_depot(i, reterr);

        if (r >= 0)
                r = reference_name(reference, &target, reterr);
        if (r >= 0)
                r = images_get_info(i, who->tenant, name, &info, reterr);
        if (r < 0)
                return r;
        if (!*info.image->layer)
                return error_set(reterr, -EOPNOTSUPP, "template '%s:%s' stands on this host's own files (%s), which cannot be pushed: build it on an image (FROM)",
                                info.name, info.tag, info.image->base ? info.image->base : "host");
        (void) snprintf(full, sizeof(full), "%s:%s", info.name, info.tag);
        r = making_new(i, who, MAKING_PUSH, full, &k, reterr);
        if (r < 0)
                return r;
        r = push_begin(i, k, info.image, reference, auth, reterr);
        if (r < 0) {
                making_end(k, NULL, reterr);
                return r;
        }
        *ret = k;
        return 0;
}
