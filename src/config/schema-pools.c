/* schema-pools.c: warm pools, one per template and profile; zygotes, one per template and language. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/schema.h"
#include "core/warmer.h"

#define IMPORTS_MAX     32
#define NAME_MAX_MODULE 63

static void yaml_read_contexts(const YamlValue *v) {
        uint32_t mask = 0;

        if (v->node->kind != YAML_LIST) {
                yaml_complain(v, " must be %s", yaml_words(v->field));
                return;
        }
        for (const YamlNode *item = v->node->items; item; item = item->next) {
                unsigned i = 0;

                while (context_words[i] && (item->kind != YAML_TEXT || strcmp(context_words[i], item->text) != 0))
                        i++;
                if (context_words[i])
                        mask |= 1u << i;
                else
                        yaml_complain_at(v, item->place, ": there is no language '%.40s'; there are python, javascript, typescript, bash, r and java",
                                        item->kind == YAML_TEXT ? item->text : "?");
        }
        (void) shape_set(v->field, v->object, mask);
}

static json_t *yaml_show_contexts(const ShapeField *f, const void *object) {
        json_t *list = json_array();

        for (unsigned i = 0; context_words[i]; i++)
                if (shape_get(f, object) & 1u << i)
                        (void) json_array_append_new(list, json_string(context_words[i]));
        return list;
}

static const ShapeYaml contexts_yaml = { .words = "a list of languages", .parse = yaml_read_contexts, .show = yaml_show_contexts };

static const char *const pool_words[] = { "none", "egress" };
static const ShapeNames pool_networks = SHAPE_WORDS(pool_words);

static const ShapeField pool_config_fields[] = {
        { "template", KEY_NAME(PoolConfig, template_name), .initial = "host", .example = "host", .help = "default: the profile's, or host" },
        { "profile", KEY_NAME(PoolConfig, profile), .example = "IMPLEMENTATION", .help = "default: none, for requests without a profile" },
        { "network", KEY_CHOICE(PoolConfig, gated, pool_networks),
          .help = "egress: created with a way out through the gate, for requests with network rules; none: as the profile's policy says" },
        { "persistent", KEY_BOOL(PoolConfig, persistent), .help = "keep the disks, even if the profile does not say so" },
        { "disk", KEY_SIZE(PoolConfig, disk_bytes), .help = "disk limit; 0: the profile's" },
        { "minSize", KEY_COUNT(PoolConfig, min_size), .max = 10000, .initial = "2", .help = "minimum of ready sandboxes" },
        { "maxSize", KEY_COUNT(PoolConfig, max_size), .min = 1, .max = 10000, .initial = "10", .help = "maximum of sandboxes that are ready, being created and in use together" },
        { "maxIdleTime", KEY_MILLISECONDS(PoolConfig, max_idle_usec), .min = 10, .initial = "5m", .help = "ready sandboxes above minSize are removed after this time" },
        { "maxLifetime", KEY_MILLISECONDS(PoolConfig, max_lifetime_usec), .min = 10, .initial = "1h", .help = "maximum age of a sandbox that is not claimed" },
        { "acquireTimeout", KEY_MILLISECONDS(PoolConfig, acquire_timeout_usec), .max = 86400000, .initial = "30s",
          .help = "how long a request waits for a sandbox" },
        { "evictionInterval", KEY_MILLISECONDS(PoolConfig, eviction_interval_usec), .min = 10, .max = 86400000, .initial = "1m",
          .help = "how often ready sandboxes are checked" },
        { "contexts", SHAPE_UINT32, offsetof(PoolConfig, contexts), .yaml = &contexts_yaml,
          .help = "interpreters to start in advance: [python]" },
        { "adaptive", KEY_BOOL(PoolConfig, adaptive), .initial = "true",
          .help = "adapt the number of ready sandboxes to the demand, between minSize and maxSize" },
};
const Shape pool_config_shape = SHAPE_OF(pool_config, PoolConfig);
const ShapeYaml pools_yaml = { .words = "a list of pools", .item = "pool" };

static void pool_complain_profile(Reader *r, const Config *c, const YamlNode *node, const PoolConfig *p, size_t number) {
        Guess guess = guess_new(p->profile);
        char text[128];

        for (size_t i = 0; i < c->n_profiles; i++)
                guess_look(&guess, c->profiles[i].name);
        reader_complain(r, yaml_key_place(node, "profile"), "pool %zu is of a profile '%s' that does not exist%s", number, p->profile,
                        guess_text(&guess, text));
}

static void pool_finish(Reader *r, const Config *c, const YamlNode *node, PoolConfig *p, size_t number) {
        const Profile *profile = *p->profile ? profile_find(c, p->profile) : NULL;

        if (*p->profile && !profile)
                pool_complain_profile(r, c, node, p, number);
        if (profile) {
                memcpy(p->profile, profile->name, sizeof(p->profile));
                if (profile->template_name && !yaml_tree_get(node, "template"))
                        (void) snprintf(p->template_name, sizeof(p->template_name), "%s", profile->template_name);
        }
        if (p->min_size > p->max_size)
                reader_complain(r, yaml_key_place(node, "minSize"), "pool %zu: minSize %u is above maxSize %u", number, p->min_size, p->max_size);
        for (size_t i = 0; i + 1 < number; i++)
                if (strcmp(c->pools[i].template_name, p->template_name) == 0 && strcasecmp(c->pools[i].profile, p->profile) == 0)
                        reader_complain(r, node->place, "pool %zu has the same template '%s' and profile '%s' as pool %zu", number,
                                        p->template_name, p->profile, i + 1);
}

void pools_finish(Reader *r, Config *c, const YamlNode *root) {
        const YamlNode *section = yaml_tree_get(root, "pools"), *node = section && section->kind == YAML_LIST ? section->items : NULL;

        for (size_t i = 0; i < c->n_pools && node; i++, node = node->next)
                pool_finish(r, c, node, c->pools + i, i + 1);
}

/* Zygotes: interpreters with modules loaded. */

static const ShapeField zygote_config_fields[] = {
        { "template", KEY_NAME(ZygoteConfig, template_name), .initial = "base", .example = "base",
          .help = "host, base, or one of daemon.template: made of files that the operator has chosen, never of a tenant's" },
        { "language", KEY_NAME(ZygoteConfig, language), .initial = "python", .example = "python", .help = "python" },
        { "imports", KEY_STRINGS(ZygoteConfig, imports), .max = IMPORTS_MAX, .help = "modules to load in advance: [numpy, pandas]" },
};
const Shape zygote_config_shape = SHAPE_OF(zygote_config, ZygoteConfig);

static bool zygote_is_module(const char *name) {
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

        return n > 0 && n <= NAME_MAX_MODULE && name[n] == '\0' && name[0] != '.' && (name[0] < '0' || name[0] > '9');
}

/* Whether the template exists is checked when the daemon starts. */
static void zygote_check(const YamlValue *v) {
        const ZygoteConfig *z = v->object, *all = v->reader->config->zygotes;

        if (strcmp(z->language, "python") != 0)
                reader_complain(v->reader, yaml_key_place(v->node, "language"), "%s: there are none for '%s'; there are for python", v->where,
                                z->language);
        for (size_t i = 0; i < z->imports.n; i++)
                if (!zygote_is_module(z->imports.items[i]))
                        reader_complain(v->reader, yaml_key_place(v->node, "imports"), "%s: '%.100s' cannot be the name of a module", v->where,
                                        z->imports.items[i]);
        for (const ZygoteConfig *other = all; other < z; other++)
                if (strcmp(other->template_name, z->template_name) == 0 && strcmp(other->language, z->language) == 0)
                        reader_complain(v->reader, v->node->place, "%s has the same template '%s' and language '%s' as zygote %zu", v->where,
                                        z->template_name, z->language, (size_t) (other - all) + 1);
}

const ShapeYaml zygotes_yaml = { .words = "a list of zygotes", .item = "zygote", .check = zygote_check };
