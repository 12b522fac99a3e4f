/* seen.h: the set of names that the current layer has created, so that its whiteouts remove only older files.
 *
 * A name is identified by its directory's inode and its text. Only a 64-bit hash of it is kept.
 * Must not know: what a whiteout is. */
#pragma once

#include <sys/stat.h>

#include "base/hashset.h"

typedef struct Seen {
        HashSet names;
        uint64_t seed;
} Seen;

void seen_init(Seen *s);
void seen_done(Seen *s);
int seen_add(Seen *s, const struct stat *directory, const char *name);
bool seen_has(const Seen *s, const struct stat *directory, const char *name);
