/* network.h: sockets of the sandbox's own network, made for the daemon.
 *
 * Only a process inside can make them. Nothing here waits for a guest; it waits for the kernel a moment at most.
 * Must not know: what they are used for, the connection to the daemon. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/guest.h"

#define NETWORK_FDS_MAX 3

/* The sockets that the namespace was made with, kept for the daemon. */
typedef struct NetworkFds {
        int fds[NETWORK_FDS_MAX];
        size_t n;
} NetworkFds;

/* Takes the descriptors up to the first -EBADF and moves them out of the reach of shims. */
int network_keep(const int *fds, NetworkFds *ret);

/* The caller owns it; or a negative errno. */
int network_socket(const GuestSocket *request);
