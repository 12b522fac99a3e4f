/* connection.h: one TCP connection of a guest, from accept to close.
 *
 *      accepted ─ special address, port 53 ──────────────────────────────→ refused at once, DNS
 *         │ raw TCP to here is allowed ─────────────┐
 *      sniffing: peeks at the first bytes
 *         │ HTTP ───────────────────────────────────┼──────────────────────→ http.c
 *         │ TLS: name is one of the pinned          │
 *      asking: waits for an answer                  │
 *         │ must be inspected ──────────────────────┼──────────────────────→ http.c
 *      dialing ←────────────────────────────────────┘
 *      relaying: relay.c
 *
 * Upstream is only ever the address that the guest named (for a name: an address that it was told). A refused
 * connection is reset and reported.
 * Must not know: DNS messages, HTTP messages, control messages. */
#pragma once

#include "gate/gate.h"

/* Takes ownership of the descriptor. */
void connection_take(GateSandbox *s, int fd);

/* Cuts the connections that the policy no longer allows. */
void connections_policy_changed(GateSandbox *s);
/* Cuts all connections of the sandbox. */
void connections_sandbox_gone(GateSandbox *s);
