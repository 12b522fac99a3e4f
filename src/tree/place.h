/* place.h: access to files below a tree by untrusted names.
 *
 * All access starts at the tree's descriptor and cannot leave the tree: symbolic links are resolved as if the
 * tree were the root directory (openat2 with RESOLVE_IN_ROOT), and magic links are refused. A path is split
 * into its directory, which is opened and cached, and a last component, which is never followed.
 * No other process changes the tree meanwhile.
 * Must not know: archives, layers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

/* As path_clean_below(). -ENAMETOOLONG: the path exceeds PATH_MAX, or a component NAME_MAX. */
int place_clean(char *path);

/* Caches the directory opened last, because most names that follow are in the same one. */
typedef struct Places {
        int tree;
        char *parent; /* NULL: none */
        int parent_fd;
        struct stat st; /* of the parent */
} Places;

void places_init(Places *p, int tree); /* the descriptor stays the caller's */
void places_done(Places *p);
void places_forget(Places *p); /* call it if a part of the cached path may have changed */

/* Opens the directory of a clean path. The descriptor stays owned by `p`. ret_name gets the last component
 * ("." for ""). make: creates missing directories. -ENOTDIR: a part of the path is not a directory. */
int places_parent(Places *p, const char *path, bool make, const char **ret_name, Error *reterr);

/* Opens a file below the tree. Links are followed within the tree. The caller closes. */
int place_open(int tree, const char *path, int flags);

/* Removes `name` and everything below it, and follows no links. If `keep` returns true for an entry, the
 * entry stays. Its content is still visited, and directories that are not empty then stay too. -ENOENT: no
 * such file. -ELOOP: the tree is too deep. */
typedef bool (*PlaceKeep)(const struct stat *directory, const char *name, void *userdata);
int place_remove(int dirfd, const char *name, PlaceKeep keep, void *userdata);
int place_empty(int dirfd, PlaceKeep keep, void *userdata); /* removes the content only */
