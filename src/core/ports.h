/* ports.h: the TCP ports that have a listener inside a sandbox.
 *
 * A worker inside the sandbox reads /proc/net/tcp, not the daemon: for each read the kernel walks every connection
 * of the machine, which takes milliseconds and would block the daemon's only loop.
 * Must not know: HTTP, what ports are for. */
#pragma once

#include "core/sandbox.h"

typedef struct PortsCall PortsCall;

/* ports: ascending, each once; listeners on all addresses or on loopback, without the gate's own. Called once, not
 * from within ports_ask(). */
typedef void (*PortsDone)(int error, const uint16_t *ports, size_t n, void *userdata);

int ports_ask(Sandbox *sb, PortsDone done, void *userdata, PortsCall **ret, Error *reterr); /* -ESTALE: not in a state for it */
PortsCall *ports_cancel(PortsCall *c); /* also from within done; the call must not be used after it */

/* The port of a line of /proc/net/tcp or tcp6; 0: not a listener that loopback reaches. */
uint16_t ports_of_line(const char *line);
