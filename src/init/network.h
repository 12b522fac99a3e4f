/* network.h: sockets of the sandbox's own network, made for the daemon.
 *
 * Only who is inside can make them. Nothing here waits for anybody but the kernel, and for that a moment at most.
 * Must not know: what they are used for, the connection to the daemon. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/guest.h"

#define NETWORK_FDS_MAX 3

/* What the namespace was made with, kept for whoever asks. */
typedef struct NetworkFds {
        int fds[NETWORK_FDS_MAX];
        size_t n;
} NetworkFds;

/* Takes those that are there, out of the reach of shims. */
int network_keep(const int *fds, NetworkFds *ret);

/* The caller owns it; or a negative errno. */
int network_socket(const GuestSocket *request);
