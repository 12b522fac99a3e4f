/* tunnel.h: TLS for the client, by way of cove-tls, which is started for each connection (src/tunnel has its side).
 *
 * The client goes on with a plain socket. Where its bytes end, the report tells whether TLS ended in order: the reason of a refused
 * certificate is found there too.
 * Must not know: OpenSSL, HTTP. */
#pragma once

#include "base/error.h"

typedef struct TunnelPeer {
        const char *host; /* that the certificate must be for */
        const char *url;  /* for messages */
        const char *ca;   /* a file; NULL: this machine's trust store */
} TunnelPeer;

/* Gives back a socket that stands for the connected one, which the caller closes, and the report of its end. */
int tunnel_open(const TunnelPeer *peer, int fd, int *ret_report, Error *reterr);

/* After the end of the bytes. Takes any report, and closes it. 0: in order, or no tunnel. */
int tunnel_end(int *report, Error *reterr);
