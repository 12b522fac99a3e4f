/* place.h: names below a tree, whoever has chosen them.
 *
 * Everything is reached from the tree's descriptor, and nothing leads out of it: links are followed as if the tree were the root
 * directory (openat2), magic ones not at all. A path is taken as a directory, opened and remembered, and a last name, which is never followed.
 * Nobody else changes the tree meanwhile.
 * Must not know: archives, layers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

/* path_clean_below(), and -ENAMETOOLONG: longer than PATH_MAX, or a part longer than NAME_MAX. */
int place_clean(char *path);

/* The directory opened last: most names that follow are in it too. */
typedef struct Places {
        int tree;
        char *parent; /* NULL: none */
        int parent_fd;
        struct stat st; /* of it */
} Places;

void places_init(Places *p, int tree); /* the descriptor stays the caller's */
void places_done(Places *p);
void places_forget(Places *p); /* something on its way may have changed */

/* The directory that a clean path is in, which stays theirs; the last part in ret_name ("." for ""). With make, missing ones are made.
 * -ENOTDIR: something on its way is none. */
int places_parent(Places *p, const char *path, bool make, const char **ret_name, Error *reterr);

/* Below the tree; links are followed, within it. The caller closes. */
int place_open(int tree, const char *path, int flags);

/* name and everything below it, of which nothing is followed. keep, when given, may say of each that it stays: what is below is looked at
 * nevertheless, and directories that are not empty then stay too. -ENOENT: there was none. Depth has a limit: -ELOOP. */
typedef bool (*PlaceKeep)(const struct stat *directory, const char *name, void *userdata);
int place_remove(int dirfd, const char *name, PlaceKeep keep, void *userdata);
int place_empty(int dirfd, PlaceKeep keep, void *userdata); /* what is in it */
