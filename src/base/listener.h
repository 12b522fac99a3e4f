/* listener.h: which user listens on a TCP port of this machine, without privileges.
 *
 * The kernel shows the user of every listening socket. A request that needs no key, with a timeout of five seconds,
 * finds out whether the listener is a cove daemon.
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef struct Listener {
        uid_t uid;
        char user[64]; /* its name, or the number where it has none */
        bool is_cove;  /* a daemon that answers plain HTTP */
} Listener;

/* -ENOENT: no listener. Compares ports only: it may find a listener with that port on another address. */
int listener_find(const struct sockaddr *address, socklen_t size, Listener *ret);
