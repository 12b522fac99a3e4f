/* address.h: whether an address is somebody's on the Internet.
 *
 * Not those of this machine, of private and link-local networks (where clouds keep their credentials), of carriers, multicast and
 * what is reserved; nor an IPv6 address that stands for such a one. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

bool address_is_public(const struct sockaddr *address);
