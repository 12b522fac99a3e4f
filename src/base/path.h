/* path.h: paths as strings; nothing here looks at a file system. Knows libc only. */
#pragma once

#include <stdbool.h>

/* Collapses "//" and "/./" and drops a trailing slash. -EINVAL: not absolute; -EXDEV: has a "..";
 * -ENAMETOOLONG: longer than PATH_MAX, or a part longer than NAME_MAX. */
int path_normalize(const char *path, char **ret);

/* The path itself, or something below it; both normalised. */
bool path_is_below(const char *path, const char *directory);
