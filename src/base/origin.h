/* origin.h: the origin of a web page: scheme, host and port, as in the Origin header.
 *
 * Knows libc only. Must not know: HTTP, who may do what. */
#pragma once

#include <stdbool.h>

#define ORIGIN_MAX 300

/* An operator may write an origin ("https://app.example.org", "http://10.0.0.5:3000"), an origin with all names below
 * a domain (an asterisk and a dot before the host), or "*" for every origin; no path and no trailing slash. */
bool origin_pattern_is_valid(const char *pattern);

/* Ignores case; the scheme's default port may be omitted on either side. */
bool origin_matches(const char *pattern, const char *origin);

/* http or https on localhost, a name below .localhost, 127.0.0.0/8 or [::1], any port. False for a name such as
 * 8000-ID.localhost: it is a port of a sandbox and serves untrusted code. */
bool origin_is_loopback(const char *origin);
