/* schema-zygotes.c: interpreters that stand ready, one per template and language. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"

#define ZYGOTES_MAX 8  /* as spawner/zygote.h */
#define IMPORTS_MAX 32
#define NAME_MAX_MODULE 63
#define WHERE_MAX   64

static const ZygoteConfig zygote_defaults = {
        .template_name = "base",
        .language = "python",
        .imports = STRV_INIT(IMPORTS_MAX),
};

const Field zygote_fields[] = {
        { "template", &type_name, offsetof(ZygoteConfig, template_name),
          "host, base, or one of daemon.template: made of files that the operator has chosen, never of a tenant's", .room = sizeof(zygote_defaults.template_name),
          .example = "base" },
        { "language", &type_name, offsetof(ZygoteConfig, language), "python", .room = sizeof(zygote_defaults.language), .example = "python" },
        { "imports", &type_strings, offsetof(ZygoteConfig, imports), "modules that are loaded ahead: [numpy, pandas]" },
        { 0 },
};

const void *zygote_fresh(void) {
        return &zygote_defaults;
}

void zygotes_free(Config *c) {
        for (size_t i = 0; i < c->n_zygotes; i++)
                strv_done(&c->zygotes[i].imports);
        free(c->zygotes);
        c->zygotes = NULL;
        c->n_zygotes = 0;
}

static void parse_zygotes(Reader *r, const Field *f, const YamlNode *v, const char *where, void *target) {
        Config *c = target;
        size_t n = 0;

        if (!read_is(r, v, YAML_LIST, "section zygotes"))
                return;
        for (const YamlNode *item = v->items; item; item = item->next)
                n++;
        if (n > ZYGOTES_MAX) {
                reader_complain(r, v->place, "section zygotes has %zu entries, may have %d", n, ZYGOTES_MAX);
                return;
        }
        zygotes_free(c);
        c->zygotes = calloc(MAX_OF(n, (size_t) 1), sizeof(*c->zygotes));
        if (!c->zygotes) {
                reader_fail(r, -ENOMEM);
                return;
        }
        for (const YamlNode *item = v->items; item; item = item->next) {
                char place[WHERE_MAX];

                c->zygotes[c->n_zygotes] = zygote_defaults;
                (void) snprintf(place, sizeof(place), "zygote %zu", c->n_zygotes + 1);
                read_fields(r, f->fields, item, place, c->zygotes + c->n_zygotes++);
        }
}

static json_t *show_zygotes(const Field *f, const void *target) {
        const Config *c = target;
        json_t *list = json_array();

        for (size_t i = 0; i < c->n_zygotes; i++)
                (void) json_array_append_new(list, show_fields(f->fields, c->zygotes + i));
        return list;
}

const FieldType type_zygotes = { "a list of zygotes", parse_zygotes, show_zygotes, NULL };

static bool is_module(const char *name) {
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

        return n > 0 && n <= NAME_MAX_MODULE && name[n] == '\0' && name[0] != '.' && (name[0] < '0' || name[0] > '9');
}

static YamlPlace schema_zygotes_place_of(const YamlNode *zygote, const char *key) {
        const YamlNode *v = yaml_tree_get(zygote, key);

        return v ? v->place : zygote->place;
}

/* Which templates there are, the daemon knows when it starts. */
static void schema_zygotes_finish(Reader *r, const Config *c, const YamlNode *node, const ZygoteConfig *z, size_t number) {
        if (strcmp(z->language, "python") != 0)
                reader_complain(r, schema_zygotes_place_of(node, "language"), "zygote %zu: there are none for '%s'; there are for python", number, z->language);
        for (size_t i = 0; i < z->imports.n; i++)
                if (!is_module(z->imports.items[i]))
                        reader_complain(r, schema_zygotes_place_of(node, "imports"), "zygote %zu: '%.100s' cannot be the name of a module", number, z->imports.items[i]);
        for (size_t i = 0; i + 1 < number; i++)
                if (strcmp(c->zygotes[i].template_name, z->template_name) == 0 && strcmp(c->zygotes[i].language, z->language) == 0)
                        reader_complain(r, node->place, "zygote %zu has the same template '%s' and language '%s' as zygote %zu", number, z->template_name,
                                        z->language, i + 1);
}

void zygotes_finish(Reader *r, Config *c, const YamlNode *root) {
        const YamlNode *section = yaml_tree_get(root, "zygotes"), *node = section && section->kind == YAML_LIST ? section->items : NULL;

        for (size_t i = 0; i < c->n_zygotes && node; i++, node = node->next)
                schema_zygotes_finish(r, c, node, c->zygotes + i, i + 1);
}
