/* ahead.h: what sandboxes will need, made before they are asked for.
 *
 * A few network namespaces, which take the kernel longer than all the rest, made while nobody waits, gated ones (net.h) from the
 * first time that one was asked for; as many file systems for /dev; and the /etc of the host's template, made anew when the host's has
 * changed. Only for the host's root. A sandbox that finds nothing here makes its own.
 * Must not know: any sandbox. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "jail/net.h"
#include "jail/sharedetc.h"

#define AHEAD_NETWORKS_MAX 8
#define AHEAD_DEVS_MAX     8
#define AHEAD_REST_USEC    USEC_PER_SEC

/* Networks of one shape. */
typedef struct AheadStock {
        Network networks[AHEAD_NETWORKS_MAX];
        size_t n;
        bool wanted; /* somebody has asked for one */
        bool broken; /* cannot be made here, and never will be: not tried again */
} AheadStock;

typedef struct Ahead {
        AheadStock stocks[_SPAWN_NETWORK_MAX]; /* of linked ones there are none: they are made for somebody */
        int home_netns_fd; /* our own; -EBADF: nothing is made ahead */
        int devs[AHEAD_DEVS_MAX]; /* dev.h */
        size_t n_devs;
        bool dev_broken;   /* as a stock's */
        SharedEtc etc;
        bool etc_tried;
        bool etc_broken;   /* this kernel copies no detached tree (tree_copy()) */
        usec_t rest;       /* not before: something was not to be had */
} Ahead;

void ahead_init(Ahead *a, bool privileged);

/* Makes one thing more, if there is one to make and it is time. Takes half a millisecond. */
usec_t ahead_next(const Ahead *a); /* when that is; USEC_INFINITY: there is none */
void ahead_make_one(Ahead *a);

/* Stays ours. -EBADF with no error: each makes its own. */
int ahead_etc(Ahead *a, Error *reterr);

/* The caller owns it. -EBADF: there is none. */
int ahead_take_dev(Ahead *a);

/* The caller owns it. Without a namespace, but of that shape: there is none. */
Network ahead_take_network(Ahead *a, SpawnNetwork shape);
