/* address.h: where an address leads, as far as it must be known before anything is sent there.
 *
 * For whoever connects in somebody else's name: asked about the very address that is then connected to, before connect(2), so that what is
 * refused cannot be told from outside by how long it takes or what is said. IPv6 that stands for IPv4 (mapped, NAT64, 6to4) is what it stands for.
 * Knows libc only. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/* Somebody's on the Internet. Not of this machine, of private and link-local networks (where clouds keep their credentials), of carriers, multicast
 * and what is reserved. */
bool address_is_public(const struct sockaddr *address);

/* This machine, what is next to it without a router, or nobody in particular: loopback, unspecified, link-local, multicast, and every address that an
 * interface of ours has, public ones too. A private network is not. */
bool address_is_inside(const struct sockaddr *address);

/* One that an interface of ours has, or loopback. */
bool address_is_ours(const struct sockaddr *address);

/* From which of our addresses one would go there; a negative errno: there is no way. */
int address_source(const struct sockaddr *to, struct sockaddr_storage *ret);
