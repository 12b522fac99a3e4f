/* listener.h: accepts connections of a sandbox while there is room; the rest waits in the kernel's queue.
 *
 * Must not know: what becomes of the connections. */
#pragma once

#include "gate/gate.h"

#define LISTENER_CONNECTIONS_MAX 1024 /* of one sandbox */

/* The callback of tcp_source. */
int listener_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
/* Call when a connection has ended: there may be room again. */
void listener_resume(GateSandbox *s);
