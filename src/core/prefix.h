/* prefix.h: lookup of objects by the beginning of their id.
 *
 * Wherever a person names an object, its id (base/id.h) may be shortened to its first PREFIX_MIN characters or
 * more, if it is the only object that the caller sees with this prefix. An exact id or name has precedence; callers
 * look that up first. The minimum length keeps a script that names a removed object from hitting another one by
 * chance: the first six characters of sandboxes of one node are one of only 1664 texts (core/home.h), the first
 * eight one of two million.
 *
 * The lists are indexed by the first two characters of the id: nothing is allocated, and a lookup among 10,000
 * objects compares some tens of ids.
 * Must not know: what the objects are. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "core/access.h"

#define PREFIX_MIN 8
#define PREFIX_HEADS 1024

typedef struct PrefixNode PrefixNode;
struct PrefixNode {
        const char *id; /* the object's */
        PrefixNode *next, *prev;
};

typedef struct PrefixIndex {
        PrefixNode *heads[PREFIX_HEADS];
} PrefixIndex;

typedef struct PrefixKind {
        const char *nouns; /* "sandboxes" */
        bool (*is_seen)(const PrefixNode *node, const Principal *who);
        const char *(*name)(const PrefixNode *node); /* for a person; NULL: it has none */
} PrefixKind;

void prefix_add(PrefixIndex *index, PrefixNode *node, const char *id);
void prefix_remove(PrefixIndex *index, PrefixNode *node); /* does nothing if it was never added */

/* Whether a text can be the beginning of an id, and is long enough. */
bool prefix_is_one(const char *text);

/* -ENOENT: `who` sees no object with this prefix. -ENOTUNIQ: several; the error names some of them. */
int prefix_find(const PrefixIndex *index, const PrefixKind *kind, const Principal *who, const char *text, PrefixNode **ret, Error *reterr);
