/* dns-internal.h: what the parts of a sandbox's DNS server share: dns.c, dns-tcp.c (how questions come and answers go), dns-request.c (what the
 * answer is). */
#pragma once

#include <netinet/in.h>

#include "gate/dns/dns-message.h"
#include "gate/dns/dns.h"

#define DNS_REQUESTS_MAX     256 /* of one sandbox, that wait for something */
#define DNS_CONNECTIONS_MAX  32
#define DNS_PIPELINE_MAX     16 /* questions of one connection that wait */
#define DNS_TCP_IDLE_USEC    (10 * USEC_PER_SEC)
#define DNS_UPSTREAM_PER_SEC 200
#define DNS_UPSTREAM_BURST   400

typedef struct DnsServer DnsServer;
typedef struct DnsRequest DnsRequest;
typedef struct DnsTcp DnsTcp;

struct DnsServer {
        GateSandbox *sandbox;
        DnsRequest *requests;
        size_t n_requests;
        DnsTcp *connections;
        size_t n_connections;
        usec_t upstream_credit, upstream_at; /* time saved up for questions to upstream */
};

/* Who gets the answer. */
typedef struct DnsClient {
        DnsTcp *tcp; /* NULL: by UDP */
        struct sockaddr_in6 from;
        struct in6_addr asked; /* the address that the question went to: the answer comes from there */
} DnsClient;

/* NULL: no memory. */
DnsServer *dns_server_get(GateSandbox *s);
void dns_send(DnsServer *v, const DnsClient *client, const DnsQuestion *q, const DnsAnswer *a);

/* Reads a question and answers it, now or later. */
void dns_request_take(DnsServer *v, const DnsClient *client, const uint8_t *data, size_t size);
void dns_request_free(DnsRequest *r);
/* Those of a connection that goes. */
void dns_requests_drop(DnsServer *v, const DnsTcp *t);

/* The number of questions of the connection that wait. */
void dns_tcp_begin(DnsTcp *t);
void dns_tcp_end(DnsTcp *t);
void dns_tcp_send(DnsTcp *t, const uint8_t *data, size_t size);
void dns_tcp_free(DnsTcp *t);
