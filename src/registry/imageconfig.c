#include "registry/imageconfig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "registry/document.h"

#define LIST_MAX 4096

/* Each function makes a new value from an existing one, or an empty value. It returns NULL if the type is
 * wrong or memory runs out. */

static json_t *clean_text(json_t *v) {
        return json_is_null(v) ? json_string("") : json_is_string(v) ? json_copy(v) : NULL;
}

static json_t *clean_list(json_t *v) {
        json_t *list = json_array(), *item;
        size_t i;

        if (json_is_null(v))
                return list;
        if (!json_is_array(v) || json_array_size(v) > LIST_MAX) {
                json_decref(list);
                return NULL;
        }
        json_array_foreach(v, i, item)
                if (!json_is_string(item) || json_array_append(list, item) < 0) {
                        json_decref(list);
                        return NULL;
                }
        return list;
}

static json_t *clean_object(json_t *v, bool texts) {
        json_t *object = json_object(), *item;
        const char *key;

        if (json_is_null(v))
                return object;
        if (!json_is_object(v) || json_object_size(v) > LIST_MAX) {
                json_decref(object);
                return NULL;
        }
        json_object_foreach(v, key, item)
                if ((texts && !json_is_string(item)) ||
                    (texts ? json_object_set(object, key, item) : json_object_set_new(object, key, json_object())) < 0) {
                        json_decref(object);
                        return NULL;
                }
        return object;
}

static json_t *clean_labels(json_t *v) {
        return clean_object(v, /* texts= */ true);
}

static json_t *clean_set(json_t *v) {
        return clean_object(v, /* texts= */ false);
}

static const struct {
        const char *name, *type;
        json_t *(*clean)(json_t *v);
} fields[] = {
        { "Env",          "list of texts",   clean_list   },
        { "WorkingDir",   "text",            clean_text   },
        { "User",         "text",            clean_text   },
        { "Entrypoint",   "list of texts",   clean_list   },
        { "Cmd",          "list of texts",   clean_list   },
        { "ExposedPorts", "object",          clean_set    },
        { "Labels",       "object of texts", clean_labels },
        { "Shell",        "list of texts",   clean_list   },
};

static int imageconfig_read_fields(json_t *given, json_t **ret, Error *reterr) {
        _cleanup_json_ json_t *clean = json_object();

        if (given && !json_is_null(given) && !json_is_object(given))
                return error_set(reterr, -EBADMSG, "'config' is no object");
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                json_t *v = json_object_get(given, fields[i].name);

                if (json_object_set_new(clean, fields[i].name, fields[i].clean(v ? v : json_null())) < 0)
                        return error_set(reterr, -EBADMSG, "'config.%s' is no %s, or too long", fields[i].name, fields[i].type);
        }
        *ret = TAKE_PTR(clean);
        return 0;
}

static int read_diff_ids(json_t *j, size_t n_layers, Imageconfig *c, Error *reterr) {
        json_t *list = json_object_get(json_object_get(j, "rootfs"), "diff_ids");
        size_t n = json_array_size(list);

        if (!json_is_array(list) || n > MANIFEST_LAYERS_MAX)
                return error_set(reterr, -EBADMSG, "'rootfs.diff_ids' is no list, or has more than %d members", MANIFEST_LAYERS_MAX);
        if (n_layers != SIZE_MAX && n != n_layers)
                return error_set(reterr, -EBADMSG, "it has %zu diff ids for %zu layers", n, n_layers);
        c->diff_ids = calloc(n + 1, sizeof(*c->diff_ids));
        if (!c->diff_ids)
                return error_set(reterr, -ENOMEM, "out of memory");
        for (; c->n < n; c->n++) {
                const char *text = json_string_value(json_array_get(list, c->n));

                if (!text || !digest_is_valid(text))
                        return error_set(reterr, -EBADMSG, "'rootfs.diff_ids' has '%.100s', which is not a digest", text ? text : "something else");
                memcpy(c->diff_ids[c->n].text, text, DIGEST_SIZE + 1);
        }
        return 0;
}

int imageconfig_read(const char *data, size_t size, size_t n_layers, Imageconfig *ret, Error *reterr) {
        _cleanup_json_ json_t *j = document_parse(data, size, reterr);
        Imageconfig c = { 0 };
        int r = j ? 0 : -EBADMSG;

        if (r >= 0)
                r = document_text(j, "os", c.platform.os, sizeof(c.platform.os), reterr);
        if (r >= 0)
                r = document_text(j, "architecture", c.platform.architecture, sizeof(c.platform.architecture), reterr);
        if (r >= 0)
                r = document_text(j, "variant", c.platform.variant, sizeof(c.platform.variant), reterr);
        if (r >= 0)
                r = imageconfig_read_fields(json_object_get(j, "config"), &c.config, reterr);
        if (r >= 0)
                r = read_diff_ids(j, n_layers, &c, reterr);
        if (r < 0) {
                imageconfig_done(&c);
                return error_prefix(reterr, r, "the image's configuration");
        }
        *ret = c;
        return 0;
}

void imageconfig_done(Imageconfig *c) {
        json_decref(c->config);
        free(c->diff_ids);
        *c = (Imageconfig) { 0 };
}

int imageconfig_check_platform(const Imageconfig *c, const Platform *wanted, Error *reterr) {
        char have[100], want[100];

        if (!c->platform.os[0] || !c->platform.architecture[0] || platform_match(wanted, &c->platform) > 0)
                return 0;
        return error_set(reterr, -ENOENT, "the image is for the platform %s, and there is none for %s", platform_print(&c->platform, have, sizeof(have)),
                         platform_print(wanted, want, sizeof(want)));
}
