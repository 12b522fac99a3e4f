/* cors.h: which pages in a browser may use the API (CORS).
 *
 * A page of another origin sends a request with a header such as X-API-KEY only after a preflight has allowed it, and reads an answer only
 * if that names its origin. Both are given to origins that the section cors of cove.yaml has, and to nobody else. Credentials of the browser
 * (cookies, certificates) are never allowed: who asks proves it by a key, a token or a signature, which the page has to know. So an origin
 * that is let in gains no right. Ports that a sandbox serves are not our business: who listens there answers preflights and says who may read.
 * Must not know: any route. */
#pragma once

#include "api/surface.h"

/* OPTIONS that a browser sends of itself, before the request that it is about. It carries neither key nor token. */
bool cors_is_preflight(const ApiRequest *q);

/* Headers of the answer, whatever it will be; a preflight is answered. Negative: it has been. */
int cors_admit(ApiRequest *q);
