/* dns.h: the DNS server of one sandbox.
 *
 * Answers A and AAAA (AAAA only if the host has IPv6). Only names that the policy allows are asked upstream,
 * and only for addresses: all other types (HTTPS, SVCB, ANY, TXT, …) get NOERROR without data, so that a
 * question carries nothing out. Other names are REFUSED with extended error 15 and the text of
 * egress_explain(). A name that the policy asks about waits for the answer. Special addresses are removed
 * from an upstream's answer (if none is left: REFUSED, and an event). Every address is pinned before it is
 * sent. The TTL is the upstream's, between 1 s and 1 h. If upstream is down: SERVFAIL with extended error 23.
 * Transports are UDP and TCP, with EDNS0. Isolated sandboxes resolve the names of their group only.
 * Must not know: connections, c-ares. */
#pragma once

#include "gate/dns/pins.h"
#include "gate/dns/resolver.h"
#include "gate/gate.h"
#include "gate/relay/udp.h"

/* Reads the sandbox's DNS socket; the callback of dns_source. */
int dns_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
/* DNS over TCP: takes ownership of the descriptor of a connection to port 53. */
void dns_take_connection(GateSandbox *s, int fd);
void dns_set_priority(GateSandbox *s, int64_t priority); /* of its connections' event sources */
void dns_sandbox_gone(GateSandbox *s); /* drops pending requests and connections */
