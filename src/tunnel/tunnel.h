/* tunnel.h: cove-tls: TLS for a program that speaks plain HTTP.
 *
 * cove-client starts it for a daemon behind https://, so that the other verbs load no TLS library. Its descriptors are
 *
 *      0       a stream socket to cove-client: plain bytes, both ways
 *      1       a connected TCP socket to the server
 *      2       a pipe: the reason of a failure, as base/program.h has it; closed without a word before descriptor 0 ends in order
 *
 * The certificate is verified, and its name is compared with the host of the URL; no option skips this, since the
 * first request carries the caller's key. An end of the stream without a TLS close_notify is a failure, so an
 * attacker cannot truncate an answer unnoticed. The program ends when either side ends.
 * The command line's only door to OpenSSL.
 * Must not know: HTTP, what the bytes mean. */
#pragma once

#include <stdbool.h>

#include "confine/program.h"

#define TUNNEL_NEAR 0
#define TUNNEL_FAR  1

struct ssl_ctx_st;
struct ssl_st;
struct x509_st;

typedef struct TlsTunnel {
        ProgramArguments words; /* the operand: host as the URL has it */
        const char *url;        /* for messages */
        const char *ca;         /* a file; NULL: the host's trust store */
        struct ssl_ctx_st *context;
        struct ssl_st *ssl;
        bool established;        /* the handshake is over */
        struct x509_st *refused; /* the server's certificate, if it or its chain was rejected */
} TlsTunnel;

/* session.c */
int tunnel_prepare(TlsTunnel *t, Error *reterr); /* trust and the session; opens files */
void tunnel_done(TlsTunnel *t);
int tunnel_handshake(TlsTunnel *t, Error *reterr); /* -EPIPE: cove-client is gone */

/* Neither blocks. Return the bytes; 0: the server has announced its end (read), or nothing was sent (write); -EAGAIN,
 * with the poll events of the far side in *ret_events. */
ssize_t tunnel_read(TlsTunnel *t, void *data, size_t size, short *ret_events, Error *reterr);
ssize_t tunnel_write(TlsTunnel *t, const void *data, size_t size, short *ret_events, Error *reterr);
void tunnel_say_over(TlsTunnel *t);

/* explain.c: describes a failed handshake, with a cure. Returns the error code of its kind. */
int tunnel_explain(const TlsTunnel *t, int code, Error *reterr);

/* relay.c: bytes both ways until one side ends. */
int tunnel_relay(TlsTunnel *t, Error *reterr);
