/* udp.h: datagrams of a sandbox, except DNS.
 *
 * A denied datagram vanishes: the gate cannot create an ICMP error from outside, so the program sees silence,
 * and people and models see the event. An allowed datagram makes a flow: an outer socket to the one
 * destination, and an inner socket that coved has PID 1 create, which sends from the destination's address.
 * Datagrams then pass both ways, counted and within the sandbox's rate (those beyond it are dropped, as
 * networks do), until none has passed for UDP_IDLE_USEC. QUIC is a datagram like any other: only a rule with
 * the protocol udp lets it out, so HTTP/3 cannot avoid TLS inspection.
 * Must not know: the content of datagrams. */
#pragma once

#include "gate/gate.h"

#define UDP_FLOWS_PER_SEC 100
#define UDP_FLOWS_BURST   512
#define UDP_FLOWS_MAX 256 /* per sandbox; a further one evicts the longest idle */
#define UDP_IDLE_USEC (60 * USEC_PER_SEC)

int udp_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
void udp_flow_ready(Gate *g, uint64_t token, int error, int fd); /* control.h's "flow"; takes ownership of fd */
void udp_set_priority(GateSandbox *s, int64_t priority); /* of its flows' event sources */
void udp_policy_changed(GateSandbox *s); /* cuts the flows that are no longer allowed */
void udp_sandbox_gone(GateSandbox *s);
