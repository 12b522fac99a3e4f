/* connection.h: one TCP connection of a guest, from its acceptance to its end.
 *
 *      accepted ─ special address, port 53 ──────────────────────────────→ out at once, DNS
 *         │ raw TCP to here is allowed ─────────────┐
 *      sniffing: the first bytes, looked at, not read
 *         │ HTTP ───────────────────────────────────┼──────────────────────→ http.c
 *         │ TLS: name is one of the pinned          │
 *      asking: waits for somebody's answer          │
 *         │ must be seen inside ────────────────────┼──────────────────────→ http.c
 *      dialing ←────────────────────────────────────┘
 *      relaying: relay.c
 *
 * Upstream is the address that the guest named (and was told, for a name) and no other. What is refused is reset, and told.
 * Must not know: DNS messages, HTTP messages, control messages. */
#pragma once

#include "gate/gate.h"

/* Takes the descriptor. */
void connection_take(GateSandbox *s, int fd);

/* Cuts what the policy does not allow any more. */
void connections_policy_changed(GateSandbox *s);
/* Cuts all. */
void connections_sandbox_gone(GateSandbox *s);
