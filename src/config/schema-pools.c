/* schema-pools.c: warm pools, one per template and profile. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/schema.h"
#include "core/warmer.h"

#define POOLS_MAX 100
#define WHERE_MAX 64

static const PoolConfig pool_defaults = {
        .template_name = "host",
        .min_size = 2,
        .max_size = 10,
        .max_idle_usec = 300 * USEC_PER_SEC,
        .max_lifetime_usec = 3600 * USEC_PER_SEC,
        .acquire_timeout_usec = 30 * USEC_PER_SEC,
        .eviction_interval_usec = 60 * USEC_PER_SEC,
        .adaptive = true,
};

static void parse_contexts(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        unsigned *mask = (unsigned *) (void *) ((char *) target + f->offset);

        if (v->kind != YAML_LIST) {
                reader_complain(r, v->place, "'%s' in %s must be %s", f->name, where, f->type->words);
                return;
        }
        *mask = 0;
        for (const YamlNode *item = v->items; item; item = item->next) {
                unsigned i = 0;

                while (context_words[i] && (item->kind != YAML_TEXT || strcmp(context_words[i], item->text) != 0))
                        i++;
                if (context_words[i])
                        *mask |= 1u << i;
                else
                        reader_complain(r, item->place, "'%s' in %s: there is no language '%.40s'; there are python, javascript, typescript, bash, r and java", f->name, where,
                                        item->kind == YAML_TEXT ? item->text : "?");
        }
}

static json_t *show_contexts(const Field *f, const void *target) {
        unsigned mask = *(const unsigned *) (const void *) ((const char *) target + f->offset);
        json_t *list = json_array();

        for (unsigned i = 0; context_words[i]; i++)
                if (mask & 1u << i)
                        (void) json_array_append_new(list, json_string(context_words[i]));
        return list;
}

static const FieldType type_contexts = { "a list of languages", parse_contexts, show_contexts, NULL };

static const char *const networks[] = { "none", "egress", NULL };

const Field pool_fields[] = {
        { "template", &type_name, offsetof(PoolConfig, template_name),
          "default: the profile's, else host", .room = sizeof(pool_defaults.template_name), .example = "host" },
        { "profile", &type_name, offsetof(PoolConfig, profile),
          "without: for callers who name none", .room = sizeof(pool_defaults.profile), .example = "IMPLEMENTATION" },
        { "network", &type_choice, offsetof(PoolConfig, gated),
          "egress: made with a way out through the gate, for callers who say what they reach; none: as the profile's policy says", .words = networks },
        { "persistent", &type_bool, offsetof(PoolConfig, persistent), "their disks are kept, also where the profile does not say it" },
        { "disk", &type_size, offsetof(PoolConfig, disk_bytes), "instead of the profile's; 0: as that says" },
        { "minSize", &type_uint, offsetof(PoolConfig, min_size), "stand ready at least", .max = 10000 },
        { "maxSize", &type_uint, offsetof(PoolConfig, max_size), "idle, being made and in use together", .min = 1, .max = 10000 },
        { "maxIdleTime", &type_milliseconds, offsetof(PoolConfig, max_idle_usec),
          "idle for longer goes, above minSize", .min = 0.01 },
        { "maxLifetime", &type_milliseconds, offsetof(PoolConfig, max_lifetime_usec), "of one that nobody claims", .min = 0.01 },
        { "acquireTimeout", &type_milliseconds, offsetof(PoolConfig, acquire_timeout_usec),
          "how long a caller waits for one", .max = 86400 },
        { "evictionInterval", &type_milliseconds, offsetof(PoolConfig, eviction_interval_usec),
          "how often idle ones are looked at", .min = 0.01, .max = 86400 },
        { "contexts", &type_contexts, offsetof(PoolConfig, contexts), "interpreters that are begun ahead: [python]" },
        { "adaptive", &type_bool, offsetof(PoolConfig, adaptive),
          "how many stand ready follows the demand, between minSize and maxSize" },
        { 0 },
};

const void *pool_fresh(void) {
        return &pool_defaults;
}

static void parse_pools(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        Config *c = target;
        size_t n = 0;

        if (!read_is(r, v, YAML_LIST, "section pools"))
                return;
        for (const YamlNode *item = v->items; item; item = item->next)
                n++;
        if (n > POOLS_MAX) {
                reader_complain(r, v->place, "section pools has %zu entries, may have %d", n, POOLS_MAX);
                return;
        }
        free(c->pools);
        c->n_pools = 0;
        c->pools = calloc(MAX_OF(n, (size_t) 1), sizeof(*c->pools));
        if (!c->pools) {
                reader_fail(r, -ENOMEM);
                return;
        }
        for (const YamlNode *item = v->items; item; item = item->next) {
                char place[WHERE_MAX];

                c->pools[c->n_pools] = pool_defaults;
                (void) snprintf(place, sizeof(place), "pool %zu", c->n_pools + 1);
                read_fields(r, f->fields, item, place, c->pools + c->n_pools++);
        }
}

static json_t *show_pools(const Field *f, const void *target) {
        const Config *c = target;
        json_t *list = json_array();

        for (size_t i = 0; i < c->n_pools; i++)
                (void) json_array_append_new(list, show_fields(f->fields, c->pools + i));
        return list;
}

const FieldType type_pools = { "a list of pools", parse_pools, show_pools, NULL };

static YamlPlace schema_pools_place_of(const YamlNode *pool, const char *key) {
        const YamlNode *v = yaml_tree_get(pool, key);

        return v ? v->place : pool->place;
}

static void complain_profile(Reader *r, const Config *c, const YamlNode *node, const PoolConfig *p, size_t number) {
        Guess guess = guess_new(p->profile);
        char text[128];

        for (size_t i = 0; i < c->n_profiles; i++)
                guess_look(&guess, c->profiles[i].name);
        reader_complain(r, schema_pools_place_of(node, "profile"), "pool %zu is of a profile '%s' that does not exist%s", number, p->profile,
                        guess_text(&guess, text));
}

static void schema_pools_finish(Reader *r, const Config *c, const YamlNode *node, PoolConfig *p, size_t number) {
        const Profile *profile = *p->profile ? profile_find(c, p->profile) : NULL;

        if (*p->profile && !profile)
                complain_profile(r, c, node, p, number);
        if (profile) {
                memcpy(p->profile, profile->name, sizeof(p->profile));
                if (profile->template_name && !yaml_tree_get(node, "template"))
                        (void) snprintf(p->template_name, sizeof(p->template_name), "%s", profile->template_name);
        }
        if (p->min_size > p->max_size)
                reader_complain(r, schema_pools_place_of(node, "minSize"), "pool %zu: minSize %u is above maxSize %u", number, p->min_size, p->max_size);
        for (size_t i = 0; i + 1 < number; i++)
                if (strcmp(c->pools[i].template_name, p->template_name) == 0 && strcasecmp(c->pools[i].profile, p->profile) == 0)
                        reader_complain(r, node->place, "pool %zu has the same template '%s' and profile '%s' as pool %zu", number,
                                        p->template_name, p->profile, i + 1);
}

void pools_finish(Reader *r, Config *c, const YamlNode *root) {
        const YamlNode *section = yaml_tree_get(root, "pools"), *node = section && section->kind == YAML_LIST ? section->items : NULL;

        for (size_t i = 0; i < c->n_pools && node; i++, node = node->next)
                schema_pools_finish(r, c, node, c->pools + i, i + 1);
}
