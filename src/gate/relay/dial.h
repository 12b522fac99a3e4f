/* dial.h: one outgoing TCP connection, made without blocking, within a deadline.
 *
 * Must not know: why. */
#pragma once

#include "gate/gate.h"

#define DIAL_TIMEOUT_USEC (15 * USEC_PER_SEC)

typedef struct Dial Dial;

/* done: called once, not from within dial_new(), with a descriptor that the callback owns, or a negative
 * errno. It may free the Dial. */
int dial_new(Gate *g, const IpAddress *address, uint16_t port, void (*done)(int error, int fd, void *userdata), void *userdata, Dial **ret);
Dial *dial_free(Dial *d);
