#include "base/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

/* IANA's special-purpose registry, as far as it is not globally reachable. */
static const struct {
        uint32_t network;
        unsigned bits;
        bool inside;
} special[] = {
        { 0x00000000, 8, true }, /* 0.0.0.0: this machine, to many kernels */
        { 0x0a000000, 8 }, /* 10.0.0.0 */
        { 0x646464c8, 32, true }, /* 100.100.100.200: what a cloud tells its machines */
        { 0x64400000, 10 }, /* 100.64.0.0: of carriers */
        { 0x7f000000, 8, true }, /* 127.0.0.0 */
        { 0xa9fe0000, 16, true }, /* 169.254.0.0: link-local; 169.254.169.254 */
        { 0xac100000, 12 }, /* 172.16.0.0 */
        { 0xc0000000, 24 }, /* 192.0.0.0: protocols */
        { 0xc0000200, 24 }, /* 192.0.2.0: documentation, as two more */
        { 0xc0a80000, 16 }, /* 192.168.0.0 */
        { 0xc6120000, 15 }, /* 198.18.0.0: benchmarks */
        { 0xc6336400, 24 }, /* 198.51.100.0 */
        { 0xcb007100, 24 }, /* 203.0.113.0 */
        { 0xe0000000, 3, true }, /* multicast, reserved, broadcast */
};

typedef enum AddressKind {
        ADDRESS_PUBLIC,
        ADDRESS_SPECIAL,
        ADDRESS_INSIDE,
} AddressKind;

static AddressKind address_kind_v4(const uint8_t bytes[static 4]) {
        uint32_t a = (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];

        for (size_t i = 0; i < ELEMENTSOF(special); i++)
                if ((a ^ special[i].network) >> (32 - special[i].bits) == 0)
                        return special[i].inside ? ADDRESS_INSIDE : ADDRESS_SPECIAL;
        return ADDRESS_PUBLIC;
}

/* Those that stand for an address of version 4, and where in them it is. */
static const struct {
        uint8_t prefix[12];
        size_t size, at;
} translated[] = {
        { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff }, 12, 12 }, /* ::ffff:a.b.c.d */
        { { 0, 0x64, 0xff, 0x9b },                      12, 12 }, /* 64:ff9b::a.b.c.d */
        { { 0x20, 0x02 },                               2,  2  }, /* 6to4 */
};

/* The address of version 4 that it stands for; NULL: it is its own. */
static const uint8_t *address_translated(const struct in6_addr *a) {
        for (size_t i = 0; i < ELEMENTSOF(translated); i++)
                if (memcmp(a->s6_addr, translated[i].prefix, translated[i].size) == 0)
                        return a->s6_addr + translated[i].at;
        return NULL;
}

static AddressKind address_kind_v6(const struct in6_addr *a) {
        static const uint8_t teredo[] = { 0x20, 0x01, 0, 0 };
        static const uint8_t local[] = { 0, 0x64, 0xff, 0x9b, 0, 1 }; /* 64:ff9b:1::/48: whatever this network makes of it */
        static const struct in6_addr cloud = { { { 0xfd, 0, 0x0e, 0xc2, [14] = 0x02, 0x54 } } }; /* fd00:ec2::254, as 169.254.169.254 */
        const uint8_t *v4 = address_translated(a);

        if (v4)
                return address_kind_v4(v4);
        if (memcmp(a, &cloud, sizeof(cloud)) == 0 || memcmp(a->s6_addr, local, sizeof(local)) == 0)
                return ADDRESS_INSIDE;
        if (IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MULTICAST(a) || IN6_IS_ADDR_V4COMPAT(a))
                return ADDRESS_INSIDE;
        /* 2000::/3 is what is given out */
        return a->s6_addr[0] >> 5 == 1 && memcmp(a->s6_addr, teredo, sizeof(teredo)) != 0 ? ADDRESS_PUBLIC : ADDRESS_SPECIAL;
}

typedef union SocketAddressView {
        const struct sockaddr *any;
        const struct sockaddr_in *v4;
        const struct sockaddr_in6 *v6;
} SocketAddressView;

static AddressKind address_kind(const struct sockaddr *address) {
        SocketAddressView a = { address };

        if (address->sa_family == AF_INET)
                return address_kind_v4((const uint8_t *) &a.v4->sin_addr);
        return address->sa_family == AF_INET6 ? address_kind_v6(&a.v6->sin6_addr) : ADDRESS_INSIDE;
}

/* Nothing is sent: connecting a datagram socket only looks up the way. */
int address_source(const struct sockaddr *to, struct sockaddr_storage *ret) {
        union {
                struct sockaddr any;
                struct sockaddr_in v4;
                struct sockaddr_in6 v6;
        } address = { 0 };
        socklen_t size = to->sa_family == AF_INET ? sizeof(address.v4) : sizeof(address.v6);
        _cleanup_close_ int fd = -EBADF;

        if (to->sa_family != AF_INET && to->sa_family != AF_INET6)
                return -EAFNOSUPPORT;
        memcpy(&address, to, size);
        if (to->sa_family == AF_INET)
                address.v4.sin_port = htons(9);
        else
                address.v6.sin6_port = htons(9);
        fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, &address.any, size) < 0)
                return -errno;
        size = sizeof(*ret);
        return getsockname(fd, (struct sockaddr *) ret, &size) < 0 ? -errno : 0;
}

/* To itself an address goes from itself, or from loopback. */
bool address_is_ours(const struct sockaddr *address) {
        struct sockaddr_storage source;
        SocketAddressView a = { address }, from = { (const struct sockaddr *) &source };
        const uint8_t *v4 = address->sa_family == AF_INET6 ? address_translated(&a.v6->sin6_addr) : NULL;
        int r;

        if (v4) {
                struct sockaddr_in inner = { .sin_family = AF_INET };

                memcpy(&inner.sin_addr, v4, sizeof(inner.sin_addr));
                return address_is_ours((const struct sockaddr *) &inner);
        }
        r = address_source(address, &source);
        if (r < 0)
                return error_is_shortage(r); /* nobody could look: it may be */
        if (source.ss_family != address->sa_family)
                return false;
        if (address->sa_family == AF_INET)
                return a.v4->sin_addr.s_addr == from.v4->sin_addr.s_addr || ntohl(from.v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        return memcmp(&a.v6->sin6_addr, &from.v6->sin6_addr, sizeof(a.v6->sin6_addr)) == 0 || IN6_IS_ADDR_LOOPBACK(&from.v6->sin6_addr);
}

bool address_is_public(const struct sockaddr *address) {
        return address_kind(address) == ADDRESS_PUBLIC && !address_is_ours(address);
}

bool address_is_inside(const struct sockaddr *address) {
        return address_kind(address) == ADDRESS_INSIDE || address_is_ours(address);
}
