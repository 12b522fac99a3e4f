/* https.h: TLS, the server's side, with the operator's certificate.
 *
 * Never blocks: who is told -EAGAIN comes again when the socket is ready for what https_wants_write() says. Speaks TLS 1.2 and later, and HTTP/1.1 within;
 * nothing depends on the name that a client asks for, so that one certificate for *.domain serves all sandboxes.
 * The daemon's door to OpenSSL.
 * Must not know: HTTP, the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct Https Https;               /* certificate and key */
typedef struct HttpsSession HttpsSession; /* one connection */

/* Both in PEM: the certificate with those between it and its authority behind it, the key without a passphrase. */
int https_new(const char *certificate_file, const char *key_file, Https **ret, Error *reterr);
/* The same files once more, for connections from now on. When it fails the old ones stay. */
int https_read_again(Https *h, Error *reterr);
Https *https_free(Https *h); /* what sessions still need stays with them */

int https_accept(Https *h, int fd, HttpsSession **ret); /* fd: borrowed, non-blocking */
HttpsSession *https_session_free(HttpsSession *s);

int https_handshake(HttpsSession *s); /* 0: done. -EAGAIN. Other: over */
/* Bytes; 0: the client has said that it is over. -EAGAIN, -ECONNRESET (also when it ended without saying so). */
ssize_t https_read(HttpsSession *s, void *data, size_t size);
ssize_t https_write(HttpsSession *s, const void *data, size_t size); /* -EAGAIN: the same bytes again, perhaps with more behind them */
void https_say_over(HttpsSession *s);                                /* nothing more comes from us; if it can be said at once */
bool https_wants_write(const HttpsSession *s);
