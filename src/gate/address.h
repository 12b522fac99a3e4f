/* address.h: egress.h's addresses as the kernel has them, and what only the kernel can say of them.
 *
 * Must not know: policies. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "policy/egress.h"

typedef union SocketAddress {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
} SocketAddress;

bool address_is_v4(const EgressAddress *a);
/* Returns its size. */
socklen_t address_to_socket(const EgressAddress *a, uint16_t port, SocketAddress *ret);
int address_from_socket(const SocketAddress *from, EgressAddress *ret, uint16_t *ret_port);

/* Where the guest sent a datagram to, before the rule brought it here. */
bool address_original(struct msghdr *m, SocketAddress *ret);

/* One of this machine's own addresses, whatever range it is from: what listens there is a service of the host's. */
bool address_is_own(const EgressAddress *a);

/* This machine has a way out by IPv6. */
bool address_has_ipv6(void);
