/* dns-internal.h: shared by the parts of a sandbox's DNS server: dns.c, dns-tcp.c (transport of questions and
 * answers), dns-request.c (decides the answer). */
#pragma once

#include <netinet/in.h>

#include "gate/dns/dns-message.h"
#include "gate/dns/dns.h"

#define DNS_REQUESTS_MAX     256 /* pending requests of one sandbox */
#define DNS_CONNECTIONS_MAX  32
#define DNS_PIPELINE_MAX     16 /* pending questions of one connection */
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
        usec_t upstream_credit, upstream_at; /* credit for questions to upstream, in time; as of upstream_at */
};

/* The receiver of an answer. */
typedef struct DnsClient {
        DnsTcp *tcp; /* NULL: by UDP */
        struct sockaddr_in6 from;
        struct in6_addr asked; /* the address that the question was sent to: the answer is sent from it */
} DnsClient;

/* NULL: no memory. */
DnsServer *dns_server_get(GateSandbox *s);
void dns_send(DnsServer *v, const DnsClient *client, const DnsQuestion *q, const DnsAnswer *a);

/* Reads a question and answers it, now or later. */
void dns_request_take(DnsServer *v, const DnsClient *client, const uint8_t *data, size_t size);
void dns_request_free(DnsRequest *r);
/* Drops the pending requests of a connection that is being closed. */
void dns_requests_drop(DnsServer *v, const DnsTcp *t);

/* Count the pending questions of the connection. */
void dns_tcp_begin(DnsTcp *t);
void dns_tcp_end(DnsTcp *t);
void dns_tcp_send(DnsTcp *t, const uint8_t *data, size_t size);
void dns_tcp_free(DnsTcp *t);
