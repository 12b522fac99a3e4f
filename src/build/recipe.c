#include "build/recipe.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/word.h"
#include "config/yaml.h"

typedef struct Cook {
        const PlanOptions *options;
        Plan *plan;
        PlanStage *stage;
        Error *reterr;
} Cook;

static int recipe_complain(Cook *k, YamlPlace at, const char *format, ...) _printf_(3, 4);
static int recipe_complain(Cook *k, YamlPlace at, const char *format, ...) {
        char text[ERROR_TEXT_MAX];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return error_set(k->reterr, -EINVAL, "%s:%u:%u: %s", k->options->file, at.line, at.column, text);
}

static int out_of_memory(Cook *k) {
        return error_set(k->reterr, -ENOMEM, "out of memory");
}

/* Checks the keys of a map against a list that ends with NULL. */
static int check_keys(Cook *k, const YamlNode *map, const char *where, const char *const *keys) {
        if (map->kind != YAML_MAP)
                return recipe_complain(k, map->place, "%s must be a map of keys", where);
        for (const YamlNode *v = map->items; v; v = v->next) {
                unsigned best = word_tolerance(v->key);
                const char *nearest = NULL;
                bool known = false;

                for (const char *const *key = keys; *key && !known; key++) {
                        known = strcmp(*key, v->key) == 0;
                        if (word_is_nearer(v->key, *key, &best))
                                nearest = *key;
                }
                if (!known)
                        return recipe_complain(k, v->key_place, "unknown key '%.100s' in %s%s%s%s", v->key, where, nearest ? " (did you mean '" : "", nearest ? nearest : "",
                                        nearest ? "'?)" : "");
        }
        return 0;
}

/* *ret is NULL if the key is absent or empty. */
static int recipe_get(Cook *k, const YamlNode *map, const char *key, bool list, const YamlNode **ret) {
        const YamlNode *v = yaml_tree_get(map, key);

        *ret = v && v->kind != YAML_EMPTY ? v : NULL;
        if (*ret && v->kind != (list ? YAML_LIST : YAML_TEXT))
                return recipe_complain(k, v->place, "'%s' must be a %s", key, list ? "list" : "single value");
        return 0;
}

static int get_text(Cook *k, const YamlNode *map, const char *key, const char **ret) {
        const YamlNode *v;
        int r = recipe_get(k, map, key, /* list= */ false, &v);

        *ret = r >= 0 && v ? v->text : NULL;
        return r;
}

static int get_list(Cook *k, const YamlNode *map, const char *key, const YamlNode **ret) {
        int r = recipe_get(k, map, key, /* list= */ true, ret);

        for (const YamlNode *item = r >= 0 && *ret ? (*ret)->items : NULL; item; item = item->next)
                if (item->kind != YAML_TEXT || item->text[0] == '\0')
                        return recipe_complain(k, item->place, "'%s' must be a list of texts", key);
        return r;
}

static PlanStep *recipe_add_step(Cook *k, PlanKind kind, unsigned line, const char *about) {
        PlanStep *s = plan_add_step(k->plan, k->stage);

        if (!s || asprintf(&s->text, "%s %s", plan_kind_name(kind), about) < 0) {
                (void) error_set(k->reterr, -E2BIG, "%s:%u: more than %d steps", k->options->file, line, PLAN_STEPS_MAX);
                return NULL;
        }
        for (char *p = s->text; *p; p++)
                if ((unsigned char) *p < ' ')
                        *p = ' ';
        s->kind = kind;
        s->line = line;
        return s;
}

static int recipe_add_word(Cook *k, PlanStep *s, const char *word) {
        int r = strv_push(&s->words, word);

        return r < 0 ? error_set(k->reterr, r, "%s:%u: too many words", k->options->file, s->line) : 0;
}

static int recipe_add_run(Cook *k, unsigned line, const char *command) {
        PlanStep *s = recipe_add_step(k, PLAN_RUN, line, command);

        return s ? recipe_add_word(k, s, command) : -E2BIG;
}

static int add_literal(Cook *k, const YamlNode *map, PlanKind kind, const char *key) {
        const char *text;
        PlanStep *s;
        int r = get_text(k, map, key, &text);

        if (r < 0 || !text)
                return r;
        s = recipe_add_step(k, kind, yaml_tree_get(map, key)->place.line, text);
        if (!s)
                return -E2BIG;
        s->literal = true;
        return recipe_add_word(k, s, text);
}

/* Escapes a value as in a Dockerfile, so that only variables are expanded. */
static char *protect(const char *value) {
        char *text = malloc(2 * strlen(value) + 1), *to = text;

        if (!text)
                return NULL;
        for (; *value; value++) {
                if (strchr("\\'\"", *value))
                        *to++ = '\\';
                *to++ = *value;
        }
        *to = '\0';
        return text;
}

static bool recipe_is_name(const char *name) {
        if (*name == '\0' || isdigit((unsigned char) *name))
                return false;
        for (; *name; name++)
                if (!isalnum((unsigned char) *name) && *name != '_')
                        return false;
        return true;
}

static int add_pairs(Cook *k, const YamlNode *map, PlanKind kind, const char *key) {
        const YamlNode *v = yaml_tree_get(map, key);
        PlanStep *s;

        if (!v || v->kind == YAML_EMPTY)
                return 0;
        if (v->kind != YAML_MAP)
                return recipe_complain(k, v->place, "'%s' must be a map of names and values", key);
        for (const YamlNode *item = v->items; item; item = item->next) {
                _cleanup_free_ char *value = NULL, *name = NULL;
                int r;

                if (item->kind != YAML_TEXT && item->kind != YAML_EMPTY)
                        return recipe_complain(k, item->place, "%s %.100s must be a single value", key, item->key);
                if (kind == PLAN_ENV && !recipe_is_name(item->key))
                        return recipe_complain(k, item->key_place, "'%.100s' is no name of a variable: letters, digits and '_'", item->key);
                if (*item->key == '\0' || strchr(item->key, '='))
                        return recipe_complain(k, item->key_place, "'%.100s' is no name", item->key);
                s = recipe_add_step(k, kind, item->key_place.line, item->key);
                value = protect(item->kind == YAML_TEXT ? item->text : "");
                name = protect(item->key);
                if (!s || !value || !name)
                        return s ? out_of_memory(k) : -E2BIG;
                r = recipe_add_word(k, s, name);
                if (r >= 0)
                        r = recipe_add_word(k, s, value);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Allows only characters that have no meaning in single quotes of the shell. */
static bool is_package(const char *name) {
        if (*name == '-')
                return false;
        for (; *name; name++)
                if (!isalnum((unsigned char) *name) && !strchr("+-._:=~@/<>![],^*", *name))
                        return false;
        return true;
}

static int add_packages_of(Cook *k, const YamlNode *map, const char *key, const char *before, const char *after) {
        const YamlNode *list;
        char *command = NULL;
        size_t size;
        FILE *f;
        int r = get_list(k, map, key, &list);

        if (r < 0 || !list || !list->items)
                return r;
        f = open_memstream(&command, &size);
        if (!f)
                return out_of_memory(k);
        (void) fputs(before, f);
        for (const YamlNode *item = list->items; item && r >= 0; item = item->next) {
                if (!is_package(item->text))
                        r = recipe_complain(k, item->place, "'%.100s' is no name of a package", item->text);
                (void) fprintf(f, " '%s'", item->text);
        }
        (void) fputs(after, f);
        (void) fclose(f);
        if (r >= 0)
                r = recipe_add_run(k, list->place.line, command);
        free(command);
        return r;
}

static int add_packages(Cook *k, const YamlNode *root) {
        static const struct {
                const char *key, *before, *after;
        } kinds[] = {
                { "apt", "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends", " && rm -rf /var/lib/apt/lists/* && apt-get clean" },
                { "pip", "PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir", "" },
                { "npm", "npm install --global", " && npm cache clean --force" },
        };
        static const char *const keys[] = { "apt", "pip", "npm", NULL };
        const YamlNode *v = yaml_tree_get(root, "packages");
        int r;

        if (!v || v->kind == YAML_EMPTY)
                return 0;
        r = check_keys(k, v, "packages", keys);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(kinds); i++)
                r = add_packages_of(k, v, kinds[i].key, kinds[i].before, kinds[i].after);
        return r;
}

static int recipe_set_text(Cook *k, char **place, const char *text) {
        return string_copy(place, text) < 0 ? out_of_memory(k) : 0;
}

static int add_content(Cook *k, PlanStep *s, const char *content) {
        s->files = calloc(1, sizeof(*s->files));
        if (!s->files)
                return out_of_memory(k);
        s->n_files = 1;
        s->files[0].name = strdup("content");
        s->files[0].data = strdup(content);
        return s->files[0].name && s->files[0].data ? 0 : out_of_memory(k);
}

static int recipe_add_file(Cook *k, const YamlNode *item) {
        static const char *const keys[] = { "path", "content", "source", "mode", "owner", NULL };
        const char *path, *content, *source, *mode, *owner;
        PlanStep *s;
        int r = check_keys(k, item, "an entry of 'files'", keys);

        if (r < 0 || (r = get_text(k, item, "path", &path)) < 0 || (r = get_text(k, item, "content", &content)) < 0 ||
                        (r = get_text(k, item, "source", &source)) < 0 || (r = get_text(k, item, "mode", &mode)) < 0 ||
                        (r = get_text(k, item, "owner", &owner)) < 0)
                return r;
        if (!path || *path != '/')
                return recipe_complain(k, item->place, "an entry of 'files' needs 'path', and an absolute one");
        if (!content == !source)
                return recipe_complain(k, item->place, "file %.100s needs 'content' or 'source', and not both", path);
        if (mode && (strlen(mode) > 5 || mode[strspn(mode, "01234567")] != '\0'))
                return recipe_complain(k, yaml_tree_get(item, "mode")->place, "mode must be an octal number, as in \"0755\", not '%.20s'", mode);
        s = recipe_add_step(k, PLAN_COPY, item->place.line, path);
        if (!s)
                return -E2BIG;
        s->literal = true;
        r = recipe_set_text(k, &s->chmod, mode);
        if (r >= 0)
                r = recipe_set_text(k, &s->chown, owner);
        if (r >= 0)
                r = content ? add_content(k, s, content) : recipe_add_word(k, s, source);
        return r < 0 ? r : recipe_add_word(k, s, path);
}

static int add_files(Cook *k, const YamlNode *root) {
        const YamlNode *v = yaml_tree_get(root, "files");
        int r = 0;

        if (!v || v->kind == YAML_EMPTY)
                return 0;
        if (v->kind != YAML_LIST)
                return recipe_complain(k, v->place, "'files' must be a list, of which each entry has 'path' and 'content' or 'source'");
        for (const YamlNode *item = v->items; item && r >= 0; item = item->next)
                r = recipe_add_file(k, item);
        return r;
}

static int add_commands(Cook *k, const YamlNode *root) {
        const YamlNode *list, *v = yaml_tree_get(root, "run");
        int r;

        if (v && v->kind == YAML_TEXT)
                return recipe_add_run(k, v->place.line, v->text);
        r = get_list(k, root, "run", &list);
        for (const YamlNode *item = list ? list->items : NULL; item && r >= 0; item = item->next)
                r = recipe_add_run(k, item->place.line, item->text);
        return r;
}

static int cook(Cook *k, const YamlNode *root) {
        static const char *const keys[] = { "base", "packages", "files", "env", "run", "user", "workdir", "start", "ready", "labels", "hosts", NULL };
        const YamlNode *hosts;
        const char *base;
        int r;

        if (root->kind == YAML_EMPTY)
                return recipe_complain(k, root->place, "the recipe is empty: it needs at least 'base'");
        r = check_keys(k, root, "the recipe", keys);
        if (r < 0 || (r = get_text(k, root, "base", &base)) < 0 || (r = get_list(k, root, "hosts", &hosts)) < 0)
                return r;
        k->stage = plan_add_stage(k->plan);
        if (!k->stage)
                return out_of_memory(k);
        k->stage->line = base ? yaml_tree_get(root, "base")->place.line : root->place.line;
        k->stage->base = strdup(base ? base : "host");
        if (!k->stage->base || asprintf(&k->stage->text, "FROM %s", k->stage->base) < 0) {
                k->stage->text = NULL;
                return out_of_memory(k);
        }
        if ((r = add_pairs(k, root, PLAN_ENV, "env")) < 0 || (r = add_packages(k, root)) < 0 || (r = add_files(k, root)) < 0 ||
                        (r = add_literal(k, root, PLAN_WORKDIR, "workdir")) < 0 || (r = add_commands(k, root)) < 0 ||
                        (r = add_literal(k, root, PLAN_USER, "user")) < 0 || (r = add_pairs(k, root, PLAN_LABEL, "labels")) < 0 ||
                        (r = add_literal(k, root, PLAN_START, "start")) < 0)
                return r;
        return add_literal(k, root, PLAN_READY, "ready");
}

int recipe_parse(const char *text, size_t size, const PlanOptions *options, Plan **ret, Error *reterr) {
        _cleanup_plan_ Plan *plan = plan_new();
        _cleanup_yaml_ YamlNode *root = NULL;
        YamlPlace at = { 0 };
        Error error = { 0 };
        int r;

        if (!plan)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = yaml_tree_parse(text, size, &root, &at, &error);
        if (r < 0)
                return error_set(reterr, r == -EBADMSG ? -EINVAL : r, "%s:%u:%u: %s", options->file, MAX_OF(at.line, 1u), MAX_OF(at.column, 1u),
                                error.text[0] ? error.text : "out of memory");
        r = cook(&(Cook) { .options = options, .plan = plan, .reterr = reterr }, root);
        if (r >= 0)
                r = plan_choose(plan, options, reterr);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(plan);
        return 0;
}
