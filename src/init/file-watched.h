/* file-watched.h: the directories that a watch covers, with their current names.
 *
 * inotify identifies a directory by a number and does not report its new name. Here each entry has its parent and its
 * own name, so one rename changes one entry, whatever is below.
 * Runs in the worker. Must not know: events, the channel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/guest.h"

#define WATCHED_MAX     8192
#define WATCHED_BUCKETS 4096 /* a power of two */
#define WATCHED_NONE    (-1)

typedef struct Watched {
        int inotify;
        struct {
                int wd; /* 0: free */
                int parent;
                char *name;
                int next; /* of the same bucket */
                unsigned round;
        } nodes[WATCHED_MAX];
        int buckets[WATCHED_BUCKETS];
        size_t n;
        unsigned round; /* nodes with an older round were not seen in this one */
} Watched;

void watched_init(Watched *t, int inotify);

/* Entries are numbers. A known wd moves to the given parent and name. -ENOSPC: too many. */
int watched_put(Watched *t, int wd, int parent, const char *name);
int watched_find(const Watched *t, int wd);
int watched_child(const Watched *t, int parent, const char *name);
int watched_rename(Watched *t, int node, int parent, const char *name);

/* Removes the entry only; the kernel has dropped the watch already. */
void watched_drop(Watched *t, int node);
/* Removes the entry and all below it, in the kernel too. */
void watched_forget(Watched *t, int node);
void watched_forget_unseen(Watched *t);

/* The path of an entry in the directory, or of the directory itself (""), relative to the top. -ENAMETOOLONG. */
int watched_path(const Watched *t, int node, const char *name, char ret[static FILE_PATH_BYTES]);
