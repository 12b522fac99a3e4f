/* accept.h: content negotiation: chooses a media type by the Accept header (RFC 9110, section 12.5.1). Knows
 * libc only. */
#pragma once

#include <stddef.h>

/* Returns the index of the best type: by quality; then types that the header names before those that a
 * wildcard allows; then the order of the header, then that of `types`. Without a header, or with an empty
 * one: 0. -ENOENT: none is acceptable. */
int accept_choose(const char *header, const char *const *types, size_t n);
