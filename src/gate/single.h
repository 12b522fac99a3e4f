/* single.h: the gate of one `cove run`: one sandbox, known from the start, and gone with it.
 *
 * There is nobody to ask, so what would ask is denied. Events are lines of JSON; the first one is {"done":0} with the certificate of the
 * sandbox's authority, where TLS will be opened.
 * Must not know: the command line. */
#pragma once

#include "gate/gate.h"

typedef struct SingleConfig {
        int policy_fd;     /* the object "network" of egress.h; read to its end */
        int sockets[3];    /* TCP listener, DNS, UDP */
        int pidfd;
        int events_fd;     /* -EBADF: nobody wants to know */
        const char *const *dns;
        size_t n_dns;
        const char *const *reachable;
        size_t n_reachable;
        const char *const *packages; /* beside those that we ship, for "packages" */
        size_t n_packages;
} SingleConfig;

typedef struct Single Single;

/* Takes the descriptors. */
int single_new(Gate *g, const SingleConfig *config, Single **ret, Error *reterr);
Single *single_free(Single *s);
