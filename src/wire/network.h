/* network.h: definitions that spawn.h and guest.h share.
 *
 * Must not know: either of them. */
#pragma once

/* The shape of a sandbox's network namespace; the caller decides what it is used for. */
typedef enum SpawnNetwork {
        SPAWN_NETWORK_NONE,   /* loopback */
        SPAWN_NETWORK_GATED,  /* every address is local; all traffic ends in sockets that PID 1 keeps for coved */
        SPAWN_NETWORK_LINKED, /* an interface to a hub that a group of sandboxes shares; no route beyond the group */
        _SPAWN_NETWORK_MAX,
} SpawnNetwork;

#define NET_GATE_PORT 15001 /* of the listener inside a gated namespace; policy/gated.nft has it too */
