/* pull.c: pulls an image from a registry. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registry/fetch.h"
#include "registry/verbs.h"

#define INDEX_DEPTH_MAX 3

/* The digest of the manifest must equal the one in the request and the one in the server's header, where
 * these are given. */
static int check_manifest(Remote *r, const Exchange *x, const char *wanted, Digest *ret, Error *reterr) {
        int e = digest_of(x->answer.data, x->answer.size, ret);

        if (e < 0)
                return error_set(reterr, e, "the digest of the manifest: %m");
        if (digest_is_valid(wanted) && strcmp(wanted, ret->text) != 0)
                return error_set(reterr, -EBADMSG, "%s was asked for the manifest %s and sends one with the digest %s", r->reference->host, wanted, ret->text);
        if (digest_is_valid(x->digest) && strcmp(x->digest, ret->text) != 0)
                return error_set(reterr, -EBADMSG, "%s says that the manifest has the digest %s, but it has %s", r->reference->host, x->digest, ret->text);
        return 0;
}

static int get_manifest(Remote *r, const Blobdir *b, const char *wanted, Manifest *ret, Digest *ret_digest, Error *reterr) {
        _cleanup_exchange_ Exchange x = EXCHANGE_INIT;
        _cleanup_free_ char *url = remote_url(r, "manifests", wanted);
        char what[REFERENCE_TEXT_MAX + 1];
        int e;

        if (!url)
                return error_set(reterr, -ENOMEM, "out of memory");
        (void) snprintf(what, sizeof(what), "%s%c%s", r->reference->name, digest_is_valid(wanted) ? '@' : ':', wanted);
        x.url = url;
        x.accept = MANIFEST_ACCEPT;
        x.answer_max = MANIFEST_SIZE_MAX;
        e = remote_ask(r, &x, what, /* may_miss= */ false, reterr);
        if (e >= 0)
                e = check_manifest(r, &x, wanted, ret_digest, reterr);
        if (e < 0)
                return e;
        e = manifest_read(x.answer.data ? x.answer.data : "", x.answer.size, x.type, ret, reterr);
        if (e < 0)
                return error_prefix(reterr, e, "the manifest of %.150s", what);
        return ret->is_index ? 0 : blobdir_put(b, x.answer.data, x.answer.size, ret_digest, reterr);
}

/* Follows indexes to the image for the platform. */
static int find_image(Remote *r, const Blobdir *b, const Platform *platform, Manifest *ret, Digest *ret_digest, Error *reterr) {
        char wanted[REFERENCE_TAG_MAX + DIGEST_SIZE + 1];

        (void) snprintf(wanted, sizeof(wanted), "%s", reference_manifest(r->reference));
        for (unsigned depth = 0; depth < INDEX_DEPTH_MAX; depth++) {
                _cleanup_manifest_ Manifest m = { 0 };
                const Descriptor *chosen;
                int e = get_manifest(r, b, wanted, &m, ret_digest, reterr);

                if (e < 0)
                        return e;
                if (!m.is_index) {
                        *ret = m;
                        m = (Manifest) { 0 };
                        return 0;
                }
                e = manifest_choose(&m, platform, &chosen, reterr);
                if (e < 0)
                        return error_prefix(reterr, e, "%s", r->reference->name);
                memcpy(wanted, chosen->digest.text, DIGEST_SIZE + 1);
        }
        return error_set(reterr, -ELOOP, "%s: indexes that lead to indexes without an end", r->reference->name);
}

static int check_sizes(const Manifest *m, uint64_t max, Error *reterr) {
        if (m->config.size > IMAGECONFIG_SIZE_MAX)
                return error_set(reterr, -EFBIG, "the image's configuration has %llu bytes; at most %d are read", (unsigned long long) m->config.size,
                                 IMAGECONFIG_SIZE_MAX);
        if (m->size > max)
                return error_set(reterr, -EFBIG, "the image's layers have %llu bytes, more than the %llu that are allowed", (unsigned long long) m->size,
                                 (unsigned long long) max);
        return 0;
}

static int get_config(Remote *r, const Blobdir *b, const Manifest *m, const Platform *platform, Imageconfig *ret, Error *reterr) {
        const Descriptor *config = &m->config;
        _cleanup_free_ char *text = NULL;
        Output quiet = { .quiet = true };
        size_t size;
        int e;

        e = fetch_blobs(r, b, &config, 1, &quiet, reterr);
        if (e >= 0)
                e = blobdir_read(b, &config->digest, IMAGECONFIG_SIZE_MAX, &text, &size, reterr);
        if (e >= 0)
                e = imageconfig_read(text, size, m->n, ret, reterr);
        return e < 0 ? e : imageconfig_check_platform(ret, platform, reterr);
}

static int get_layers(Remote *r, const Blobdir *b, const Manifest *m, Error *reterr) {
        _cleanup_free_ const Descriptor **wanted = calloc(m->n + 1, sizeof(*wanted));
        Output o = { .layers = m->n };

        if (!wanted)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (size_t i = 0; i < m->n; i++)
                wanted[i] = m->items + i;
        return fetch_blobs(r, b, wanted, m->n, &o, reterr);
}

int verb_pull(const Arguments *a, Error *reterr) {
        _cleanup_imageconfig_ Imageconfig config = { 0 };
        _cleanup_manifest_ Manifest m = { 0 };
        char text[REFERENCE_TEXT_MAX + 1];
        Digest digest;
        int e;

        e = find_image(a->remote, &a->blobs, &a->platform, &m, &digest, reterr);
        if (e >= 0)
                e = check_sizes(&m, a->max_bytes, reterr);
        if (e >= 0)
                e = get_config(a->remote, &a->blobs, &m, &a->platform, &config, reterr);
        if (e >= 0)
                e = get_layers(a->remote, &a->blobs, &m, reterr);
        return e < 0 ? e : output_result(reference_print(&a->reference, text), &digest, &m, &config, reterr);
}
