/* shape-read.c: objects, lists of objects, and values that are numbers. */

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "config/shape-internal.h"

#define EXACT_MAX    9007199254740992.0     /* 2^53: beyond it a double skips integers */
#define USEC_MOST    (10 * 365 * 86400e6)   /* ten years */
#define CORES_LEAST  0.01
#define BYTES_MOST   1125899906842624.0     /* 2^50 */

const char *yaml_words(const ShapeField *f) {
        static const char *const by_kind[_SHAPE_KIND_MAX] = {
                [SHAPE_BOOL] = "true or false", [SHAPE_ENUM] = "a word",         [SHAPE_DOUBLE] = "a number",
                [SHAPE_TEXT] = "a text",        [SHAPE_CHARS] = "a name",        [SHAPE_STRV] = "a list of texts",
                [SHAPE_ENV] = "a map of NAME: value", [SHAPE_OBJECT] = "a map of keys",
        };
        static const char *const by_unit[_SHAPE_UNIT_MAX] = {
                [SHAPE_PLAIN] = "a whole number",
                [SHAPE_CORES] = "a number of cores, as in 1.5",
                [SHAPE_MEGABYTES] = "a number of megabytes",
                [SHAPE_SECONDS] = "a time, as in 90s, 5m, 24h or a number of seconds",
                [SHAPE_MILLISECONDS] = "a time, as in 90s, 5m, 24h or a number of milliseconds",
                [SHAPE_SIZE] = "a size, as in 64MB, 1G or a number of bytes",
        };

        if (f->yaml && f->yaml->words)
                return f->yaml->words;
        if (f->kind == SHAPE_TEXT && f->flags & SHAPE_SECRET)
                return "a secret: its value, file:/PATH or env:NAME";
        return f->names ? "a word" : by_kind[f->kind] ? by_kind[f->kind] : by_unit[f->unit];
}

const char *yaml_text(const YamlValue *v) {
        const YamlNode *node = v->node;

        if (node->kind == YAML_TEXT)
                return node->text;
        if (node->kind == YAML_EMPTY)
                yaml_complain_at(v, node->key_place, " has no value: %s is wanted", yaml_words(v->field));
        else
                yaml_complain(v, " must be %s, not a %s", yaml_words(v->field), node->kind == YAML_LIST ? "list" : "map");
        return NULL;
}

static void yaml_complain_value(const YamlValue *v) {
        yaml_complain(v, " must be %s, not '%.100s'%s", yaml_words(v->field), v->node->text, v->node->quoted ? " in quotes" : "");
}

/* Numbers. */

bool yaml_bound(const ShapeField *f, double bound, char ret[static BOUND_MAX]) {
        if (f->yaml || f->names || f->kind == SHAPE_BOOL || (!shape_is_number(f) && f->kind != SHAPE_DOUBLE))
                return false;
        if (f->unit == SHAPE_SECONDS || f->unit == SHAPE_MILLISECONDS)
                format_duration((usec_t) (bound * shape_scale(f->unit) + 0.5), ret);
        else if (f->unit == SHAPE_SIZE)
                format_size((uint64_t) bound, ret);
        else
                (void) snprintf(ret, BOUND_MAX, "%.15g", bound);
        return true;
}

/* The maximum of a field that sets none, in its unit. */
static double yaml_most(const ShapeField *f) {
        switch (f->unit) {
        case SHAPE_SECONDS:
        case SHAPE_MILLISECONDS: return USEC_MOST / shape_scale(f->unit);
        case SHAPE_MEGABYTES:
        case SHAPE_SIZE: return BYTES_MOST / shape_scale(f->unit);
        default: return f->kind == SHAPE_UINT32 && f->unit == SHAPE_PLAIN ? (double) INT32_MAX : EXACT_MAX;
        }
}

static bool yaml_within(const YamlValue *v, double x) {
        const ShapeField *f = v->field;
        double most = f->max > 0 ? MIN_OF(f->max, yaml_most(f)) : yaml_most(f);
        char min[BOUND_MAX], max[BOUND_MAX];

        if (x >= f->min && x <= most)
                return true;
        (void) yaml_bound(f, f->min, min);
        (void) yaml_bound(f, most, max);
        yaml_complain(v, ": %.100s is out of bounds: from %s to %s", v->node->text, min, max);
        return false;
}

/* Accepts digits with an optional fraction and exponent, and nothing else that strtod(3) accepts. */
static bool yaml_number(const YamlValue *v, double *ret) {
        const char *text = yaml_text(v);
        char *end;

        if (!text)
                return false;
        if (v->node->quoted || text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0') {
                yaml_complain_value(v);
                return false;
        }
        *ret = strtod(text, &end);
        if (*end != '\0' || end == text || !isfinite(*ret)) {
                yaml_complain_value(v);
                return false;
        }
        return true;
}

static void yaml_read_real(const YamlValue *v) {
        double x;

        if (yaml_number(v, &x) && yaml_within(v, x))
                *(double *) shape_at(v->field, v->object) = x;
}

static void yaml_read_whole(const YamlValue *v) {
        double x;

        if (!yaml_number(v, &x))
                return;
        if (floor(x) < x)
                yaml_complain_value(v);
        else if (yaml_within(v, x))
                (void) shape_set(v->field, v->object, (int64_t) x);
}

static void yaml_read_scaled(const YamlValue *v) {
        double x;

        if (!yaml_number(v, &x) || !yaml_within(v, x))
                return;
        if (v->field->unit == SHAPE_CORES && x > 0 && x < CORES_LEAST) /* it would be rounded to 0, which means no limit */
                yaml_complain(v, ": %s is less than %g", v->node->text, CORES_LEAST);
        else
                (void) shape_set(v->field, v->object, (int64_t) (x * shape_scale(v->field->unit) + 0.5));
}

/* A number without a unit has the unit of the field. */
static int yaml_parse_time(const ShapeField *f, const char *text, usec_t *ret) {
        char with_unit[64];
        bool bare = *text && text[strspn(text, "0123456789.")] == '\0';

        if (!bare || strlen(text) >= sizeof(with_unit) - 4)
                return parse_duration(text, ret);
        (void) snprintf(with_unit, sizeof(with_unit), "%s%s", text, f->unit == SHAPE_SECONDS ? "s" : "ms");
        return parse_duration(with_unit, ret);
}

/* Times and sizes. */
static void yaml_read_amount(const YamlValue *v) {
        const char *text = yaml_text(v);
        uint64_t x;
        int k;

        if (!text)
                return;
        k = v->field->unit == SHAPE_SIZE ? parse_size(text, &x) : yaml_parse_time(v->field, text, &x);
        if (k == -ERANGE)
                x = UINT64_MAX; /* reported by the check of bounds */
        else if (k < 0) {
                yaml_complain_value(v);
                return;
        }
        if (yaml_within(v, (double) x / shape_scale(v->field->unit)))
                (void) shape_set(v->field, v->object, (int64_t) x);
}

static void yaml_read_integer(const YamlValue *v) {
        static void (*const by_unit[_SHAPE_UNIT_MAX])(const YamlValue *) = {
                [SHAPE_PLAIN] = yaml_read_whole,
                [SHAPE_CORES] = yaml_read_scaled,
                [SHAPE_MEGABYTES] = yaml_read_scaled,
                [SHAPE_SECONDS] = yaml_read_amount,
                [SHAPE_MILLISECONDS] = yaml_read_amount,
                [SHAPE_SIZE] = yaml_read_amount,
        };

        by_unit[v->field->unit](v);
}

static void yaml_read_bool(const YamlValue *v) {
        static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
        const char *text;

        if (v->field->names) {
                yaml_read_word(v);
                return;
        }
        text = yaml_text(v);
        if (!text)
                return;
        for (size_t i = 0; i < ELEMENTSOF(words) && !v->node->quoted; i++)
                if (strcasecmp(text, words[i]) == 0) {
                        (void) shape_set(v->field, v->object, i % 2);
                        return;
                }
        yaml_complain_value(v);
}

/* Objects. */

bool yaml_is(Reader *r, const YamlNode *node, YamlKind kind, const char *where) {
        static const char *const words[] = {
                [YAML_EMPTY] = "nothing",
                [YAML_TEXT] = "a single value",
                [YAML_LIST] = "a list",
                [YAML_MAP] = "a map of keys",
        };

        if (node->kind != kind && node->kind != YAML_EMPTY)
                reader_complain(r, node->place, "%s must be %s, not %s", where, words[kind], words[node->kind]);
        return node->kind == kind;
}

YamlPlace yaml_key_place(const YamlNode *map, const char *key) {
        const YamlNode *node = yaml_tree_get(map, key);

        return node ? node->place : map->place;
}

static void yaml_complain_unknown(Reader *r, const Shape *shape, const YamlNode *v, const char *where) {
        Guess guess = guess_new(v->key);
        char text[128];

        for (size_t i = 0; i < shape->n_fields; i++)
                if (shape->fields[i].name)
                        guess_look(&guess, shape->fields[i].name);
        reader_complain(r, v->key_place, "unknown key '%.100s' in %s%s", v->key, where, guess_text(&guess, text));
}

/* Complains if a key and its alias are both set, as memoryMB and memory. */
static void yaml_complain_twice(Reader *r, const Shape *shape, const YamlNode *map, const char *where) {
        for (const ShapeField *f = shape->fields; f < shape->fields + shape->n_fields; f++)
                for (const ShapeField *g = shape->fields; g < shape->fields + shape->n_fields && f->flags & SHAPE_ALIAS; g++) {
                        const YamlNode *one = yaml_tree_get(map, f->name), *other = g->name ? yaml_tree_get(map, g->name) : NULL;

                        if (f != g && one && other && f->offset == g->offset)
                                reader_complain(r, one->key_place, "'%s' and '%s' in %s say the same thing: keep one of them", f->name,
                                                g->name, where);
                }
}

void yaml_read(Reader *r, const Shape *shape, const YamlNode *map, const char *where, void *object) {
        if (!yaml_is(r, map, YAML_MAP, where))
                return;
        for (const YamlNode *node = map->items; node; node = node->next) {
                const ShapeField *f = shape_find(shape, node->key);

                if (!f) {
                        yaml_complain_unknown(r, shape, node, where);
                        continue;
                }
                yaml_read_value(&(YamlValue) { r, f, node, where, object });
                shape_said(shape, object, f);
        }
        yaml_complain_twice(r, shape, map, where);
}

/* "section pools", "channels in section alerts" */
static void yaml_where(const YamlValue *v, char ret[static WHERE_MAX]) {
        if (strcmp(v->where, YAML_FILE) == 0)
                (void) snprintf(ret, WHERE_MAX, "section %s", v->field->name);
        else
                (void) snprintf(ret, WHERE_MAX, "%s in %s", v->field->name, v->where);
}

static void yaml_read_section(const YamlValue *v) {
        char where[WHERE_MAX];

        yaml_where(v, where);
        yaml_read(v->reader, v->field->shape, v->node, where, shape_at(v->field, v->object));
}

/* Lists of objects. */

bool yaml_accepts_name(const YamlValue *v) {
        size_t room = shape_key(v->field->shape)->size;

        if (strlen(v->node->key) < room && yaml_is_name(v->node->key))
                return true;
        reader_complain(v->reader, v->node->key_place, "'%.100s' is no name of a %s: up to %zu letters, digits, '_', '-', '.'", v->node->key,
                        v->field->yaml->item, room - 1);
        return false;
}

static bool yaml_accepts(const YamlValue *v) {
        return v->field->yaml->accepts ? v->field->yaml->accepts(v) : yaml_accepts_name(v);
}

int yaml_fresh(const ShapeField *f, void *item) {
        int r = yaml_defaults(f->shape, item);

        if (r >= 0 && f->yaml->fresh)
                f->yaml->fresh(item);
        return r;
}

/* Reads one item of a list or map into a new object. */
static void yaml_read_item(YamlValue v, size_t number) {
        const ShapeField *f = v.field, *key = shape_key(f->shape);
        char where[WHERE_MAX];

        v.object = shape_list_add(f, v.object);
        if (!v.object || yaml_fresh(f, v.object) < 0) {
                reader_fail(v.reader, -ENOMEM);
                return;
        }
        v.where = where;
        if (key) {
                (void) snprintf(shape_at(key, v.object), key->size, "%s", v.node->key);
                (void) snprintf(where, sizeof(where), "%s %s", f->yaml->item, v.node->key);
        } else
                (void) snprintf(where, sizeof(where), "%s %zu", f->yaml->item, number);
        yaml_read(v.reader, f->shape, v.node, where, v.object);
        if (f->yaml->check)
                f->yaml->check(&v);
}

static void yaml_read_items(const YamlValue *v) {
        const ShapeField *f = v->field;
        bool named = shape_key(f->shape);
        char where[WHERE_MAX];
        size_t n = 0;

        yaml_where(v, where);
        if (!yaml_is(v->reader, v->node, named ? YAML_MAP : YAML_LIST, where))
                return;
        for (const YamlNode *item = v->node->items; item; item = item->next)
                n++;
        if (f->max > 0 && (double) n > f->max) {
                reader_complain(v->reader, v->node->place, "%s has %zu entries, may have %.0f", where, n, f->max);
                return;
        }
        shape_field_done(f, v->object);
        n = 0;
        for (const YamlNode *item = v->node->items; item; item = item->next) {
                YamlValue i = { v->reader, f, item, v->where, v->object };

                if (!named || yaml_accepts(&i))
                        yaml_read_item(i, ++n);
        }
}

/* All kinds. */

void yaml_read_value(const YamlValue *v) {
        static void (*const by_kind[_SHAPE_KIND_MAX])(const YamlValue *) = {
                [SHAPE_BOOL] = yaml_read_bool,   [SHAPE_UINT32] = yaml_read_integer, [SHAPE_UINT64] = yaml_read_integer, [SHAPE_DOUBLE] = yaml_read_real,
                [SHAPE_ENUM] = yaml_read_word,   [SHAPE_TEXT] = yaml_read_text,      [SHAPE_CHARS] = yaml_read_name,     [SHAPE_STRV] = yaml_read_strings,
                [SHAPE_ENV] = yaml_read_env,     [SHAPE_OBJECT] = yaml_read_section, [SHAPE_LIST] = yaml_read_items,
        };
        const ShapeYaml *own = v->field->yaml;

        (own && own->parse ? own->parse : by_kind[v->field->kind])(v);
}

static void yaml_fill(Reader *r, const Shape *shape, void *object) {
        for (const ShapeField *f = shape->fields; f < shape->fields + shape->n_fields; f++) {
                YamlNode node = { .kind = YAML_TEXT, .text = (char *) (uintptr_t) f->initial };

                if (f->kind == SHAPE_OBJECT)
                        yaml_fill(r, f->shape, shape_at(f, object));
                else if (f->kind == SHAPE_STRV || f->kind == SHAPE_ENV)
                        *(Strv *) shape_at(f, object) = (Strv) STRV_INIT((size_t) f->max);
                if (f->initial)
                        yaml_read_value(&(YamlValue) { r, f, &node, shape->name, object });
        }
}

int yaml_defaults(const Shape *shape, void *object) {
        Reader reader = { .file = "defaults" };
        int r;

        yaml_fill(&reader, shape, object);
        r = reader_tell(&reader, /* reterr= */ NULL);
        assert(r != -EINVAL); /* the tables are built in */
        return r;
}
