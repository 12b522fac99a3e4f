/* relay.h: moves bytes between two sockets by splice(2); they never enter user space.
 *
 * The directions are independent: the end of one is passed on, and the other continues. An error on one side
 * is passed to the other as an error. When one side does not accept bytes, the other side is not read: at
 * most one pipe's content is held. Bytes are counted and wait for the sandbox's buckets.
 * Must not know: policies, the content. */
#pragma once

#include "gate/gate.h"

typedef struct Relay Relay;

typedef enum RelayEnd {
        RELAY_OVER,   /* both sides have ended */
        RELAY_FAILED, /* one side was reset */
        RELAY_TOTAL,  /* the sandbox has reached its byte limit */
        RELAY_SILENT, /* upstream did not send its first byte in time */
} RelayEnd;

/* Borrows both descriptors, which must be nonblocking. done: called once; it may free the relay.
 * silence_usec: limit for the wait for upstream's first byte; 0: none. */
int relay_new(GateSandbox *s, int guest_fd, int upstream_fd, usec_t silence_usec, void (*done)(RelayEnd end, void *userdata), void *userdata, Relay **ret);
Relay *relay_free(Relay *r);
