/* snapshot.h: snapshots, for the verbs that show them. */
#pragma once

#include "client/client.h"

/* All pages as one list; NULL: told why not. sandbox: only of that one; NULL: all. */
json_t *snapshots_get(const Place *place, const char *sandbox);
int snapshots_print_json(const json_t *all); /* the exit status */
int snapshot_tree(const Place *place, bool json); /* likewise */
