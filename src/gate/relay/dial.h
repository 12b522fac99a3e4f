/* dial.h: one TCP connection to the world, made without waiting, within a deadline.
 *
 * Must not know: why. */
#pragma once

#include "gate/gate.h"

#define DIAL_TIMEOUT_USEC (15 * USEC_PER_SEC)

typedef struct Dial Dial;

/* done: once, not from within, with a descriptor that is the callee's, or a negative errno. The Dial may be freed in it. */
int dial_new(Gate *g, const IpAddress *address, uint16_t port, void (*done)(int error, int fd, void *userdata), void *userdata, Dial **ret);
Dial *dial_free(Dial *d);
