/* file-walk.h: everything below a directory, depth first, sorted by name in each directory.
 *
 * Follows no link. Concurrent changes are seen or not, but never lead out of the tree. Holds one descriptor and the
 * names in the directories on the way, so depth costs memory only; a path ends at PATH_MAX (-ENAMETOOLONG).
 *
 *      Walk w = { .top = fd, … };
 *      while ((r = walk_next(&w)) > 0)
 *              … w.path, w.dirfd and w.name, w.st, w.after
 *      walk_done(&w);
 *
 * Runs in the worker. Must not know: what the walk is for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "wire/guest.h"

typedef struct Walk {
        int top;             /* a directory; the caller's */
        bool want_after;     /* directories come twice: before and after their contents */
        bool skip_forbidden; /* skip directories without read permission; else -EACCES */

        /* The current entry. */
        char path[FILE_PATH_BYTES]; /* relative to the top; after a failure: the path that it is about */
        int dirfd;                  /* of the directory that contains it */
        const char *name;
        struct stat st;
        bool after;
        unsigned depth; /* 1: right below the top */

        struct WalkLevel *levels;
        size_t n_levels, room;
        bool begun, descend;
} Walk;

int walk_next(Walk *w); /* 1, 0 at the end, or a negative errno */
void walk_skip(Walk *w); /* do not go into this directory */
void walk_done(Walk *w);
