/* relay.h: bytes from one socket to another and back, by splice(2): they are never ours.
 *
 * Both directions are independent: the end of one is passed on as such, and the other goes on. An error of one side is an error to the other. What
 * one side does not take, the other is not read for: beyond one pipe nothing is held. Bytes are counted and wait for the sandbox's buckets.
 * Must not know: policies, what the bytes are. */
#pragma once

#include "gate/gate.h"

typedef struct Relay Relay;

typedef enum RelayEnd {
        RELAY_OVER,   /* both sides have said all */
        RELAY_FAILED, /* one of them was reset */
        RELAY_TOTAL,  /* the sandbox has used up its bytes */
        RELAY_SILENT, /* upstream has not said a word in time */
} RelayEnd;

/* Borrows both descriptors; they must be nonblocking. done: once; the relay may be freed in it. silence_usec: how long upstream may take to its first
 * byte; 0: for ever. */
int relay_new(GateSandbox *s, int guest_fd, int upstream_fd, usec_t silence_usec, void (*done)(RelayEnd end, void *userdata), void *userdata, Relay **ret);
Relay *relay_free(Relay *r);
