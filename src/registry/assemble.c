#include "registry/assemble.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int check_blob(const Blobdir *b, const Descriptor *d, Error *reterr) {
        uint64_t size;
        int r = blobdir_find(b, &d->digest, &size, reterr);

        if (r < 0)
                return r;
        if (r == 0)
                return error_set(reterr, -ENOENT, "the image needs blob %s, which is not there", d->digest.text);
        if (size != d->size)
                return error_set(reterr, -EBADMSG, "blob %s has %llu bytes, and %llu by the manifest", d->digest.text, (unsigned long long) size,
                                 (unsigned long long) d->size);
        return 0;
}

static int check_parts(const Blobdir *b, const Manifest *m, const Imageconfig *c, Error *reterr) {
        int r = check_blob(b, &m->config, reterr);

        for (size_t i = 0; i < m->n && r >= 0; i++) {
                r = check_blob(b, m->items + i, reterr);
                if (r >= 0 && manifest_layer_is_plain(m->items[i].type) && strcmp(m->items[i].digest.text, c->diff_ids[i].text) != 0)
                        r = error_set(reterr, -EBADMSG, "layer %zu has the digest %s, and %s by the image's configuration", i + 1, m->items[i].digest.text,
                                      c->diff_ids[i].text);
        }
        return r;
}

int assemble_tell(const Blobdir *b, const char *reference, const Digest *digest, const Platform *platform, Error *reterr) {
        _cleanup_imageconfig_ Imageconfig c = { 0 };
        _cleanup_manifest_ Manifest m = { 0 };
        _cleanup_free_ char *manifest = NULL, *config = NULL;
        size_t manifest_size, config_size;
        int r;

        r = blobdir_read(b, digest, MANIFEST_SIZE_MAX, &manifest, &manifest_size, reterr);
        if (r >= 0)
                r = manifest_read(manifest, manifest_size, "", &m, reterr);
        if (r >= 0 && m.is_index)
                r = error_set(reterr, -EINVAL, "%s is an index, not an image", digest->text);
        if (r >= 0)
                r = blobdir_read(b, &m.config.digest, IMAGECONFIG_SIZE_MAX, &config, &config_size, reterr);
        if (r >= 0)
                r = imageconfig_read(config, config_size, m.n, &c, reterr);
        if (r >= 0 && platform)
                r = imageconfig_check_platform(&c, platform, reterr);
        if (r >= 0)
                r = check_parts(b, &m, &c, reterr);
        return r < 0 ? r : output_result(reference, digest, &m, &c, reterr);
}

static json_t *describe_blob(const char *type, const Digest *digest, uint64_t size) {
        return json_pack("{s:s, s:s, s:I}", "mediaType", type, "digest", digest->text, "size", (json_int_t) size);
}

static json_t *make_manifest(const Digest *config, size_t config_size, const Part *parts, size_t n) {
        json_t *layers = json_array();

        for (size_t i = 0; i < n; i++)
                if (json_array_append_new(layers, describe_blob(manifest_layer_oci_type(parts[i].type), &parts[i].digest, parts[i].size)) < 0) {
                        json_decref(layers);
                        return NULL;
                }
        return json_pack("{s:i, s:s, s:o, s:o}", "schemaVersion", 2, "mediaType", MEDIA_OCI_MANIFEST, "config",
                         describe_blob(MEDIA_OCI_CONFIG, config, config_size), "layers", layers);
}

static int put_json(const Blobdir *b, json_t *j, Digest *ret, Error *reterr) {
        _cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

        return text ? blobdir_put(b, text, strlen(text), ret, reterr) : error_set(reterr, -ENOMEM, "out of memory");
}

int assemble_image(const Blobdir *b, const char *reference, const char *config, size_t size, const Platform *platform, const Part *parts,
                   size_t n, Error *reterr) {
        _cleanup_imageconfig_ Imageconfig c = { 0 };
        _cleanup_json_ json_t *manifest = NULL;
        Digest digest;
        int r;

        r = imageconfig_read(config, size, n, &c, reterr);
        if (r >= 0)
                r = blobdir_put(b, config, size, &digest, reterr);
        if (r < 0)
                return r;
        manifest = make_manifest(&digest, size, parts, n);
        r = put_json(b, manifest, &digest, reterr);
        return r < 0 ? r : assemble_tell(b, reference, &digest, platform, reterr);
}

/* A history is usable only if it has as many steps that made layers as there are layers. */
static bool history_fits(json_t *history, size_t n) {
        json_t *step;
        size_t i, count = 0;

        json_array_foreach(history, i, step)
                if (!json_is_true(json_object_get(step, "empty_layer")))
                        count++;
        return count == n;
}

static int set_default(json_t *config, const char *key, const char *value) {
        const char *given = json_string_value(json_object_get(config, key));

        return value[0] && (!given || !*given) ? json_object_set_new(config, key, json_string(value)) : 0;
}

int assemble_image_of(const Blobdir *b, const char *reference, json_t *config, const Platform *platform, const Part *parts, size_t n, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        json_t *ids = json_array();
        int r = ids ? 0 : -1;

        for (size_t i = 0; i < n && r == 0; i++)
                r = json_array_append_new(ids, json_string(parts[i].diff_id.text));
        if (r == 0)
                r = set_default(config, "architecture", platform->architecture) < 0 || set_default(config, "os", platform->os) < 0 ? -1 : 0;
        if (r == 0 && strcmp(platform->architecture, "amd64") != 0 && strcmp(json_string_value(json_object_get(config, "architecture")), platform->architecture) == 0)
                r = set_default(config, "variant", platform->variant);
        if (!history_fits(json_object_get(config, "history"), n))
                (void) json_object_del(config, "history");
        if (r == 0)
                r = json_object_set_new(config, "rootfs", json_pack("{s:s, s:O}", "type", "layers", "diff_ids", ids));
        json_decref(ids);
        text = r == 0 ? json_dumps(config, JSON_COMPACT) : NULL;
        return text ? assemble_image(b, reference, text, strlen(text), NULL, parts, n, reterr) : error_set(reterr, -ENOMEM, "out of memory");
}
