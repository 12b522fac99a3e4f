/* ignore.h: path patterns as in .dockerignore, and lists of them.
 *
 * "*" and "?" do not match a slash. "[a-z]" and "[^a-z]" match one character, "\x" matches x literally. A part "**"
 * matches any number of parts (at the end: at least one).
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strv.h"

#define IGNORE_PATTERNS_MAX 4096

bool pattern_match(const char *pattern, const char *path);
bool pattern_is_plain(const char *pattern); /* has no special characters */

/* Appends the lines of a file, cleaned, to an empty list. A line "!…" excepts paths that an earlier line ignored.
 * -ENOMEM, -E2BIG. */
int ignore_parse(const char *text, size_t size, Strv *ret);

/* Whether the path, or a directory above it, is ignored. The last matching pattern decides. */
bool ignore_has(const Strv *patterns, const char *path);
bool ignore_has_exceptions(const Strv *patterns);
