/* cors.h: which web pages may use the API (CORS).
 *
 * A browser sends a cross-origin request with a header such as X-API-KEY only after a preflight has allowed
 * it, and lets the page read an answer only if that names the page's origin. Both are granted to the origins
 * in the section cors of cove.yaml only. Browser credentials (cookies, certificates) are never allowed: a
 * caller authenticates with a key, a token or a signature, which the page must know. So an allowed origin
 * gains no right. Ports that a sandbox serves are excluded: the server in the sandbox answers preflights and
 * decides who may read.
 * Must not know: any route. */
#pragma once

#include "api/surface.h"

/* Adds the headers that every answer needs, and answers preflights. Negative: the request has been answered. */
int cors_admit(ApiRequest *q);
