/* yaml.h: the only user of libyaml: parses text to a tree with lines and columns.
 *
 * Size, depth and number of nodes are bounded. Aliases, tags and second documents are refused: a config needs none, and
 * aliases of aliases expand exponentially. Every scalar keeps the text as it was written; its reader interprets it.
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

/* -EBADMSG: the text cannot be parsed; the error says why, ret_place where. An empty file gives a YAML_EMPTY node. */
int yaml_tree_parse(const char *text, size_t size, YamlNode **ret, YamlPlace *ret_place, Error *reterr);
YamlNode *yaml_tree_free(YamlNode *n);

DEFINE_CLEANUP(YamlNode, yaml_tree_free)
#define _cleanup_yaml_ _cleanup_(yaml_tree_freep)

const YamlNode *yaml_tree_get(const YamlNode *map, const char *key); /* NULL: not a map, or no such key */
