/* config.c: reads a file or a text into a Config. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "config/schema.h"

static void complain_duplicates(Reader *r, const YamlNode *map) {
        for (const YamlNode *v = map->items; v; v = v->next) {
                complain_duplicates(r, v);
                for (const YamlNode *before = map->items; before != v && map->kind == YAML_MAP; before = before->next)
                        if (strcmp(before->key, v->key) == 0) {
                                reader_complain(r, v->key_place, "'%.100s' is there already, in line %u", v->key, before->key_place.line);
                                break;
                        }
        }
}

/* Kind s3 needs all of these keys. */
static void check_artifacts(Reader *r, const Config *c, const YamlNode *root) {
        const struct {
                const char *key, *value;
        } wanted[] = {
                { "endpoint", c->artifacts.endpoint },
                { "bucket", c->artifacts.bucket },
                { "accessKey", c->artifacts.access_key },
                { "secretKey", c->artifacts.secret_key },
        };
        const YamlNode *section = yaml_tree_get(root, "artifacts");

        for (size_t i = 0; i < ELEMENTSOF(wanted) && c->artifacts.s3; i++)
                if (!wanted[i].value && !yaml_tree_get(section, wanted[i].key))
                        reader_complain(r, section->key_place, "section artifacts is of kind s3 and has no %s", wanted[i].key);
}

static bool config_is_variable(const char *name) {
        return (*name < '0' || *name > '9') && *name && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static void check_secrets(Reader *r, const Config *c, const YamlNode *root) {
        const YamlNode *section = yaml_tree_get(root, "secrets");

        for (size_t i = 0; i < c->secrets.environment.n; i++)
                if (!config_is_variable(c->secrets.environment.items[i]))
                        reader_complain(r, section->key_place, "'environment' in section secrets: '%.100s' cannot be the name of a variable",
                                        c->secrets.environment.items[i]);
}

/* Otherwise every build would fail, in a step that the user has not written. */
static void check_build(Reader *r, const Config *c, const YamlNode *root) {
        if (c->build.network == BUILD_NETWORK_OPEN && !c->network.allow_open)
                reader_complain(r, yaml_key_place(yaml_tree_get(root, "build"), "network"),
                                "'network' in section build: 'open' needs 'allowOpen: true' in section network, which says that sandboxes may have it");
}

static void read_root(Reader *r, const YamlNode *root, Config *c) {
        r->config = c;
        complain_duplicates(r, root);
        yaml_read(r, &config_shape, root, YAML_FILE, c);
        network_finish(r, c);
        profiles_finish(r, c, root); /* after the network, which their policies need */
        pools_finish(r, c, root); /* after the profiles, whose names they use */
        alerts_finish(r, c, root);
        check_artifacts(r, c, root);
        check_secrets(r, c, root);
        check_build(r, c, root);
        network_check_proxy(r, c, root);
}

int config_parse(const ConfigHooks *hooks, const char *text, size_t size, const char *name, ConfigComplain complain, void *userdata,
                Config **ret, Error *reterr) {
        static const ConfigHooks none;
        Reader r = { .file = name, .complain = complain, .userdata = userdata, .hooks = hooks ? hooks : &none };
        _cleanup_config_ Config *c = NULL;
        _cleanup_yaml_ YamlNode *root = NULL;
        Error error = { 0 };
        YamlPlace place;
        int k;

        k = config_defaults(&c);
        if (k < 0)
                return error_set(reterr, k, "out of memory");
        k = yaml_tree_parse(text, size, &root, &place, &error);
        if (k == -EBADMSG)
                reader_complain(&r, place, "%s", error.text);
        else if (k < 0)
                return error_set(reterr, k, "%s", error.text);
        else
                read_root(&r, root, c);
        k = reader_tell(&r, reterr);
        if (k >= 0)
                *ret = TAKE_PTR(c);
        return k;
}

int config_read(const ConfigHooks *hooks, const char *path, ConfigComplain complain, void *userdata, Config **ret, Error *reterr) {
        _cleanup_config_ Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = file_read_alloc(AT_FDCWD, path, YAML_SIZE_MAX, &text, &size);
        if (r < 0)
                return error_set(reterr, r, "cannot read the config file '%s': %m", path);
        r = config_parse(hooks, text, size, path, complain, userdata, &c, reterr);
        if (r < 0)
                return r;
        c->path = strdup(path);
        if (!c->path)
                return error_set(reterr, -ENOMEM, "out of memory");
        *ret = TAKE_PTR(c);
        return 0;
}

/* Splits at the first match: a file name may contain colons, but hardly ":NUMBER:NUMBER: ". */
const char *config_complaint_split(const char *complaint, unsigned *ret_line, unsigned *ret_column) {
        for (const char *p = strchr(complaint, ':'); p; p = strchr(p + 1, ':')) {
                int skip = 0;

                if (sscanf(p, ":%u:%u: %n", ret_line, ret_column, &skip) == 2 && skip > 0)
                        return p + skip;
        }
        *ret_line = *ret_column = 0;
        return complaint;
}

CoreSettings core_settings(const Config *c) {
        return (CoreSettings) {
                .limits = &c->limits,
                .ceilings = &c->ceilings,
                .profiles = c->profiles, .n_profiles = c->n_profiles,
                .pools = c->pools,       .n_pools = c->n_pools,
                .zygotes = c->zygotes,   .n_zygotes = c->n_zygotes,
                .record_by_default = c->recording.by_default,
                .probe_timeout_usec = c->cleanup.health_timeout_usec,
        };
}
