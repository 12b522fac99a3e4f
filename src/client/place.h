/* place.h: where the daemon is.
 *
 * A unix socket, by its path or by the state directory it lies in, or a TCP address with a key, in clear or by TLS. Options come before the
 * environment, the environment before what a daemon takes by default.
 * Must not know: HTTP. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* What the command line said; NULL: nothing. */
typedef struct PlaceOptions {
        const char *socket, *state, *url, *key, *cacert;
} PlaceOptions;

typedef struct Place {
        char *socket; /* NULL: TCP */
        char *host, *port;
        bool tls;
        char *cacert; /* a file of trusted certificates; NULL: this machine's */
        char *key;   /* NULL: the socket tells who we are */
        char *label; /* for people: the path or the address */
        bool given;  /* somebody named it: it is not the default */
} Place;

int place_find(const PlaceOptions *options, Place *ret, Error *reterr);
void place_done(Place *p);
#define _cleanup_place_ _cleanup_(place_done)

/* A connected socket, non-blocking. -ENOENT: nobody is there, and the error's text says what to do. *ret_report: for tunnel_end(), when
 * the bytes have ended; -EBADF where there is no TLS. */
int place_connect(const Place *p, int *ret_report, Error *reterr);
