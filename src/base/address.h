/* address.h: addresses as the kernel has them, and where one leads from this machine: asked before anything is sent there.
 *
 * For whoever connects in somebody else's name: asked about the very address that is then connected to, before connect(2), so that what is
 * refused cannot be told from outside by how long it takes or what is said. For one thread only: it remembers. Must not know: names, policies. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/ip.h"

typedef union SocketAddress {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
} SocketAddress;

/* Returns its size. */
socklen_t address_to_socket(const IpAddress *a, uint16_t port, SocketAddress *ret);
int address_from_socket(const struct sockaddr *from, IpAddress *ret, uint16_t *ret_port); /* -EAFNOSUPPORT */

/* ip_is_reachable(), and none that an interface of ours has, public ones too, unless it is listed. The one rule for every way out: of sandboxes, of
 * webhooks, of registries. */
bool address_is_reachable(const IpAddress *a, IpReach reach, const IpRange *listed, size_t n_listed);

/* This machine has a way out by IPv6. */
bool address_has_ipv6(void);
