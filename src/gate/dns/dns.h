/* dns.h: the DNS server of one sandbox.
 *
 * Answers A and AAAA (AAAA only where the host has IPv6). Only names that the policy lets through are ever asked upstream, and only for addresses:
 * all other types (HTTPS, SVCB, ANY, TXT, …) are NOERROR without data, so that a question carries nothing out. Other names are REFUSED with an
 * extended error (15) and the words of egress_explain(); what must be asked waits for the answer. Special addresses in an upstream's answer are
 * taken out (all gone: REFUSED, event); every address that is told is pinned first. TTL is the upstream's, between 1 s and 1 h. Upstream down is SERVFAIL with
 * extended error 23. TCP and UDP, EDNS0. Isolated sandboxes: names of their group only.
 * Must not know: connections, c-ares. */
#pragma once

#include "gate/dns/pins.h"
#include "gate/dns/resolver.h"
#include "gate/gate.h"
#include "gate/relay/udp.h"

/* Reads the sandbox's DNS socket; the callback of dns_source. */
int dns_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
/* DNS over TCP: takes the connection (port 53) and its descriptor. */
void dns_take_connection(GateSandbox *s, int fd);
void dns_set_priority(GateSandbox *s, int64_t priority); /* of what its connections wait for */
void dns_sandbox_gone(GateSandbox *s); /* drops whatever still waits */
