/* home.h: the node that a sandbox belongs to, as its id shows.
 *
 * A node has HOME_TAGS tags (base/id.h), derived from a key that its first start makes: DIR/node.key. Each new sandbox
 * gets one of them at random. A table of tags so finds the node of an id, and an entry per sandbox is needed only for
 * sandboxes that moved, or that were made before their daemon had tags. The tags are always the same: a start with
 * another key would make ids that nobody finds, so an invalid file is an error. Two nodes share a tag with a
 * probability of 1 in 15,000.
 *
 * The incarnation, a number in the store, is the life of the node that a fleet knows: 1, and one more each time that
 * the node was declared dead and its sandboxes lost. It differs from the generation (generation.h), which each start
 * increments, and which compares two copies of one store.
 * Must not know: other nodes. */
#pragma once

#include "base/id.h"
#include "core/manager.h"

#define HOME_TAGS 64

typedef struct Home {
        IdTag tags[HOME_TAGS];
        uint64_t incarnation; /* 0: the key could not be saved yet, on a full disk; there are no tags */
} Home;

int home_begin(Manager *m, Error *reterr);

/* An id for a new sandbox. -ENOSPC, -EDQUOT, -EROFS: the node's key still cannot be saved. */
int home_make_id(Manager *m, char ret[static ID_LENGTH + 1], Error *reterr);
