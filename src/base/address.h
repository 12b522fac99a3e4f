/* address.h: socket addresses, and whether this machine may connect to an address for somebody else.
 *
 * For code that connects on behalf of a client. It checks the very address that it passes to connect(2), and checks
 * before it connects: the client cannot tell the reason of a refusal by its timing or its text. The last lookup is
 * cached in static memory: for one thread only.
 * Must not know: names, policies. */
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

/* As ip_is_reachable(), but also refuses the addresses of this machine's own interfaces, public ones too, unless
 * the address is listed or `reach` is IP_REACH_ALL. The one rule for all outgoing connections: of sandboxes,
 * webhooks and registries. */
bool address_is_reachable(const IpAddress *a, IpReach reach, const IpRange *listed, size_t n_listed);

/* This machine has an IPv6 route to the Internet. */
bool address_has_ipv6(void);
