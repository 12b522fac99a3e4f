/* net.h: the sandbox's network namespace.
 *
 * Making one takes the kernel longer than any other part of a sandbox, so it is made outside, by the supervisor's side,
 * while the sandbox is busy with its mounts, or before anybody has asked for it. It has a loopback interface, up; what else, is
 * its shape:
 *
 *      none    nothing
 *      gated   every address of the world is local, and all that is sent to one ends in three sockets (net-gated.c, policy/gated.nft)
 *      linked  an interface to the bridge of a hub, which is a namespace without processes that a group shares (net-hub.c)
 *
 * What is made inside for others, comes back with it. A namespace lives as long as somebody is in it, or holds it or one of its
 * sockets; nothing is ever added to the host's own network, so nothing is ever left there.
 * Must not know: how it is handed over, what is done with the sockets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/network.h"

#define NET_SOCKETS_MAX 3
#define NET_NAMES_PORT  53

typedef struct Network {
        SpawnNetwork shape;
        int netns_fd;             /* -EBADF: there is none yet */
        int fds[NET_SOCKETS_MAX]; /* in the order of GUEST_SOCKETS */
        size_t n_fds;
} Network;

#define NETWORK_EMPTY { .netns_fd = -EBADF, .fds = { -EBADF, -EBADF, -EBADF } }

void net_done(Network *n);

/* How many descriptors come with one of that shape. */
size_t net_shape_fds(SpawnNetwork shape);

typedef struct NetRequest {
        SpawnNetwork shape;
        int userns_fd;    /* whose it shall be: only a member can make it. -EBADF: the host's; guests have no right over it then */
        bool open_ports;  /* one that is a sandbox's own: ports below 1024 are everybody's in it too */
        const char *id;   /* linked: the interface in the hub is named after it */
        uint32_t address; /* linked: its own, host byte order */
        int hub_fd;       /* linked: -EBADF: a new one */
} NetRequest;

/* Takes a process of its own for as long as the call lasts. One that belongs to the host's user namespace is entered by whoever
 * makes the sandbox (net_enter) for the length of clone; so that guest root can still serve port 80 of its own loopback, ports
 * need no right there. */
int net_make(const NetRequest *request, Network *ret, Error *reterr);

/* A descriptor that somebody says is a hub of ours: a network namespace that is the host's, but not the one we are in. That it has the
 * bridge of a hub is found out by net_make(). */
int net_check_hub(int fd, Error *reterr);

/* Moves the calling, single-threaded process. */
int net_enter(int netns_fd);

int net_loopback_up(void);
