/* udp.h: datagrams of a sandbox that are no DNS.
 *
 * Denied ones vanish: an ICMP error cannot be made from out here, so the program sees silence, people and models see the event. An allowed one
 * makes a flow: a socket of ours to the one destination, and a socket inside that coved has made by PID 1, which speaks in the destination's name.
 * Datagrams then go to and fro, counted, within the sandbox's rate (what is beyond is dropped, as networks do), until nothing has come for
 * UDP_IDLE_USEC. QUIC is a datagram like any other: only a rule with the protocol udp lets it out, so HTTP/3 is no way around the look into TLS.
 * Must not know: what is in them. */
#pragma once

#include "gate/gate.h"

#define UDP_FLOWS_PER_SEC 100
#define UDP_FLOWS_BURST   512
#define UDP_FLOWS_MAX 256 /* per sandbox; beyond, the one that is idle the longest goes */
#define UDP_IDLE_USEC (60 * USEC_PER_SEC)

int udp_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
void udp_flow_ready(Gate *g, uint64_t token, int error, int fd); /* control's "flow"; takes fd */
void udp_set_priority(GateSandbox *s, int64_t priority); /* of what its flows wait for */
void udp_policy_changed(GateSandbox *s); /* cuts what is not allowed any more */
void udp_sandbox_gone(GateSandbox *s);
