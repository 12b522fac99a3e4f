/* seen.h: which names a layer has brought, so that its whiteouts take away only what was there before it.
 *
 * A name is its directory's inode and itself; of it a hash of 64 bits is kept. Must not know: what a whiteout is. */
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
