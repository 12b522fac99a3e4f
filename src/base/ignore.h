/* ignore.h: patterns for paths as .dockerignore has them, and lists of what to leave out.
 *
 * "*" and "?" stay within a part, "[a-z]" and "[^a-z]" are one character, "\x" is x itself, a part "**" is any number of parts (at the end: at least one).
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strv.h"

#define IGNORE_PATTERNS_MAX 4096

bool pattern_match(const char *pattern, const char *path);
bool pattern_is_plain(const char *pattern); /* nothing in it means something else */

/* The lines of a file, cleaned, into a list that is empty yet; "!…": takes back what was ignored before. -ENOMEM, -E2BIG. */
int ignore_parse(const char *text, size_t size, Strv *ret);

/* Whether the path, or a directory that it is in, is ignored: the last pattern that fits counts. */
bool ignore_has(const Strv *patterns, const char *path);
bool ignore_has_exceptions(const Strv *patterns);
