/* yaml.h: the one door to libyaml: text to a tree that knows its lines and columns.
 *
 * Bounded in size, depth and number of nodes. Aliases, tags and second documents are refused: a config needs none, and an alias
 * of an alias is a bomb. Every scalar stays the text it was written as; what it means is the reader's business.
 * Must not know: which keys there are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define YAML_SIZE_MAX  (1 << 20)
#define YAML_DEPTH_MAX 16
#define YAML_NODES_MAX 20000

typedef enum YamlKind { YAML_EMPTY, YAML_TEXT, YAML_LIST, YAML_MAP } YamlKind; /* empty: nothing, ~ or null without quotes */

typedef struct YamlPlace {
        unsigned line, column; /* from 1 */
} YamlPlace;

typedef struct YamlNode YamlNode;
struct YamlNode {
        YamlKind kind;
        bool quoted; /* a text in quotes or a block: neither a number nor true */
        YamlPlace place;
        char *text;  /* NULL unless YAML_TEXT; no NUL inside */
        char *key;   /* in a map; never NULL there */
        YamlPlace key_place;
        YamlNode *items, *next; /* in the order of the file */
        YamlNode *last, *parent;
};

/* -EBADMSG: it cannot be read, the error says why, ret_place where. An empty file is a node of kind YAML_EMPTY. */
int yaml_tree_parse(const char *text, size_t size, YamlNode **ret, YamlPlace *ret_place, Error *reterr);
YamlNode *yaml_tree_free(YamlNode *n);

DEFINE_CLEANUP(YamlNode, yaml_tree_free)
#define _cleanup_yaml_ _cleanup_(yaml_tree_freep)

const YamlNode *yaml_tree_get(const YamlNode *map, const char *key); /* NULL: is no map or has none */
