/* ports.h: on which TCP ports somebody listens inside a sandbox.
 *
 * A worker inside reads what the kernel says of its network. Not we: the kernel walks every connection of the machine for it, which takes
 * milliseconds, and there is one loop.
 * Must not know: HTTP, what ports are for. */
#pragma once

#include "core/sandbox.h"

typedef struct PortsCall PortsCall;

/* Ascending, each once; those of all addresses or of loopback. Not the gate's own. Once, not from within. */
typedef void (*PortsDone)(int error, const uint16_t *ports, size_t n, void *userdata);

int ports_ask(Sandbox *sb, PortsDone done, void *userdata, PortsCall **ret, Error *reterr); /* -ESTALE: not in a state for it */
PortsCall *ports_cancel(PortsCall *c); /* also from within done, where nothing else must be done with it */

/* A line of /proc/net/tcp or tcp6: the port; 0 for a line that is no socket of interest. */
uint16_t ports_of_line(const char *line);
