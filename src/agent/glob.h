/* glob.h: patterns for paths. "*" and "?" match within one part of a path, "**" across parts. "**" followed by a slash
 * matches any number of whole parts, also none. Knows libc only. */
#pragma once

#include <stdbool.h>

#define GLOB_PATTERN_MAX 255 /* bytes; a longer one matches nothing */

bool glob_match(const char *pattern, const char *path);
