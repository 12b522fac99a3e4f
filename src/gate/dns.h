/* dns.h: the DNS server of one sandbox, and the pins that connections are held to.
 *
 * Answers A and AAAA (AAAA only where the host has IPv6), and for allowed names also CNAME-free synthetic answers to the rest: HTTPS/SVCB, ANY, TXT, … are
 * NOERROR without data; names that the policy does not let through are REFUSED with an extended error (EDE 15) and text; special addresses in
 * an upstream's answer are taken out (all gone: REFUSED, event). TTL is the upstream's, between 1 s and 1 h. TCP and UDP, EDNS0.
 * Isolated sandboxes: names of their group only.
 * A pin says: this sandbox was told that this name has this address. Pins outlive the TTL (programs keep addresses) up to PIN_KEEP; a new answer
 * adds, never moves. Bounded per sandbox.
 * Must not know: connections. */
#pragma once

#include "gate/gate.h"

#define PINS_MAX      4096
#define PIN_KEEP_USEC (24 * 3600 * USEC_PER_SEC)

/* Reads the sandbox's DNS socket; the callback of dns_source. */
int dns_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
/* DNS over TCP: takes the connection (port 53) and its descriptor. */
void dns_take_connection(GateSandbox *s, int fd);
void dns_sandbox_gone(GateSandbox *s); /* drops whatever still waits */

int pins_new(Pins **ret);
Pins *pins_free(Pins *p);
int pins_add(Pins *p, const char *name, const EgressAddress *address, usec_t now);
bool pins_has(const Pins *p, const char *name, const EgressAddress *address);
/* The names this address was told under, newest first, up to max. */
size_t pins_names(const Pins *p, const EgressAddress *address, const char **ret, size_t max);

/* resolver.c: c-ares in the loop, with a cache that is shared by all sandboxes. servers: "addr[:port]"; none: the host's resolv.conf. */
typedef struct ResolverAnswer {
        int error; /* 0; -ENOENT: no such name; -ENODATA; -ETIMEDOUT, -EHOSTUNREACH: upstream is down; -EBADMSG */
        EgressAddress addresses[16];
        size_t n_addresses;
        uint32_t ttl;
} ResolverAnswer;
typedef struct ResolverCall ResolverCall;
int resolver_new(sd_event *event, Resolver **ret, Error *reterr);
Resolver *resolver_free(Resolver *r);
int resolver_set_servers(Resolver *r, const char *const *servers, size_t n, Error *reterr);
/* done: once, not from within. family: AF_INET or AF_INET6. */
ResolverCall *resolver_ask(Resolver *r, const char *name, int family, void (*done)(const ResolverAnswer *a, void *userdata), void *userdata);
ResolverCall *resolver_cancel(ResolverCall *c);

/* udp.h's two doors, here because they are as small: datagrams that are no DNS. */
int udp_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata /* GateSandbox */);
void udp_flow_ready(Gate *g, uint64_t token, int error, int fd); /* control's "flow"; takes fd */
void udp_sandbox_gone(GateSandbox *s);
