/* place.h: the address of the daemon.
 *
 * It is a unix socket, by its path or by its state directory, or a TCP address with a key, in clear text or
 * by TLS. Options take precedence over the environment, and the environment over the daemon's default.
 * Must not know: HTTP. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* From the command line; NULL: not given. */
typedef struct PlaceOptions {
        const char *socket, *state, *url, *key, *cacert;
} PlaceOptions;

typedef struct Place {
        char *socket; /* NULL: TCP */
        char *host, *port;
        bool tls;
        char *cacert; /* a file of trusted certificates; NULL: the system's */
        char *key;   /* NULL: none; on a unix socket, peer credentials identify us */
        char *label; /* for messages: the path or the address */
        bool given;  /* explicitly named, not the default */
} Place;

int place_find(const PlaceOptions *options, Place *ret, Error *reterr);
void place_done(Place *p);
#define _cleanup_place_ _cleanup_(place_done)

/* Returns a connected, non-blocking socket. -ENOENT: no daemon; the error's text says what to do.
 * *ret_report: for tunnel_end(), when the bytes have ended; -EBADF without TLS. */
int place_connect(const Place *p, int *ret_report, Error *reterr);
