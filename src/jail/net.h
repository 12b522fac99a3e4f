/* net.h: the sandbox's network namespace.
 *
 * Making one takes the kernel longer than any other part of a sandbox. The supervisor's side therefore makes it
 * outside, while the sandbox is busy with its mounts, or ahead of any request. It has a loopback interface, up; its
 * shape defines the rest:
 *
 *      none    nothing
 *      gated   every address of the world is local, and all traffic to one ends in three sockets (net-gated.c, policy/gated.nft)
 *      linked  an interface to a hub, a namespace without processes that routes between the members of a group (net-hub.c)
 *
 * The sockets made inside are returned with it. A namespace lives as long as a process is in it, or holds it or one of
 * its sockets. Nothing is ever added to the host's own network, so nothing is left behind there.
 * Must not know: how it is handed over, how the sockets are used. */
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

/* Number of sockets that come with a network of that shape. */
size_t net_shape_fds(SpawnNetwork shape);

/* An instance of /proc of the maker's own, through which it writes settings of networks. In one instance the kernel has
 * the entries of all networks for one setting in one hash chain, and walks it whenever one is opened: 1 µs for each live
 * network. So an instance is used for NET_SETTINGS_USES networks. */
typedef struct NetSettings {
        int proc_fd; /* -EBADF: none yet, or none can be made: the host's is used */
        unsigned n_used;
} NetSettings;

#define NET_SETTINGS_EMPTY { .proc_fd = -EBADF }
#define NET_SETTINGS_USES  64

typedef struct NetRequest {
        SpawnNetwork shape;
        int userns_fd;    /* the user namespace that owns it; only a member can make it. -EBADF: the host's; guests then have no rights over it */
        bool open_ports;  /* with a user namespace of a sandbox: any guest may bind ports below 1024 too */
        const char *id;   /* linked: the interface in the hub is named after it */
        uint32_t address; /* linked: its own, host byte order */
        int hub_fd;       /* linked: -EBADF: a new one */
        NetSettings *settings; /* NULL: written through the host's /proc */
} NetRequest;

/* Uses a process of its own for the length of the call. If the namespace belongs to the host's user namespace, the
 * maker of the sandbox enters it (net_enter) for the length of clone; ports below 1024 need no privilege in it, so
 * that guest root can still serve port 80 on its own loopback. */
int net_make(const NetRequest *request, Network *ret, Error *reterr);

/* Checks an untrusted descriptor of a hub: it must be a network namespace that the host's user namespace owns, other
 * than our own. net_make() finds out whether it has the interface of a hub. */
int net_check_hub(int fd, Error *reterr);

/* Moves the calling, single-threaded process. */
int net_enter(int netns_fd);

int net_loopback_up(void);
