/* oci.c: reads and writes the parts of an OCI configuration that cove uses. The input is untrusted: fields of
 * the wrong type are ignored, excess is refused. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/secret.h"
#include "image/internal.h"
#include "json/shape.h"

#define LABEL_START "dev.cove.start"
#define LABEL_READY "dev.cove.ready"

static int oci_read_text(const json_t *object, const char *key, char **ret) {
        const char *text = json_string_value(json_object_get(object, key));

        return text && *text ? string_copy(ret, text) : 0;
}

static int oci_read_list(const json_t *object, const char *key, Strv *ret) {
        const json_t *item;
        size_t k;
        int r = 0;

        json_array_foreach(json_object_get(object, key), k, item)
                if (json_is_string(item) && r >= 0)
                        r = strv_push(ret, json_string_value(item));
        return r;
}

/* Skips entries that are no variables ("=x", ""), which the creation of a sandbox would refuse. */
static int oci_read_env(const json_t *object, Strv *ret) {
        const json_t *item;
        size_t k;
        int r = 0;

        json_array_foreach(json_object_get(object, "Env"), k, item) {
                const char *text = json_string_value(item);

                if (text && strchr(text, '=') && *text != '=' && r >= 0)
                        r = strv_set_env(ret, text);
        }
        return r;
}

static int read_keys(json_t *object, const char *key, Strv *ret) {
        const char *name;
        json_t *value;
        int r = 0;

        json_object_foreach(json_object_get(object, key), name, value)
                if (r >= 0)
                        r = strv_push(ret, name);
        return r;
}

static int read_labels(json_t *object, ImageConfig *ret) {
        json_t *labels = json_object_get(object, "Labels"), *value;
        const char *name;
        int r = oci_read_text(labels, LABEL_START, &ret->start_command);

        if (r >= 0)
                r = oci_read_text(labels, LABEL_READY, &ret->ready_command);
        json_object_foreach(labels, name, value) {
                char *label;

                if (r < 0 || !json_is_string(value) || strcmp(name, LABEL_START) == 0 || strcmp(name, LABEL_READY) == 0)
                        continue;
                if (asprintf(&label, "%s=%s", name, json_string_value(value)) < 0)
                        return -ENOMEM;
                r = strv_push_take(&ret->labels, label);
                if (r < 0)
                        free(label);
        }
        return r;
}

int image_config_read(const json_t *config, ImageConfig *ret, Error *reterr) {
        json_t *inner = json_object_get(config, "config"), *c = json_is_object(inner) ? inner : (json_t *) config;
        ImageConfig k;
        int r = image_config_copy(&(ImageConfig) { 0 }, &k);

        if (r >= 0)
                r = oci_read_text(c, "WorkingDir", &k.workdir);
        if (r >= 0)
                r = oci_read_text(c, "User", &k.user);
        if (r >= 0)
                r = oci_read_env(c, &k.env);
        if (r >= 0)
                r = oci_read_list(c, "Entrypoint", &k.entrypoint);
        if (r >= 0)
                r = oci_read_list(c, "Cmd", &k.cmd);
        if (r >= 0)
                r = read_keys(c, "ExposedPorts", &k.exposed);
        if (r >= 0)
                r = read_labels(c, &k);
        if (r < 0) {
                image_config_done(&k);
                return error_set(reterr, r, r == -E2BIG ? "the image's configuration has a list of more than %d" : "out of memory (%d)", IMAGE_STRINGS_MAX);
        }
        if (k.workdir && k.workdir[0] != '/') { /* relative to the root, as in docker */
                char *absolute;

                if (asprintf(&absolute, "/%s", k.workdir) >= 0) {
                        free(k.workdir);
                        k.workdir = absolute;
                }
        }
        *ret = k;
        return 0;
}

static json_t *keys_json(const Strv *v) {
        json_t *map = json_object();

        for (size_t i = 0; i < v->n; i++)
                (void) json_object_set_new(map, v->items[i], json_object());
        return map;
}

static json_t *oci_labels_json(const ImageConfig *c) {
        json_t *map = json_object();

        for (size_t i = 0; i < c->labels.n; i++) {
                const char *equals = strchr(c->labels.items[i], '=');
                _cleanup_free_ char *name = equals ? strndup(c->labels.items[i], (size_t) (equals - c->labels.items[i])) : NULL;

                if (name)
                        (void) json_object_set_new(map, name, json_text_or_null(equals + 1));
        }
        if (c->start_command)
                (void) json_object_set_new(map, LABEL_START, json_text_or_null(c->start_command));
        if (c->ready_command)
                (void) json_object_set_new(map, LABEL_READY, json_text_or_null(c->ready_command));
        return map;
}

json_t *image_config_write(const ImageConfig *c) {
        json_t *j = json_pack("{s:o,s:o,s:o,s:o,s:o}",
                        "Env", json_strings(&c->env),
                        "Entrypoint", c->entrypoint.n > 0 ? json_strings(&c->entrypoint) : json_null(),
                        "Cmd", c->cmd.n > 0 ? json_strings(&c->cmd) : json_null(),
                        "ExposedPorts", keys_json(&c->exposed),
                        "Labels", oci_labels_json(c));

        if (c->workdir)
                (void) json_object_set_new(j, "WorkingDir", json_text_or_null(c->workdir));
        if (c->user)
                (void) json_object_set_new(j, "User", json_text_or_null(c->user));
        return j;
}

int image_digest(const Image *image, char ret[static DIGEST_LENGTH + 1]) {
        _cleanup_json_ json_t *j = json_pack("{s:s,s:o,s:o,s:o}",
                        "layer", image->layer,
                        "base", json_text_or_null(image->base),
                        "snapshot", json_text_or_null(image->snapshot),
                        "config", image_config_write(&image->config));
        _cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        uint8_t sum[SECRET_SHA256_SIZE];

        if (!text)
                return -ENOMEM;
        secret_sha256(text, strlen(text), sum);
        memcpy(ret, DIGEST_PREFIX, strlen(DIGEST_PREFIX));
        secret_hex(sum, sizeof(sum), ret + strlen(DIGEST_PREFIX));
        return 0;
}

uint64_t tree_result_bytes(const char *line) {
        _cleanup_json_ json_t *j = json_loads(line, 0, NULL);
        const json_t *result = json_object_get(j, "result"), *progress = json_object_get(j, "progress");
        json_int_t n = json_integer_value(json_object_get(result ? result : progress, "bytes"));

        return n > 0 ? (uint64_t) n : 0;
}
