/* tls.h: both halves of an opened TLS connection: server towards the guest, client towards the world.
 *
 * Never blocks: after -EAGAIN, the caller tries again when the socket is ready for reading, or for writing if
 * tls_wants_write(). Speaks TLS 1.2 and later, with HTTP/1.1 inside. The client half accepts only a
 * certificate that is valid for that very name, by the host's trust store (or the one that SSL_CERT_FILE
 * names) or the operator's additional authorities.
 * With authority.c, the only user of OpenSSL in the gate.
 * Must not know: HTTP, policy, the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gate/tls/authority.h"

typedef struct Tls Tls;               /* settings and trust, one for all */
typedef struct TlsSession TlsSession; /* one side of one connection */

/* authorities: additional trusted certificates, in PEM; NULL: none. They are passed as text, because few
 * files are readable after gate_confine(). */
int tls_new(const char *authorities, Tls **ret, Error *reterr);
Tls *tls_free(Tls *t); /* sessions keep what they still need */

/* fd: borrowed, non-blocking. */
int tls_accept(Tls *t, Authority *a, const char *host, int fd, TlsSession **ret);
int tls_connect(Tls *t, const char *host, int fd, TlsSession **ret);
TlsSession *tls_session_free(TlsSession *s);

/* 0: done. -EAGAIN. Other: failed; reterr has an explanation for people. */
int tls_handshake(TlsSession *s, Error *reterr);
/* Returns bytes. 0: the peer has closed TLS. -EAGAIN, -ECONNRESET (also for an end without a TLS close),
 * -EPROTO. */
ssize_t tls_read(TlsSession *s, void *data, size_t size);
ssize_t tls_write(TlsSession *s, const void *data, size_t size); /* after -EAGAIN: call with the same bytes again, more may follow them */
int tls_say_over(TlsSession *s); /* closes our direction. -EAGAIN */
bool tls_wants_write(const TlsSession *s);
