/* http.h: HTTP/1 requests of a guest, examined one by one, plain or inside TLS that the gate opens.
 *
 * connection.c decides that a connection is HTTP (or TLS that must be opened) and hands it over with the name
 * and address that it is bound to. Each request is read (strictly: anything that two parsers could read in
 * two ways is malformed), checked (policy, method, path, sizes, count, credentials) and sent on, and its
 * response is passed back. After a 101 response, the rest is relayed as bytes. A denial is a 403 with a JSON
 * body {"error":{"code":"egress_denied","reason":…,"message":…,"rule":…,"allow":…}} (400 for a malformed
 * request, 504 for a timeout). The connection stays usable where possible.
 * Must not know: DNS, accept. */
#pragma once

#include "gate/credential/credential.h"
#include "gate/gate.h"
#include "gate/http/http-head.h"
#include "gate/tls/authority.h"
#include "gate/tls/hello.h"

typedef struct HttpExchange HttpExchange;

typedef struct HttpStart {
        GateSandbox *sandbox;
        int fd;                   /* the guest's side; ownership is taken. Nothing has been read from it, only peeked at */
        bool tls;                 /* the guest speaks TLS: open it with a certificate for `host` */
        IpAddress address;    /* the guest's destination; upstream is connected to this address only */
        uint16_t port;
        const char *host;         /* TLS: the checked SNI. Plain: NULL; each request's Host is checked against the pins */
        bool approved;            /* this connection was asked about and approved */
} HttpStart;

/* done: the exchange is over (userdata is connection.c's); never called from within http_start(). */
int http_start(const HttpStart *start, void (*done)(HttpExchange *x, void *userdata), void *userdata, HttpExchange **ret);
HttpExchange *http_free(HttpExchange *x); /* cuts it; allowed at any time */
/* Call when the policy has changed. A request that is no longer allowed is cut, even in the middle of a
 * response. */
void http_policy_changed(HttpExchange *x);
