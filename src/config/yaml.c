#include "config/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/macro.h"

/* libyaml delivers events, and the tree is built as they come: input that is too deep or too large is refused
 * before it is held. */
typedef struct Builder {
        yaml_parser_t parser;
        YamlNode *root, *open; /* open: the list or map that the next node goes into; NULL: none */
        char *key;             /* of the next value */
        YamlPlace key_place;
        unsigned depth, n_nodes;
        bool done;
        YamlPlace place; /* of the complaint */
        Error *reterr;
} Builder;

static YamlPlace yaml_place_of(yaml_mark_t mark) {
        return (YamlPlace) { (unsigned) mark.line + 1, (unsigned) mark.column + 1 };
}

static int yaml_refuse(Builder *b, yaml_mark_t mark, const char *why) {
        b->place = yaml_place_of(mark);
        return error_set(b->reterr, -EBADMSG, "%s", why);
}

static bool is_empty_word(const char *text) {
        static const char *const words[] = { "", "~", "null", "Null", "NULL" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcmp(text, words[i]) == 0)
                        return true;
        return false;
}

static void yaml_append(Builder *b, YamlNode *n) {
        n->parent = b->open;
        if (!b->open)
                b->root = n;
        else if (b->open->last)
                b->open->last = b->open->last->next = n;
        else
                b->open->last = b->open->items = n;
}

/* Adds a node to the open list or map, or as the root. */
static int yaml_add(Builder *b, const yaml_event_t *e, YamlKind kind, YamlNode **ret) {
        YamlNode *n;

        if (++b->n_nodes > YAML_NODES_MAX)
                return yaml_refuse(b, e->start_mark, "too many values for a config file");
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        n->kind = kind;
        n->place = yaml_place_of(e->start_mark);
        if (b->open && b->open->kind == YAML_MAP) {
                n->key = TAKE_PTR(b->key);
                n->key_place = b->key_place;
        }
        yaml_append(b, n);
        *ret = n;
        return 0;
}

static bool wants_key(const Builder *b) {
        return b->open && b->open->kind == YAML_MAP && !b->key;
}

static int on_scalar(Builder *b, const yaml_event_t *e) {
        const char *value = (const char *) e->data.scalar.value;
        bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        char *copy;
        YamlNode *n;
        int r;

        if (e->data.scalar.tag)
                return yaml_refuse(b, e->start_mark, "tags (!…) are not supported");
        if (strlen(value) != e->data.scalar.length)
                return yaml_refuse(b, e->start_mark, "a NUL character");
        copy = strdup(value);
        if (!copy)
                return -ENOMEM;
        if (wants_key(b)) {
                b->key = copy;
                b->key_place = yaml_place_of(e->start_mark);
                return 0;
        }
        r = yaml_add(b, e, plain && is_empty_word(value) ? YAML_EMPTY : YAML_TEXT, &n);
        if (r < 0 || n->kind == YAML_EMPTY) {
                free(copy);
                return r;
        }
        n->text = copy;
        n->quoted = !plain;
        return 0;
}

static int yaml_on_start(Builder *b, const yaml_event_t *e, YamlKind kind, const unsigned char *tag) {
        YamlNode *n;
        int r;

        if (tag)
                return yaml_refuse(b, e->start_mark, "tags (!…) are not supported");
        if (wants_key(b))
                return yaml_refuse(b, e->start_mark, "a key must be a word");
        if (++b->depth > YAML_DEPTH_MAX)
                return yaml_refuse(b, e->start_mark, "nested too deeply");
        r = yaml_add(b, e, kind, &n);
        if (r >= 0)
                b->open = n;
        return r;
}

static int yaml_on_event(Builder *b, const yaml_event_t *e) {
        switch (e->type) {
        case YAML_STREAM_END_EVENT:
                b->done = true;
                return 0;
        case YAML_DOCUMENT_START_EVENT:
                return b->root ? yaml_refuse(b, e->start_mark, "a second document: one file is one config") : 0;
        case YAML_ALIAS_EVENT:
                return yaml_refuse(b, e->start_mark, "aliases (*…) are not supported: use 'extends' in a profile, and write out the rest");
        case YAML_SCALAR_EVENT:
                return on_scalar(b, e);
        case YAML_SEQUENCE_START_EVENT:
                return yaml_on_start(b, e, YAML_LIST, e->data.sequence_start.tag);
        case YAML_MAPPING_START_EVENT:
                return yaml_on_start(b, e, YAML_MAP, e->data.mapping_start.tag);
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
                b->depth--;
                b->open = b->open->parent;
                return 0;
        default:
                return 0;
        }
}

static YamlPlace place_at(const char *text, size_t offset) {
        YamlPlace place = { 1, 1 };

        for (size_t i = 0; i < offset; i++) {
                place.column++;
                if (text[i] == '\n')
                        place = (YamlPlace) { place.line + 1, 1 };
        }
        return place;
}

static int yaml_on_failure(Builder *b, const char *text, size_t size) {
        const yaml_parser_t *p = &b->parser;

        if (p->error == YAML_MEMORY_ERROR)
                return -ENOMEM;
        if (p->error == YAML_READER_ERROR) {
                b->place = place_at(text, MIN_OF(p->problem_offset, size));
                return error_set(b->reterr, -EBADMSG, "not text in UTF-8: %s", p->problem);
        }
        b->place = yaml_place_of(p->problem_mark);
        if (p->context)
                return error_set(b->reterr, -EBADMSG, "%s (%s)", p->problem, p->context);
        return error_set(b->reterr, -EBADMSG, "%s", p->problem ? p->problem : "no YAML");
}

static int build(Builder *b, const char *text, size_t size) {
        int r = 0;

        while (!b->done && r >= 0) {
                yaml_event_t event;

                if (!yaml_parser_parse(&b->parser, &event))
                        return yaml_on_failure(b, text, size);
                r = yaml_on_event(b, &event);
                yaml_event_delete(&event);
        }
        if (r >= 0 && !b->root) {
                b->root = calloc(1, sizeof(*b->root)); /* nothing but comments */
                if (!b->root)
                        return -ENOMEM;
                b->root->place = (YamlPlace) { 1, 1 };
        }
        return r;
}

int yaml_tree_parse(const char *text, size_t size, YamlNode **ret, YamlPlace *ret_place, Error *reterr) {
        Builder b = { .place = { 1, 1 }, .reterr = reterr };
        int r;

        if (size > YAML_SIZE_MAX) {
                *ret_place = b.place;
                return error_set(reterr, -EBADMSG, "larger than %d bytes", YAML_SIZE_MAX);
        }
        if (!yaml_parser_initialize(&b.parser))
                return error_set(reterr, -ENOMEM, "out of memory");
        yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&b.parser, (const unsigned char *) text, size);
        r = build(&b, text, size);
        yaml_parser_delete(&b.parser);
        free(b.key);
        if (r < 0) {
                yaml_tree_free(b.root);
                *ret_place = b.place;
                return r == -ENOMEM ? error_set(reterr, r, "out of memory") : r;
        }
        *ret = b.root;
        return 0;
}

/* As deep as YAML_DEPTH_MAX. */
YamlNode *yaml_tree_free(YamlNode *n) {
        while (n) {
                YamlNode *next = n->next;

                yaml_tree_free(n->items);
                free(n->text);
                free(n->key);
                free(n);
                n = next;
        }
        return NULL;
}

const YamlNode *yaml_tree_get(const YamlNode *map, const char *key) {
        if (map->kind != YAML_MAP)
                return NULL;
        for (const YamlNode *n = map->items; n; n = n->next)
                if (strcmp(n->key, key) == 0)
                        return n;
        return NULL;
}
