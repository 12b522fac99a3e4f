/* pins.h: the name-to-address answers that one sandbox was given.
 *
 * A connection or datagram to an address is bound to the names that the sandbox was given this address for,
 * so a name in a TLS hello or an HTTP head can neither be invented nor be used with another address. A pin
 * outlives its TTL (programs keep addresses): it lasts PIN_KEEP_USEC after it was last given. A new answer
 * only adds pins; it never moves or removes one. Bounded: beyond PINS_MAX, the one that was given the longest
 * ago is removed.
 * Must not know: DNS messages, sandboxes, policy, the clock. */
#pragma once

#include "policy/egress.h"

#define PINS_MAX      4096
#define PIN_KEEP_USEC (24 * 3600 * USEC_PER_SEC)

typedef struct Pins Pins;

int pins_new(Pins **ret);
Pins *pins_free(Pins *p);

/* Adds a pin, or makes an existing one the newest. name: normalised. Expired pins are removed only here, so
 * lookups need no clock: without new answers, old pins stay. */
int pins_add(Pins *p, const char *name, const IpAddress *address, usec_t now);
bool pins_has(const Pins *p, const char *name, const IpAddress *address);
/* The names that this address was given for, newest first, up to max. Valid until the next pins_add(). */
size_t pins_names(const Pins *p, const IpAddress *address, const char **ret, size_t max);
size_t pins_count(const Pins *p);
