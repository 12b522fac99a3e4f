/* glob.h: patterns for paths. "*" and "?" stay within a part, "**" does not, a leading "**" and slash is also nothing. Knows libc only. */
#pragma once

#include <stdbool.h>

bool glob_match(const char *pattern, const char *path);
