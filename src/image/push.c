/* push.c: a template goes to a registry.
 *
 * Layers that have their blob go as they are; those that were made here, or whose blob was removed, are packed first (cove-tree pack, what differs from the parent). If all was as
 * it came, the manifest is the one it came with; else cove-registry describes what there is now. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/secret.h"
#include "image/ingest.h"

#define LAYERS_MAX 512
#define MEDIA_TYPE "application/vnd.oci.image.layer.v1.tar+gzip"

typedef struct ImagePush {
        Images *images;
        Making *making;
        char *reference, *auth;
        char digest[sizeof(((Image *) NULL)->digest)];   /* of the image */
        char manifest[sizeof(((Image *) NULL)->digest)]; /* that is pushed; "": not known yet */
        char chains[LAYERS_MAX][DIGEST_HEX + 1];         /* from the bottom up */
        size_t n, next;
        bool packed; /* at least one: the manifest it came with does not fit */
        char temporary[48]; /* name of a blob that is being packed, or of the configuration */
        TreeCall *call;
        ImageChild *child;
} ImagePush;

static void remove_temporary(ImagePush *p) {
        if (*p->temporary)
                (void) unlinkat(p->images->blobs_fd, p->temporary, 0);
        p->temporary[0] = '\0';
}

static void push_free(ImagePush *p) {
        remove_temporary(p);
        tree_call_forget(p->call);
        image_child_free(p->child);
        if (p->auth)
                explicit_bzero(p->auth, strlen(p->auth));
        free(p->auth);
        free(p->reference);
        free(p);
}

static void push_release(void *work) {
        push_free(work);
}

static void push_cancel(void *work) {
        ImagePush *p = work;

        if (p->child)
                image_child_stop(p->child);
        else if (p->call)
                tree_call_cancel(p->call);
}

static void push_finish(ImagePush *p, const Error *error) {
        static const Error cancelled = { -ECANCELED, "it was cancelled" };
        ImageEntry *e = images_entry(p->images, p->digest);
        Making *k = p->making;

        making_set_work(k, NULL, NULL);
        making_end(k, e && !error ? &e->image : NULL, error && making_is_cancelled(k) ? &cancelled : error);
        push_free(p);
}

static void push_fail(ImagePush *p, int r, const Error *why) {
        Error error = *why;

        if (error.code == 0)
                (void) error_set(&error, r, "%s", strerror(-r));
        push_finish(p, &error);
}

/* Sending. */

static void on_push_line(const char *line, void *userdata) {
        ImagePush *p = userdata;
        _cleanup_json_ json_t *j = json_loads(line, 0, NULL);
        const json_t *progress = json_object_get(j, "progress");

        if (progress)
                making_progress(p->making, "pushing", (uint64_t) json_integer_value(json_object_get(progress, "bytes")),
                                (uint64_t) json_integer_value(json_object_get(progress, "total")));
}

static void on_pushed(const Error *error, void *userdata) {
        ImagePush *p = userdata;

        p->child = NULL;
        if (!error)
                making_log(p->making, "pushed %s as %s", p->manifest, p->reference);
        push_finish(p, error);
}

static void send_image(ImagePush *p) {
        static const ImageChildEvents events = { on_push_line, on_pushed };
        const char *arguments[16] = { "cove-registry", "push", p->reference, "--manifest", p->manifest };
        Error error = { 0 };
        int r;

        (void) registry_arguments(p->images, p->making->row.tenant, p->images->blobs_path, p->reference, arguments + 5);
        making_log(p->making, "pushing %s to %s", p->manifest, p->reference);
        r = image_child_start(p->images, arguments, p->auth, /* in_fd= */ -EBADF, &events, p, &p->child, &error);
        if (r < 0)
                push_fail(p, r, &error);
}

/* Describing. */

static void on_described_line(const char *line, void *userdata) {
        ImagePush *p = userdata;
        _cleanup_json_ json_t *j = json_loads(line, 0, NULL);
        const char *digest = json_string_value(json_object_get(json_object_get(j, "result"), "manifestDigest"));

        if (digest && image_digest_is_valid(digest))
                (void) snprintf(p->manifest, sizeof(p->manifest), "%s", digest);
}

static void on_described(const Error *error, void *userdata) {
        ImagePush *p = userdata;
        Error why = { 0 };

        p->child = NULL;
        remove_temporary(p);
        if (error)
                push_fail(p, error->code, error);
        else if (!*p->manifest)
                push_fail(p, error_set(&why, -EPROTO, "the registry program has not told what it made"), &why);
        else
                send_image(p);
}

static int write_config(ImagePush *p, const Image *image) {
        _cleanup_json_ json_t *j = json_pack("{s:o}", "config", image_config_write(&image->config));
        _cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
        _cleanup_close_ int fd = -EBADF;

        if (!text)
                return -ENOMEM;
        (void) snprintf(p->temporary, sizeof(p->temporary), "config-");
        secret_random_hex(p->temporary + strlen("config-"), 24);
        fd = openat(p->images->blobs_fd, p->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

static int push_describe(ImagePush *p, Error *reterr) {
        static const ImageChildEvents events = { on_described_line, on_described };
        const ImageEntry *e = images_entry(p->images, p->digest);
        _cleanup_(strv_done) Strv list = STRV_INIT(2 * LAYERS_MAX + 16);
        char path[4200], text[300];
        int r = e ? write_config(p, &e->image) : -ENOENT;

        (void) snprintf(path, sizeof(path), "%s/%s", p->images->blobs_path, p->temporary);
        const char *const begin[] = { "cove-registry", "describe", "--blobs", p->images->blobs_path, "--config", path };
        for (size_t n = 0; n < ELEMENTSOF(begin) && r >= 0; n++)
                r = strv_push(&list, begin[n]);
        for (size_t n = 0; n < p->n && r >= 0; n++) {
                const LayerEntry *l = images_layer(p->images, p->chains[n]);

                if (!l)
                        return error_set(reterr, -ENOENT, "layer %.12s was removed meanwhile", p->chains[n]);
                (void) snprintf(text, sizeof(text), "%s:%s:%llu:%s", l->row.digest, l->row.diff_id, (unsigned long long) l->row.blob_bytes,
                                l->row.media_type ? l->row.media_type : MEDIA_TYPE);
                r = strv_push(&list, "--layer");
                if (r >= 0)
                        r = strv_push(&list, text);
        }
        if (r < 0)
                return error_set(reterr, r, "the image cannot be described: %s", strerror(-r));
        return image_child_start(p->images, (const char *const *) list.items, /* auth= */ NULL, /* in_fd= */ -EBADF, &events, p, &p->child, reterr);
}

/* Packing. */

static void push_next_layer(ImagePush *p);

static int take_packed(ImagePush *p, const char *result) {
        _cleanup_json_ json_t *j = json_loads(result, 0, NULL);
        const json_t *inner = json_object_get(j, "result"), *x = inner ? inner : j;
        const char *digest = json_string_value(json_object_get(x, "digest")), *diff_id = json_string_value(json_object_get(x, "diffId"));
        const LayerEntry *l = images_layer(p->images, p->chains[p->next]);
        char name[128], size[IMAGE_SIZE_TEXT];
        StoreLayer row;

        if (!l || !digest || !diff_id || !image_digest_is_valid(digest) || !image_digest_is_valid(diff_id))
                return -EPROTO;
        (void) snprintf(name, sizeof(name), "sha256-%s", digest + strlen(DIGEST_PREFIX));
        if (renameat(p->images->blobs_fd, p->temporary, p->images->blobs_fd, name) < 0)
                return -errno;
        p->temporary[0] = '\0';
        row = l->row;
        row.digest = (char *) digest;
        row.diff_id = (char *) diff_id;
        row.media_type = (char *) MEDIA_TYPE;
        row.blob_bytes = (uint64_t) json_integer_value(json_object_get(x, "size"));
        making_log(p->making, "layer %.12s: packed to %s", p->chains[p->next], image_size_text(row.blob_bytes, size));
        return images_layer_put(p->images, &row);
}

static void on_packed(const char *result, const Error *error, void *userdata) {
        ImagePush *p = userdata;
        Error why = { 0 };
        int r;

        p->call = NULL;
        if (error) {
                push_fail(p, error->code, error);
                return;
        }
        r = take_packed(p, result);
        if (r < 0) {
                push_fail(p, r, &why);
                return;
        }
        p->packed = true;
        p->next++;
        push_next_layer(p);
}

static void on_pack_progress(const char *line, void *userdata) {
        ImagePush *p = userdata;

        making_progress(p->making, p->making->row.stage, tree_result_bytes(line), 0);
}

static int pack(ImagePush *p, Error *reterr) {
        static const TreeRunEvents events = { on_pack_progress, on_packed };
        static const char *const arguments[] = { "pack", "--compress", "gzip", NULL };
        const LayerEntry *l = images_layer(p->images, p->chains[p->next]);
        _cleanup_close_ int fd = -EBADF;
        TreeRef refs[2];
        char stage[64];

        if (!l)
                return error_set(reterr, -ENOENT, "layer %.12s was removed meanwhile", p->chains[p->next]);
        refs[0] = tree_ref(TREE_LAYER, l->row.chain);
        refs[1] = tree_ref(TREE_LAYER, l->row.parent);
        (void) snprintf(p->temporary, sizeof(p->temporary), "pack-");
        secret_random_hex(p->temporary + strlen("pack-"), 24);
        fd = openat(p->images->blobs_fd, p->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_set(reterr, -errno, "cannot pack layer %.12s: %m", l->row.chain);
        (void) snprintf(stage, sizeof(stage), "packing layer %zu of %zu", p->next + 1, p->n);
        making_progress(p->making, stage, 0, 0);
        return trees_run(p->images->manager, refs, *l->row.parent ? 2 : 1, arguments, /* in_fd= */ -EBADF, fd, &events, p, &p->call, reterr);
}

static bool image_push_has_blob(ImagePush *p, const char *digest) {
        _cleanup_close_ int fd = digest && *digest ? blob_open(p->images, digest) : -ENOENT;

        return fd >= 0;
}

static void push_next_layer(ImagePush *p) {
        const ImageEntry *e = images_entry(p->images, p->digest);
        Error error = { 0 };
        int r = 0;

        if (making_is_cancelled(p->making))
                r = -ECANCELED;
        for (; r >= 0 && p->next < p->n; p->next++) {
                const LayerEntry *l = images_layer(p->images, p->chains[p->next]);

                if (l && l->row.diff_id && image_push_has_blob(p, l->row.digest))
                        continue;
                r = pack(p, &error);
                if (r >= 0)
                        return;
        }
        if (r < 0) {
                push_fail(p, r, &error);
                return;
        }
        if (!p->packed && e && e->image.config_digest && image_push_has_blob(p, e->image.digest) && image_push_has_blob(p, e->image.config_digest)) {
                memcpy(p->manifest, p->digest, sizeof(p->manifest));
                send_image(p);
                return;
        }
        r = push_describe(p, &error);
        if (r < 0)
                push_fail(p, r, &error);
}

/* Beginning. */

static void push_on_ready(Making *k, const Error *error, void *userdata) {
        if (error)
                push_fail(userdata, error->code, error);
        else
                push_next_layer(userdata);
}

/* From the top down, then turned over. */
static int list_layers(ImagePush *p, const Image *image, Error *reterr) {
        const char *chain = image->layer;

        for (const LayerEntry *l; *chain; chain = l->row.parent) {
                l = images_layer(p->images, chain);
                if (!l)
                        return error_set(reterr, -EUCLEAN, "layer %.12s is not there any more: get or build the template again", chain);
                if (p->n >= LAYERS_MAX)
                        return error_set(reterr, -E2BIG, "the template has more than %d layers", LAYERS_MAX);
                memcpy(p->chains[p->n++], l->row.chain, DIGEST_HEX + 1);
                if (making_hold(p->making, l->row.chain) < 0)
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
        static const MakingOps ops = { push_cancel, push_release };
        ImagePush *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return error_set(reterr, -ENOMEM, "out of memory");
        p->images = i;
        p->making = k;
        p->reference = strdup(reference);
        p->auth = auth ? strdup(auth) : NULL;
        memcpy(p->digest, image->digest, sizeof(p->digest));
        r = !p->reference || (auth && !p->auth) ? error_set(reterr, -ENOMEM, "out of memory") : list_layers(p, image, reterr);
        if (r < 0) {
                push_free(p);
                return r;
        }
        making_set_work(k, &ops, p);
        images_when_ready(i, k, push_on_ready, p);
        return 0;
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
                return error_set(reterr, -EOPNOTSUPP, "template '%s:%s' stands on this host's own files (%s), which do not go to a registry: build it on an image (FROM)",
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
