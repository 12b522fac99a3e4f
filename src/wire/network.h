/* network.h: words that spawn.h and guest.h share.
 *
 * Must not know: either of them. */
#pragma once

/* The shape of a sandbox's network namespace; what it is used for is the caller's. */
typedef enum SpawnNetwork {
        SPAWN_NETWORK_NONE,   /* loopback */
        SPAWN_NETWORK_GATED,  /* every address is local; all of it ends in sockets that PID 1 keeps for coved */
        SPAWN_NETWORK_LINKED, /* an interface to a hub that a group of sandboxes shares, and nothing behind it */
        _SPAWN_NETWORK_MAX,
} SpawnNetwork;

#define NET_GATE_PORT 15001 /* inside of a gated one, of the listener; policy/gated.nft has it too */
