/* glob.h: patterns for paths. "*" and "?" stay within a part, "**" does not, and "**" with a slash behind it is also nothing. Knows libc only. */
#pragma once

#include <stdbool.h>

#define GLOB_PATTERN_MAX 255 /* bytes; a longer one matches nothing */

bool glob_match(const char *pattern, const char *path);
