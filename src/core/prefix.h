/* prefix.h: objects by the beginning of their id.
 *
 * Wherever a person names an object, its id (base/id.h) may be shortened to its first PREFIX_MIN characters or more, as long as one
 * object only that the caller sees begins so. An exact id or name goes before: who finds something by it does not ask here. The
 * minimum keeps a script that names what is gone already from meeting something else by chance.
 *
 * Objects hang in lists by the first two characters of their ids: nothing is allocated, and of 10,000 about ten are looked at.
 * Must not know: what the objects are. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "core/access.h"

#define PREFIX_MIN 4
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
void prefix_remove(PrefixIndex *index, PrefixNode *node); /* one that was never added is fine */

/* Whether a text can be the beginning of an id, and long enough. */
bool prefix_is_one(const char *text);

/* -ENOENT: no object that `who` sees begins so. -ENOTUNIQ: several do; the error names some of them. */
int prefix_find(const PrefixIndex *index, const PrefixKind *kind, const Principal *who, const char *text, PrefixNode **ret, Error *reterr);
