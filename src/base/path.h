/* path.h: paths as strings; nothing here looks at a file system. Knows libc only. */
#pragma once

#include <stdbool.h>

/* Collapses "//" and "/./" and drops a trailing slash. -EINVAL: not absolute; -EXDEV: has a "..";
 * -ENAMETOOLONG: longer than PATH_MAX, or a part longer than NAME_MAX. */
int path_normalize(const char *path, char **ret);

/* The path itself, or something below it; both normalised. */
bool path_is_below(const char *path, const char *directory);

/* A name out of an archive as a path below a directory: no leading slashes, no "." and empty parts; "" is the directory itself.
 * -EXDEV: it leads upwards. In place. */
int path_clean_below(char *path);

/* One form for one place: absolute, no "//", "." and "..", no slash at the end. As a shell's cd has it, ".." takes back the part before it, be that a link or
 * not; so what is told is what was done. In place; path has room for "/". */
void path_simplify(char *path);
