#include "base/address.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"

#define REMEMBER_USEC (100 * USEC_PER_MSEC)
#define DISCARD_PORT  9

socklen_t address_to_socket(const IpAddress *a, uint16_t port, SocketAddress *ret) {
        *ret = (SocketAddress) { 0 };
        if (ip_is_v4(a)) {
                ret->v4.sin_family = AF_INET;
                ret->v4.sin_port = htons(port);
                memcpy(&ret->v4.sin_addr, a->bytes + sizeof(a->bytes) - 4, 4);
                return sizeof(ret->v4);
        }
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons(port);
        memcpy(&ret->v6.sin6_addr, a->bytes, sizeof(a->bytes));
        return sizeof(ret->v6);
}

int address_from_socket(const struct sockaddr *from, IpAddress *ret, uint16_t *ret_port) {
        SocketAddress a = { 0 };

        if (from->sa_family == AF_INET) {
                memcpy(&a.v4, from, sizeof(a.v4));
                *ret = ip_from_v4((const uint8_t *) &a.v4.sin_addr);
                *ret_port = ntohs(a.v4.sin_port);
                return 0;
        }
        if (from->sa_family != AF_INET6)
                return -EAFNOSUPPORT;
        memcpy(&a.v6, from, sizeof(a.v6));
        memcpy(ret->bytes, &a.v6.sin6_addr, sizeof(ret->bytes));
        *ret_port = ntohs(a.v6.sin6_port);
        return 0;
}

/* Finds the source address that this machine would use for the destination; negative errno: no route. Sends nothing:
 * connect(2) of a datagram socket only looks up the route. */
static int address_source(const IpAddress *a, IpAddress *ret) {
        SocketAddress to, from = { 0 };
        socklen_t size = address_to_socket(a, DISCARD_PORT, &to);
        _cleanup_close_ int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        uint16_t port;

        if (fd < 0 || connect(fd, &to.any, size) < 0)
                return -errno;
        size = sizeof(from);
        return getsockname(fd, &from.any, &size) < 0 ? -errno : address_from_socket(&from.any, ret, &port);
}

/* The source address for one of our own addresses is that address itself, or loopback. */
static bool address_look_ours(const IpAddress *a) {
        static const IpAddress loopback = { .bytes = { [15] = 1 } };
        IpAddress source;
        int r = address_source(a, &source);

        if (r < 0)
                return error_is_shortage(r); /* the lookup failed for lack of resources: the address may be ours */
        if (memcmp(&source, a, sizeof(source)) == 0 || memcmp(&source, &loopback, sizeof(source)) == 0)
                return true;
        return ip_is_v4(&source) && source.bytes[12] == IN_LOOPBACKNET;
}

/* One connection is checked several times within the same moment. A positive result is not remembered: it may
 * only mean that the lookup failed. */
static bool address_is_ours(const IpAddress *a) {
        static IpAddress last;
        static usec_t looked_at;
        static bool was_ours;
        usec_t now = clock_usec();

        if (was_ours || looked_at == 0 || now - looked_at > REMEMBER_USEC || memcmp(a, &last, sizeof(last)) != 0) {
                was_ours = address_look_ours(a);
                last = *a;
                looked_at = now;
        }
        return was_ours;
}

bool address_is_reachable(const IpAddress *a, IpReach reach, const IpRange *listed, size_t n_listed) {
        IpAddress inner;

        if (reach == IP_REACH_ALL || ip_is_in(listed, n_listed, a))
                return true;
        return ip_is_reachable(a, reach, NULL, 0) && !address_is_ours(ip_embedded(a, &inner) ? &inner : a);
}

bool address_has_ipv6(void) {
        static const IpAddress somewhere = { .bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } };
        IpAddress source;

        return address_source(&somewhere, &source) >= 0;
}
