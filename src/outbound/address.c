#include "outbound/address.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "base/macro.h"

/* IANA's special-purpose registry, as far as it is not globally reachable. */
static const struct {
        uint32_t network;
        unsigned bits;
} special[] = {
        { 0x00000000, 8  }, /* 0.0.0.0: this machine, to many kernels */
        { 0x0a000000, 8  }, /* 10.0.0.0 */
        { 0x64400000, 10 }, /* 100.64.0.0: of carriers */
        { 0x7f000000, 8  }, /* 127.0.0.0 */
        { 0xa9fe0000, 16 }, /* 169.254.0.0: link-local; 169.254.169.254 */
        { 0xac100000, 12 }, /* 172.16.0.0 */
        { 0xc0000000, 24 }, /* 192.0.0.0: protocols */
        { 0xc0000200, 24 }, /* 192.0.2.0: documentation, as two more */
        { 0xc0a80000, 16 }, /* 192.168.0.0 */
        { 0xc6120000, 15 }, /* 198.18.0.0: benchmarks */
        { 0xc6336400, 24 }, /* 198.51.100.0 */
        { 0xcb007100, 24 }, /* 203.0.113.0 */
        { 0xe0000000, 3  }, /* multicast, reserved, broadcast */
};

static bool is_public_v4(const uint8_t bytes[static 4]) {
        uint32_t a = (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];

        for (size_t i = 0; i < ELEMENTSOF(special); i++)
                if ((a ^ special[i].network) >> (32 - special[i].bits) == 0)
                        return false;
        return true;
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

static bool is_public_v6(const uint8_t bytes[static 16]) {
        static const uint8_t teredo[] = { 0x20, 0x01, 0, 0 };

        for (size_t i = 0; i < ELEMENTSOF(translated); i++)
                if (memcmp(bytes, translated[i].prefix, translated[i].size) == 0)
                        return is_public_v4(bytes + translated[i].at);
        return bytes[0] >> 5 == 1 && memcmp(bytes, teredo, sizeof(teredo)) != 0; /* 2000::/3 is what is given out */
}

bool address_is_public(const struct sockaddr *address) {
        if (address->sa_family == AF_INET)
                return is_public_v4((const uint8_t *) &((const struct sockaddr_in *) (const void *) address)->sin_addr);
        if (address->sa_family == AF_INET6)
                return is_public_v6(((const struct sockaddr_in6 *) (const void *) address)->sin6_addr.s6_addr);
        return false;
}
