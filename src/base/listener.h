/* listener.h: who listens on a TCP port of this machine, as far as a stranger can see.
 *
 * The kernel tells the user of every listening socket. Whether it is a cove daemon is asked of it, with a request that needs no key and
 * gets a second.
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef struct Listener {
        uid_t uid;
        char user[64]; /* its name, or the number where it has none */
        bool is_cove;  /* a daemon that answers in clear */
} Listener;

/* -ENOENT: nobody. Ports count, whatever the address: who has it on another one may be found instead. */
int listener_find(const struct sockaddr *address, socklen_t size, Listener *ret);
