/* origin.h: where a page in a browser comes from: scheme, host and port, as the header Origin has them.
 *
 * Knows libc only. Must not know: HTTP, who may do what. */
#pragma once

#include <stdbool.h>

#define ORIGIN_MAX 300

/* What an operator may write: an origin ("https://app.example.org", "http://10.0.0.5:3000"), one with all names below a domain
 * (an asterisk and a dot before the host), or "*" for every origin. Without a path, without a slash at the end. */
bool origin_pattern_is_valid(const char *pattern);

/* Letters count in either case; a port that is the scheme's own may be left out on either side. */
bool origin_matches(const char *pattern, const char *origin);

/* http or https on localhost, a name below .localhost, 127.0.0.0/8 or [::1], any port. A name such as 8000-ID.localhost is none: it is a port of a
 * sandbox, and what is served there is code that nobody trusts. */
bool origin_is_loopback(const char *origin);
