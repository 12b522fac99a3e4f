/* single.h: the gate of one `cove run`: one sandbox, known from the start; the gate ends with it.
 *
 * No person can be asked, so a request that the policy would ask about is denied. Events are lines of JSON;
 * the first one is {"done":0} with the certificate of the sandbox's authority, if TLS will be opened.
 * Must not know: the command line. */
#pragma once

#include "gate/gate.h"

typedef struct SingleConfig {
        int policy_fd;     /* the object "network" of egress.h; read to the end */
        int sockets[3];    /* TCP listener, DNS, UDP */
        int pidfd;
        int events_fd;     /* -EBADF: no events */
        const char *const *dns;
        size_t n_dns;
        const char *const *reachable;
        size_t n_reachable;
        const char *const *packages; /* rules for "packages", in addition to the built-in ones */
        size_t n_packages;
} SingleConfig;

typedef struct Single Single;

/* Takes ownership of the descriptors. */
int single_new(Gate *g, const SingleConfig *config, Single **ret, Error *reterr);
Single *single_free(Single *s);
