/* push.c: pushes an image from the directory to a registry: the missing blobs, then the manifest. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "registry/assemble.h"
#include "registry/verbs.h"

typedef struct RegistryPush {
        Remote *remote;
        const Blobdir *blobs;
        Output output;
} RegistryPush;

static int registry_push_has_blob(RegistryPush *p, const Descriptor *d, const char *what, Error *reterr) {
        _cleanup_exchange_ Exchange x = EXCHANGE_INIT;
        _cleanup_free_ char *url = remote_url(p->remote, "blobs", d->digest.text);
        int r;

        if (!url)
                return error_set(reterr, -ENOMEM, "out of memory");
        x.url = url;
        x.method = "HEAD";
        r = remote_ask(p->remote, &x, what, /* may_miss= */ true, reterr);
        return r < 0 ? r : x.status != 404;
}

/* Returns the URL at which the registry expects the blob, with the digest added. */
static int begin_upload(RegistryPush *p, const Descriptor *d, const char *what, char **ret, Error *reterr) {
        _cleanup_exchange_ Exchange x = EXCHANGE_INIT;
        _cleanup_free_ char *url = remote_url(p->remote, "blobs", "uploads/"), *place = NULL;
        int r;

        if (!url)
                return error_set(reterr, -ENOMEM, "out of memory");
        x.url = url;
        x.method = "POST";
        x.has_body = true;
        r = remote_ask(p->remote, &x, what, /* may_miss= */ false, reterr);
        if (r < 0)
                return r;
        place = x.location[0] ? outbound_url_join(p->remote->base, x.location) : NULL;
        if (x.status != 202 || !place)
                return error_set(reterr, -EPROTO, "%s answers %d without a place to upload %s to", p->remote->reference->host, x.status, what);
        if (strncmp(place, "https://", 8) != 0 && strncmp(p->remote->base, "http://", 7) != 0)
                return error_set(reterr, -EPERM, "%s wants %s at a place that is not reached by https", p->remote->reference->host, what);
        return asprintf(ret, "%s%cdigest=sha256%%3A%s", place, strchr(place, '?') ? '&' : '?', digest_hex(&d->digest)) < 0
                       ? error_set(reterr, -ENOMEM, "out of memory")
                       : 0;
}

static int send(RegistryPush *p, Exchange *x, const Digest *digest, Error *reterr) {
        uint64_t before = p->output.bytes;
        int r = remote_start(p->remote, x, reterr);

        while (r >= 0 && x->exchanges) {
                Exchange *over = exchanges_wait(p->remote->exchanges, 100 * USEC_PER_MSEC);

                p->output.bytes = before + x->sent;
                r = output_progress(&p->output, digest->text, /* now= */ false, reterr);
                if (over)
                        break;
        }
        p->output.bytes = before;
        return r;
}

static int upload(RegistryPush *p, const Descriptor *d, const char *what, Error *reterr) {
        uint64_t size;
        _cleanup_close_ int fd = blobdir_get(p->blobs, &d->digest, &size, reterr);

        if (fd < 0)
                return fd;
        for (unsigned tries = 0;;) {
                _cleanup_exchange_ Exchange x = { .method = "PUT", .has_body = true, .body_fd = fd, .body_size = size, .content_type = "application/octet-stream" };
                _cleanup_free_ char *place = NULL;
                usec_t pause;
                int r = begin_upload(p, d, what, &place, reterr);

                if (r < 0)
                        return r;
                x.url = place;
                r = send(p, &x, &d->digest, reterr);
                if (r < 0)
                        return r;
                r = remote_login(p->remote, &x, reterr);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (x.error == 0 && x.status < 300)
                        return 0;
                pause = remote_retry_pause(&x, tries++);
                if (pause == 0)
                        return remote_explain(p->remote, &x, what, reterr);
                (void) usleep((useconds_t) pause);
        }
}

static int push_blob(RegistryPush *p, const Descriptor *d, bool layer, Error *reterr) {
        char what[DIGEST_SIZE + 16];
        int r;

        (void) snprintf(what, sizeof(what), "blob %s", d->digest.text);
        r = registry_push_has_blob(p, d, what, reterr);
        if (r == 0)
                r = upload(p, d, what, reterr);
        if (r < 0)
                return r;
        p->output.bytes += d->size;
        p->output.layers_done += layer;
        return output_progress(&p->output, d->digest.text, /* now= */ false, reterr);
}

static int push_manifest(RegistryPush *p, const Digest *digest, const char *text, size_t size, const char *type, Error *reterr) {
        const Reference *f = p->remote->reference;
        _cleanup_exchange_ Exchange x = { .method = "PUT", .has_body = true, .body_fd = -EBADF, .body = text, .body_size = size, .content_type = type };
        _cleanup_free_ char *url = remote_url(p->remote, "manifests", f->tag[0] ? f->tag : digest->text);
        int r;

        if (!url)
                return error_set(reterr, -ENOMEM, "out of memory");
        x.url = url;
        r = remote_ask(p->remote, &x, "the manifest", /* may_miss= */ false, reterr);
        if (r < 0)
                return r;
        if (x.status >= 300 || (digest_is_valid(x.digest) && strcmp(x.digest, digest->text) != 0))
                return error_set(reterr, -EPROTO, "%s answers %d to the manifest %s, with the digest '%.80s'", f->host, x.status, digest->text, x.digest);
        return 0;
}

static int push_all(RegistryPush *p, const Digest *digest, Error *reterr) {
        _cleanup_manifest_ Manifest m = { 0 };
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r = blobdir_read(p->blobs, digest, MANIFEST_SIZE_MAX, &text, &size, reterr);

        if (r >= 0)
                r = manifest_read(text, size, "", &m, reterr);
        if (r >= 0 && m.is_index)
                r = error_set(reterr, -EINVAL, "%s is an index, not an image", digest->text);
        if (r < 0)
                return r;
        p->output.layers = m.n;
        p->output.total = m.size + m.config.size;
        for (size_t i = 0; i < m.n && r >= 0; i++)
                r = push_blob(p, m.items + i, /* layer= */ true, reterr);
        if (r >= 0)
                r = push_blob(p, &m.config, /* layer= */ false, reterr);
        if (r >= 0)
                r = push_manifest(p, digest, text, size, m.type, reterr);
        return r < 0 ? r : output_progress(&p->output, digest->text, /* now= */ true, reterr);
}

int verb_push(const Arguments *a, Error *reterr) {
        RegistryPush p = { .remote = a->remote, .blobs = &a->blobs };
        char text[REFERENCE_TEXT_MAX + 1];
        int r;

        if (a->reference.digest.text[0] && strcmp(a->reference.digest.text, a->manifest.text) != 0)
                return error_set(reterr, -EINVAL, "the name has the digest %s, but the image has %s", a->reference.digest.text, a->manifest.text);
        r = push_all(&p, &a->manifest, reterr);
        return r < 0 ? r : assemble_tell(&a->blobs, reference_print(&a->reference, text), &a->manifest, /* platform= */ NULL, reterr);
}
