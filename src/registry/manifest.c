#include "registry/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "registry/document.h"

#define SIZE_MAX_BYTES (INT64_C(1) << 50)

/* Prefixes of the types of usable layers. The rest of a type is its compression. */
static const char *const layer_types[] = { MEDIA_OCI_LAYER, "application/vnd.docker.image.rootfs.diff.tar" };
static const char *const compressions[] = { "", "+gzip", "+zstd", ".gzip", ".zstd" };
static const char *const config_types[] = { MEDIA_OCI_CONFIG, "application/vnd.docker.container.image.v1+json" };

static bool is_layer(const char *type) {
        for (size_t i = 0; i < ELEMENTSOF(layer_types); i++) {
                size_t n = strlen(layer_types[i]);

                for (size_t k = 0; strncmp(type, layer_types[i], n) == 0 && k < ELEMENTSOF(compressions); k++)
                        if (strcmp(type + n, compressions[k]) == 0)
                                return true;
        }
        return false;
}

bool manifest_layer_is_plain(const char *type) {
        for (size_t i = 0; i < ELEMENTSOF(layer_types); i++)
                if (strcmp(type, layer_types[i]) == 0)
                        return true;
        return false;
}

const char *manifest_layer_oci_type(const char *type) {
        static const char *const types[] = { MEDIA_OCI_LAYER, MEDIA_OCI_LAYER "+gzip", MEDIA_OCI_LAYER "+zstd" };
        static const char *const endings[] = { "", ".gzip", ".zstd" };
        size_t n = strlen(layer_types[1]);

        for (size_t i = 0; strncmp(type, layer_types[1], n) == 0 && i < ELEMENTSOF(endings); i++)
                if (strcmp(type + n, endings[i]) == 0)
                        return types[i];
        return type;
}

static int check_layer(const Descriptor *d, Error *reterr) {
        if (is_layer(d->type))
                return 0;
        if (strstr(d->type, "foreign") || strstr(d->type, "nondistributable"))
                return error_set(reterr, -EOPNOTSUPP, "the layer %s is not in the registry, but somewhere else ('%s'): such images cannot be used", d->digest.text, d->type);
        return error_set(reterr, -EOPNOTSUPP, "the layer %s has the type '%s', which is not known; known are tar, plain or with gzip or zstd", d->digest.text, d->type);
}

static int manifest_check_config(const Descriptor *d, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(config_types); i++)
                if (strcmp(d->type, config_types[i]) == 0)
                        return 0;
        return error_set(reterr, -EOPNOTSUPP, "it is no image, but something else that is kept in a registry: its configuration has the type '%s'", d->type);
}

static int read_descriptor(json_t *j, Descriptor *ret, Error *reterr) {
        json_t *size = json_object_get(j, "size");
        char digest[256];
        int r;

        if (!json_is_object(j))
                return error_set(reterr, -EBADMSG, "one of its descriptors is no object");
        r = document_text(j, "mediaType", ret->type, sizeof(ret->type), reterr);
        if (r >= 0)
                r = document_text(j, "digest", digest, sizeof(digest), reterr);
        if (r < 0)
                return r;
        if (!digest_is_valid(digest))
                return error_set(reterr, -EBADMSG, "'%.100s' is no digest that is known; one is sha256: and 64 hexadecimal digits", digest);
        memcpy(ret->digest.text, digest, DIGEST_SIZE + 1);
        if (!json_is_integer(size) || json_integer_value(size) < 0 || json_integer_value(size) > SIZE_MAX_BYTES)
                return error_set(reterr, -EBADMSG, "%s has no size, or one that cannot be", digest);
        ret->size = (uint64_t) json_integer_value(size);
        return 0;
}

static int read_platform(json_t *j, Platform *ret, Error *reterr) {
        int r = document_text(j, "os", ret->os, sizeof(ret->os), reterr);

        if (r >= 0)
                r = document_text(j, "architecture", ret->architecture, sizeof(ret->architecture), reterr);
        return r < 0 ? r : document_text(j, "variant", ret->variant, sizeof(ret->variant), reterr);
}

static int read_layer(json_t *j, Manifest *m, Descriptor *ret, Error *reterr) {
        int r = read_descriptor(j, ret, reterr);

        if (r >= 0)
                r = check_layer(ret, reterr);
        if (r >= 0)
                m->size += ret->size; /* no overflow: at most 1024 times 2^50 */
        return r;
}

static void annotation(json_t *j, const char *key, char *ret, size_t room) {
        if (document_text(json_object_get(j, "annotations"), key, ret, room, NULL) < 0)
                ret[0] = 0;
}

static int manifest_read_entry(json_t *j, Manifest *m, Descriptor *ret, Error *reterr) {
        json_t *platform = json_object_get(j, "platform");
        char kind[64];
        int r = read_descriptor(j, ret, reterr);

        if (r >= 0 && json_is_object(platform))
                r = read_platform(platform, &ret->platform, reterr);
        if (r < 0)
                return r;
        annotation(j, "vnd.docker.reference.type", kind, sizeof(kind));
        ret->attestation = kind[0] || strcmp(ret->platform.os, "unknown") == 0;
        annotation(j, "org.opencontainers.image.ref.name", ret->name, sizeof(ret->name));
        annotation(j, "io.containerd.image.name", ret->full_name, sizeof(ret->full_name));
        return 0;
}

static int manifest_read_list(json_t *list, size_t max, const char *what, Manifest *m, int (*read)(json_t *, Manifest *, Descriptor *, Error *), Error *reterr) {
        size_t n = json_array_size(list);
        int r = 0;

        if (!json_is_array(list) || n == 0 || n > max)
                return error_set(reterr, -EBADMSG, "it has no %s, or more than %zu", what, max);
        m->items = calloc(n, sizeof(*m->items));
        if (!m->items)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (; m->n < n && r >= 0; m->n++)
                r = read(json_array_get(list, m->n), m, m->items + m->n, reterr);
        return r;
}

static int read_image(json_t *j, Manifest *m, Error *reterr) {
        int r = read_descriptor(json_object_get(j, "config"), &m->config, reterr);

        if (r >= 0)
                r = manifest_check_config(&m->config, reterr);
        if (!m->type[0])
                (void) strcpy(m->type, strcmp(m->config.type, MEDIA_OCI_CONFIG) == 0 ? MEDIA_OCI_MANIFEST : MEDIA_DOCKER_MANIFEST);
        return r < 0 ? r : manifest_read_list(json_object_get(j, "layers"), MANIFEST_LAYERS_MAX, "layers", m, read_layer, reterr);
}

static bool manifest_is_one_of(const char *type, const char *a, const char *b) {
        return strcmp(type, a) == 0 || strcmp(type, b) == 0;
}

/* The manifest says its own type. Older ones leave the type to the server's header, or to what they
 * contain. */
static int read_kind(json_t *j, const char *server_type, Manifest *ret, Error *reterr) {
        char *type = ret->type;
        int r = document_text(j, "mediaType", type, sizeof(ret->type), reterr);

        if (r < 0)
                return r;
        if (json_integer_value(json_object_get(j, "schemaVersion")) == 1 || strstr(server_type, "docker.distribution.manifest.v1+"))
                return error_set(reterr, -EOPNOTSUPP, "it is a manifest of docker's schema 1, which is given up everywhere: push the image again with a newer program");
        if (json_integer_value(json_object_get(j, "schemaVersion")) != 2)
                return error_set(reterr, -EBADMSG, "it is no manifest: it has no schemaVersion 2");
        if (json_object_get(j, "manifests") && json_object_get(j, "layers"))
                return error_set(reterr, -EBADMSG, "it says that it is an index and an image at once");
        ret->is_index = json_object_get(j, "manifests") != NULL;
        if (type[0] && !manifest_is_one_of(type, ret->is_index ? MEDIA_OCI_INDEX : MEDIA_OCI_MANIFEST, ret->is_index ? MEDIA_DOCKER_LIST : MEDIA_DOCKER_MANIFEST))
                return error_set(reterr, -EBADMSG, "it says that it is '%.100s', and is not", type);
        return 0;
}

int manifest_read(const char *data, size_t size, const char *type, Manifest *ret, Error *reterr) {
        _cleanup_json_ json_t *j = NULL;
        Manifest m = { 0 };
        int r;

        j = document_parse(data, size, reterr);
        if (!j)
                return -EBADMSG;
        r = read_kind(j, type, &m, reterr);
        if (r >= 0 && m.is_index)
                r = manifest_read_list(json_object_get(j, "manifests"), MANIFEST_INDEX_MAX, "entries", &m, manifest_read_entry, reterr);
        else if (r >= 0)
                r = read_image(j, &m, reterr);
        if (r < 0) {
                manifest_done(&m);
                return r;
        }
        *ret = m;
        return 0;
}

void manifest_done(Manifest *m) {
        free(m->items);
        *m = (Manifest) { 0 };
}

static int no_match(const Manifest *index, const Platform *wanted, Error *reterr) {
        char list[300] = "", text[100];

        for (size_t i = 0; i < index->n; i++) {
                const Descriptor *d = index->items + i;

                if (d->attestation || !d->platform.os[0])
                        continue;
                (void) platform_print(&d->platform, text, sizeof(text));
                if (strlen(list) + strlen(text) + 6 >= sizeof(list)) {
                        (void) strcat(list, ", …");
                        break;
                }
                if (list[0])
                        (void) strcat(list, ", ");
                (void) strcat(list, text);
        }
        (void) platform_print(wanted, text, sizeof(text));
        return error_set(reterr, -ENOENT, "there is no image for the platform %s; there are: %s", text, list[0] ? list : "none");
}

int manifest_choose(const Manifest *index, const Platform *wanted, const Descriptor **ret, Error *reterr) {
        const Descriptor *best = NULL, *unsaid = NULL;
        unsigned best_score = 0, n_unsaid = 0;

        for (size_t i = 0; i < index->n; i++) {
                const Descriptor *d = index->items + i;
                unsigned score = d->attestation ? 0 : platform_match(wanted, &d->platform);

                if (score > best_score) {
                        best = d;
                        best_score = score;
                }
                if (!d->attestation && !d->platform.os[0]) {
                        unsaid = d;
                        n_unsaid++;
                }
        }
        if (!best && n_unsaid == 1)
                best = unsaid; /* its configuration has the platform */
        if (!best)
                return no_match(index, wanted, reterr);
        *ret = best;
        return 0;
}
