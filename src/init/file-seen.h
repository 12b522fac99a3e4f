/* file-seen.h: what a watch has told already, having looked, and what inotify may tell once more.
 *
 * A directory that comes into view is read after its watch is set, so that nothing is missed; what was made in between is seen
 * twice. Pairs of a watch and a name, as hashes; forgotten as soon as the queue of events is empty. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FileSeen {
        uint64_t *slots; /* 0: free */
        size_t n, room;  /* room is a power of two */
} FileSeen;

int file_seen_add(FileSeen *s, int wd, const char *name);
bool seen_take(FileSeen *s, int wd, const char *name); /* was there, and is no longer */
void seen_clear(FileSeen *s);
