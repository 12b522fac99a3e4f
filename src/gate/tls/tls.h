/* tls.h: both halves of a TLS connection that is opened: server to the guest, client to the world.
 *
 * Never blocks: who is told -EAGAIN comes again when the socket is ready for what tls_wants_write() says. Speaks TLS 1.2 and later, and
 * HTTP/1.1 within. The client's half is good only when the other side's certificate is, for that very name, by the host's trust store (or the
 * one SSL_CERT_FILE names) and the operator's additional authorities.
 * The door to OpenSSL, together with authority.c.
 * Must not know: HTTP, policy, the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gate/tls/authority.h"

typedef struct Tls Tls;               /* settings and trust, one for all */
typedef struct TlsSession TlsSession; /* one side of one connection */

/* authorities: in PEM, those that count beside the host's; NULL: none. As text: when it comes, we can read few files any more. */
int tls_new(const char *authorities, Tls **ret, Error *reterr);
Tls *tls_free(Tls *t); /* what sessions still need stays with them */

/* fd: borrowed, non-blocking. */
int tls_accept(Tls *t, Authority *a, const char *host, int fd, TlsSession **ret);
int tls_connect(Tls *t, const char *host, int fd, TlsSession **ret);
TlsSession *tls_session_free(TlsSession *s);

/* 0: done. -EAGAIN. Other: over, reterr says why in words a person understands. */
int tls_handshake(TlsSession *s, Error *reterr);
/* Bytes; 0: the other side has said that it is over. -EAGAIN, -ECONNRESET (also when it ended without saying so), -EPROTO. */
ssize_t tls_read(TlsSession *s, void *data, size_t size);
ssize_t tls_write(TlsSession *s, const void *data, size_t size); /* -EAGAIN: the same bytes again, perhaps with more behind them */
int tls_say_over(TlsSession *s); /* nothing more comes from us. -EAGAIN */
bool tls_wants_write(const TlsSession *s);
