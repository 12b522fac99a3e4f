/* tunnel.h: TLS for the client, through cove-tls, which is started for each connection (src/tunnel is its
 * code).
 *
 * The client uses a plain socket. After the end of its bytes, the report tells whether TLS ended properly, or
 * why a certificate was refused.
 * Must not know: OpenSSL, HTTP. */
#pragma once

#include "base/error.h"

typedef struct TunnelPeer {
        const char *host; /* the name that the certificate must be valid for */
        const char *url;  /* for messages */
        const char *ca;   /* a file; NULL: the system's trust store */
} TunnelPeer;

/* Returns a socket that replaces the connected one, and the report of its end. The caller closes the returned
 * socket. */
int tunnel_open(const TunnelPeer *peer, int fd, int *ret_report, Error *reterr);

/* Call after the end of the bytes. Accepts any report, and closes it. 0: TLS ended properly, or there was no
 * tunnel. */
int tunnel_end(int *report, Error *reterr);
