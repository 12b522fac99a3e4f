/* account.h: reports each call to metrics, the audit log and security events.
 *
 * A call is reported when its answer is ready, before it is sent. If the client leaves earlier, that is
 * reported.
 * Must not know: what the routes do. */
#pragma once

#include "api/surface.h"

void account_call(ApiRequest *q, unsigned status); /* 0: the client has left. Call it once per request */
