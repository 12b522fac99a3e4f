/* net.h: the sandbox's network namespace.
 *
 * Making one takes the kernel about as long as everything else together, so a helper process does it while the caller
 * goes on with the mounts: net_begin() starts it, net_join() waits for it and enters. The namespace has a loopback
 * interface, up, and no other.
 * Runs inside, as root of the sandbox's user namespace. */
#pragma once

#include <sys/types.h>

typedef struct NetHelper {
        pid_t pid; /* 0: none */
        int proc_fd;
        int netns_fd; /* the helper's result, in the descriptor table that both share */
        int error;    /* negative errno of the helper */
} NetHelper;

/* The helper shares our memory and descriptors; *h must stay where it is until net_join(). */
int net_begin(NetHelper *h);
int net_join(NetHelper *h);

int net_loopback_up(void);
