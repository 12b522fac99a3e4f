/* ahead.h: what sandboxes will need, made before they are asked for.
 *
 * A few network namespaces, which take the kernel longer than all the rest, made while nobody waits; and the shared part of /dev,
 * made once. Only for the host's root. A sandbox that finds nothing here makes its own.
 * Must not know: any sandbox. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define AHEAD_NETWORKS_MAX 8

typedef struct Ahead {
        int networks[AHEAD_NETWORKS_MAX];
        size_t n_networks;
        int home_netns_fd; /* our own; -EBADF: nothing is made ahead */
        int dev_fd;        /* -EBADF: each makes its own */
        bool networks_broken; /* could not be made: not tried again */
} Ahead;

void ahead_init(Ahead *a, bool privileged);

/* Makes one thing more, if there is one to make. Takes half a millisecond. */
bool ahead_wants(const Ahead *a);
void ahead_make_one(Ahead *a);

/* The caller owns it; -EBADF: there is none. */
int ahead_take_network(Ahead *a);
