/* http.h: HTTP/1 requests of a guest, looked at one by one, plain or inside TLS that was opened for it.
 *
 * connection.c decides that a connection is HTTP (or TLS that must be opened) and hands it over with the name and address it is held to.
 * From there on each request is read (strictly: what two readers could read in two ways is malformed), checked (policy, method, path, sizes,
 * count, credentials), sent on, and its response brought back; 101 makes the rest bytes. A denial is a 403 with a JSON body
 * {"error":{"code":"egress_denied","reason":…,"message":…,"rule":…,"allow":…}} and the connection stays usable where it can.
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
        int fd;                   /* the guest's side; taken. Nothing has been read from it (peeked at only) */
        bool tls;                 /* the guest speaks TLS: open it with a certificate for `host` */
        IpAddress address;    /* where it wanted to go; the upstream connection goes there and nowhere else */
        uint16_t port;
        const char *host;         /* TLS: the checked SNI. Plain: NULL, each request's Host is checked against the pins */
        bool approved;            /* somebody has been asked about this connection, and said yes */
} HttpStart;

/* done: it is over (userdata is connection.c's); never from within. */
int http_start(const HttpStart *start, void (*done)(HttpExchange *x, void *userdata), void *userdata, HttpExchange **ret);
HttpExchange *http_free(HttpExchange *x); /* cuts it, at any moment */
/* The policy has changed: what is not allowed any more is cut, also in the middle of an answer. */
void http_policy_changed(HttpExchange *x);
