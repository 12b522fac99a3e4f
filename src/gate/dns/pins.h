/* pins.h: what one sandbox was told of names: this name has this address.
 *
 * A connection or datagram to an address is held to the names that the sandbox was told for it, so a name in a TLS hello or an HTTP head can
 * neither be made up nor be moved elsewhere. A pin outlives its TTL (programs keep addresses), up to PIN_KEEP_USEC after it was last told; a new
 * answer adds, it never moves or removes. Bounded: beyond PINS_MAX the one that was told the longest ago goes.
 * Must not know: DNS messages, sandboxes, policy, the clock. */
#pragma once

#include "policy/egress.h"

#define PINS_MAX      4096
#define PIN_KEEP_USEC (24 * 3600 * USEC_PER_SEC)

typedef struct Pins Pins;

int pins_new(Pins **ret);
Pins *pins_free(Pins *p);

/* name: normalised. Told again, it is the newest again. What was told too long ago goes now, so the lookups need no clock: with nothing new,
 * the old stays. */
int pins_add(Pins *p, const char *name, const IpAddress *address, usec_t now);
bool pins_has(const Pins *p, const char *name, const IpAddress *address);
/* The names that this address was told under, the newest first, up to max. They are good until the next pins_add(). */
size_t pins_names(const Pins *p, const IpAddress *address, const char **ret, size_t max);
size_t pins_count(const Pins *p);
