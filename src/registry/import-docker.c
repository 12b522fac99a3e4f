/* import-docker.c: imports the archive that `docker save` writes. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "registry/assemble.h"
#include "registry/document.h"
#include "registry/import.h"

static bool is_image(json_t *j) {
        return json_is_string(json_object_get(j, "Config")) && json_is_array(json_object_get(j, "Layers"));
}

bool import_is_docker(const char *text, size_t size) {
        _cleanup_json_ json_t *j = document_parse_list(text, size, NULL);

        return is_image(json_array_get(j, 0));
}

static bool has_tag(json_t *image, const char *wanted) {
        json_t *tag;
        size_t i;

        json_array_foreach(json_object_get(image, "RepoTags"), i, tag)
                if (json_is_string(tag) && import_same_name(json_string_value(tag), wanted))
                        return true;
        return false;
}

static int import_docker_choose(json_t *list, const char *wanted, json_t **ret, Error *reterr) {
        json_t *image, *tag;
        char names[300] = "";
        size_t i, k;

        json_array_foreach(list, i, image) {
                if (!is_image(image))
                        return error_set(reterr, -EBADMSG, "manifest.json of the archive: image %zu has no Config, or no Layers", i + 1);
                if (!wanted || has_tag(image, wanted)) {
                        *ret = image;
                        return 0;
                }
                json_array_foreach(json_object_get(image, "RepoTags"), k, tag)
                        if (json_is_string(tag))
                                import_list_name(names, sizeof(names), json_string_value(tag));
        }
        return error_set(reterr, -ENOENT, "the archive has no image '%.150s'; it has: %s", wanted ? wanted : "", names[0] ? names : "none with a name");
}

/* Detects the type by the first bytes, because the archive does not record it. */
static int layer_type(const Blobdir *b, Part *p, Error *reterr) {
        static const struct {
                const char *magic, *type;
        } types[] = { { "\x1f\x8b", MEDIA_OCI_LAYER "+gzip" }, { "\x28\xb5\x2f\xfd", MEDIA_OCI_LAYER "+zstd" } };
        uint64_t size;
        _cleanup_close_ int fd = blobdir_get(b, &p->digest, &size, reterr);
        char begin[4] = "";

        if (fd < 0)
                return fd;
        if (fd_read_full(fd, begin, sizeof(begin)) < 0)
                return error_set(reterr, -EIO, "blob %s cannot be read", p->digest.text);
        (void) strcpy(p->type, MEDIA_OCI_LAYER);
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if (memcmp(begin, types[i].magic, strlen(types[i].magic)) == 0)
                        (void) strcpy(p->type, types[i].type);
        return 0;
}

static int read_layers(const Contents *a, json_t *names, Part *ret, Error *reterr) {
        json_t *name;
        size_t i;

        json_array_foreach(names, i, name) {
                const Content *c = json_is_string(name) ? contents_find(a, json_string_value(name)) : NULL;
                int r;

                if (!c || c->text)
                        return error_set(reterr, -EBADMSG, "the archive has no layer '%.200s'", json_is_string(name) ? json_string_value(name) : "(no text)");
                ret[i] = (Part) { .digest = c->digest, .size = c->size };
                r = layer_type(a->blobs, ret + i, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int import_image(const Contents *a, json_t *image, const char *name, const Platform *platform, Error *reterr) {
        json_t *names = json_object_get(image, "Layers");
        size_t n = json_array_size(names), size;
        _cleanup_free_ Part *parts = NULL;
        _cleanup_free_ char *config = NULL;
        int r;

        if (n == 0 || n > MANIFEST_LAYERS_MAX)
                return error_set(reterr, -EBADMSG, "the image in the archive has no layers, or more than %d", MANIFEST_LAYERS_MAX);
        parts = calloc(n, sizeof(*parts));
        if (!parts)
                return error_set(reterr, -ENOMEM, "out of memory");
        config = contents_text(a, json_string_value(json_object_get(image, "Config")), IMAGECONFIG_SIZE_MAX, &size, reterr);
        if (!config)
                return reterr->code;
        r = read_layers(a, names, parts, reterr);
        return r < 0 ? r : assemble_image(a->blobs, name, config, size, platform, parts, n, reterr);
}

int import_docker(const Contents *a, const Arguments *arguments, Error *reterr) {
        _cleanup_json_ json_t *list = NULL;
        _cleanup_free_ char *text = NULL;
        json_t *image = NULL;
        const char *name;
        size_t size;
        int r;

        text = contents_text(a, "manifest.json", MANIFEST_SIZE_MAX, &size, reterr);
        if (!text)
                return reterr->code;
        list = document_parse_list(text, size, reterr);
        if (!list)
                return error_prefix(reterr, -EBADMSG, "manifest.json of the archive");
        r = import_docker_choose(list, arguments->wanted, &image, reterr);
        if (r < 0)
                return r;
        name = arguments->wanted ? arguments->wanted : json_string_value(json_array_get(json_object_get(image, "RepoTags"), 0));
        return import_image(a, image, name ? name : "", &arguments->platform, reterr);
}
