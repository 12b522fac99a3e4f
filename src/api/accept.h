/* accept.h: which of our types a caller wants, by its Accept header (RFC 9110, section 12.5.1). Knows libc only. */
#pragma once

#include <stddef.h>

/* The index of the type it likes best: by quality, then what it names before what a wildcard allows, then its own order,
 * then ours. No header, or an empty one: the first. -ENOENT: none of them will do. */
int accept_choose(const char *header, const char *const *types, size_t n);
