/* path.h: paths as strings; nothing here looks at a file system. Knows libc only. */
#pragma once

#include <stdbool.h>

/* Collapses "//" and "/./" and drops a trailing slash. -EINVAL: not absolute; -EXDEV: has a "..";
 * -ENAMETOOLONG: longer than PATH_MAX, or a part longer than NAME_MAX. */
int path_normalize(const char *path, char **ret);

/* The path itself, or something below it; both normalised. */
bool path_is_below(const char *path, const char *directory);

/* Turns a name from an archive into a path below a directory: removes leading slashes, "." and empty parts; "" is the
 * directory itself. -EXDEV: it has a "..". In place. */
int path_clean_below(char *path);

/* Makes an absolute path canonical: no "//", "." and "..", no trailing slash. As in a shell's cd, ".." removes the part
 * before it, even if that part is a link; the path that is reported is thus the path that is used. In place; `path` has
 * room for "/". */
void path_simplify(char *path);
