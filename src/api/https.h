/* https.h: TLS, the server's side, with the operator's certificate.
 *
 * No call blocks: after -EAGAIN the caller tries again when the socket is ready for what https_wants_write()
 * says. TLS 1.2 or later, with HTTP/1.1. The requested server name is not used, so one certificate for
 * *.domain serves all sandboxes. The daemon's door to OpenSSL.
 * Must not know: HTTP, the loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct Https Https;               /* certificate and key */
typedef struct HttpsSession HttpsSession; /* one connection */

/* Both files are PEM: the certificate followed by its intermediate certificates; the key without a
 * passphrase. */
int https_new(const char *certificate_file, const char *key_file, Https **ret, Error *reterr);
/* Reads the same files again, for new connections. After a failure the old ones stay. */
int https_read_again(Https *h, Error *reterr);
Https *https_free(Https *h); /* sessions keep what they still need */

int https_accept(Https *h, int fd, HttpsSession **ret); /* fd: borrowed, non-blocking */
HttpsSession *https_session_free(HttpsSession *s);

int https_handshake(HttpsSession *s); /* 0: done. -EAGAIN. Others: failed */
/* Returns the bytes read; 0: close_notify from the client. -EAGAIN, -ECONNRESET (also for an end without
 * close_notify). */
ssize_t https_read(HttpsSession *s, void *data, size_t size);
/* After -EAGAIN, repeat the same bytes, possibly with more after them. */
ssize_t https_write(HttpsSession *s, const void *data, size_t size);
/* Sends close_notify, if possible without blocking. */
void https_say_over(HttpsSession *s);
bool https_wants_write(const HttpsSession *s);
