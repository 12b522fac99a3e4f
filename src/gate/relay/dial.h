/* dial.h: one outgoing TCP connection, made without blocking, within a deadline: directly, or through the proxy of this machine.
 *
 *      directly         connect
 *      by a proxy       look its name up (resolver.h) · connect · for a tunnel: CONNECT HOST:PORT, and its answer
 *
 * Must not know: why. */
#pragma once

#include "gate/gate.h"

#define DIAL_TIMEOUT_USEC (15 * USEC_PER_SEC)

typedef struct Dial Dial;

typedef struct DialTarget {
        IpAddress address;               /* ignored with a proxy */
        uint16_t port;
        const struct ProxyServer *proxy; /* NULL: directly. Copied */
        const char *host;                /* with a proxy: the name to connect to */
        bool tunnel;                     /* with a proxy: the connection's bytes are the host's. Otherwise the caller speaks to the proxy */
} DialTarget;

/* done: called once, not from within dial_new(), with a descriptor that the callback owns, or a negative
 * errno. It may free the Dial. */
int dial_new(Gate *g, const DialTarget *to, void (*done)(int error, int fd, void *userdata), void *userdata, Dial **ret);
Dial *dial_free(Dial *d);
