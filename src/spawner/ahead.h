/* ahead.h: parts of future sandboxes, made ahead of requests.
 *
 * A stock of network namespaces, which take the kernel longer than all other parts; gated ones (net.h) are made once
 * one has been requested. Also as many file systems for /dev, and the /etc of the host's template, made again when
 * the host's has changed; and the empty mount namespace from which they are cloned. Everything is made while no request waits, and only as the host's root. A sandbox that
 * finds nothing here makes its own.
 * Must not know: any sandbox. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "jail/emptyns.h"
#include "jail/net.h"
#include "jail/sharedetc.h"

#define AHEAD_NETWORKS_MAX 8
#define AHEAD_DEVS_MAX     8
#define AHEAD_REST_USEC    USEC_PER_SEC

/* Networks of one shape. */
typedef struct AheadStock {
        Network networks[AHEAD_NETWORKS_MAX];
        size_t n;
        bool wanted; /* one has been requested */
        bool broken; /* cannot be made here: not tried again */
} AheadStock;

typedef struct Ahead {
        AheadStock stocks[_SPAWN_NETWORK_MAX]; /* always empty for linked ones: each belongs to one sandbox */
        int home_netns_fd; /* our own; -EBADF: nothing is made ahead */
        int devs[AHEAD_DEVS_MAX]; /* dev.h */
        size_t n_devs;
        bool dev_broken;   /* as in AheadStock */
        SharedEtc etc;
        bool etc_tried;
        bool etc_broken;   /* this kernel copies no detached tree (tree_copy()) */
        NetSettings settings; /* for all networks */
        EmptyNs emptyns;
        bool emptyns_broken;
        int anonymous_fd, anonymous_own_fd; /* with locks on all anonymous files (apart.h): for the sandboxes, and one that no sandbox has */
        usec_t rest;       /* make nothing before this time: the last attempt failed */
} Ahead;

void ahead_init(Ahead *a, bool privileged);

/* Makes one more part, if one is missing and it is time. Takes half a millisecond. */
usec_t ahead_next(const Ahead *a); /* the time for it; USEC_INFINITY: nothing is missing */
void ahead_make_one(Ahead *a);

/* The descriptor stays ours. -EBADF with no error: each sandbox makes its own. */
int ahead_etc(Ahead *a, Error *reterr);

/* The descriptor stays ours. -EBADF: each sandbox takes the locks by itself. */
int ahead_anonymous(Ahead *a);

/* NULL: each sandbox is cloned from our own mounts. */
const EmptyNs *ahead_emptyns(Ahead *a);

/* The caller owns it. -EBADF: there is none. */
int ahead_take_dev(Ahead *a);

/* The caller owns it. If there is none, netns_fd is -EBADF and only the shape is set. */
Network ahead_take_network(Ahead *a, SpawnNetwork shape);
