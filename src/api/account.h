/* account.h: each call is told to those who keep account: metrics, the audit log, and security events.
 *
 * Told when there is an answer, before it goes out; a client that leaves earlier is told as such.
 * Must not know: what the routes do. */
#pragma once

#include "api/surface.h"

void account_call(ApiRequest *q, unsigned status); /* 0: the client has left. Once per request */
