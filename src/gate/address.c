#include "gate/address.h"

#include <errno.h>
#include <string.h>

#include "base/address.h"

#define REMEMBER_USEC (100 * USEC_PER_MSEC)

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool address_is_v4(const EgressAddress *a) {
        return memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

socklen_t address_to_socket(const EgressAddress *a, uint16_t port, SocketAddress *ret) {
        *ret = (SocketAddress) { 0 };
        if (address_is_v4(a)) {
                ret->v4.sin_family = AF_INET;
                ret->v4.sin_port = htons(port);
                memcpy(&ret->v4.sin_addr, a->bytes + sizeof(mapped), 4);
                return sizeof(ret->v4);
        }
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons(port);
        memcpy(&ret->v6.sin6_addr, a->bytes, 16);
        return sizeof(ret->v6);
}

int address_from_socket(const SocketAddress *from, EgressAddress *ret, uint16_t *ret_port) {
        if (from->any.sa_family == AF_INET) {
                memcpy(ret->bytes, mapped, sizeof(mapped));
                memcpy(ret->bytes + sizeof(mapped), &from->v4.sin_addr, 4);
                *ret_port = ntohs(from->v4.sin_port);
                return 0;
        }
        if (from->any.sa_family != AF_INET6)
                return -EAFNOSUPPORT;
        memcpy(ret->bytes, &from->v6.sin6_addr, 16);
        *ret_port = ntohs(from->v6.sin6_port);
        return 0;
}

bool address_original(struct msghdr *m, SocketAddress *ret) {
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                size_t size = 0;

                if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_ORIGDSTADDR)
                        size = sizeof(ret->v4);
                else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_ORIGDSTADDR)
                        size = sizeof(ret->v6);
                if (size == 0 || c->cmsg_len < CMSG_LEN(size))
                        continue;
                memcpy(ret, CMSG_DATA(c), size);
                return true;
        }
        return false;
}

/* One connection is looked at in several ways within the same moment. That it is ours is not remembered: it may only not have been found out. */
bool address_is_own(const EgressAddress *a) {
        static EgressAddress last;
        static usec_t looked_at;
        static bool was_own;
        usec_t now = clock_usec();
        SocketAddress to;

        if (was_own || looked_at == 0 || now - looked_at > REMEMBER_USEC || memcmp(a->bytes, last.bytes, sizeof(last.bytes)) != 0) {
                (void) address_to_socket(a, 0, &to);
                was_own = address_is_ours(&to.any);
                last = *a;
                looked_at = now;
        }
        return was_own;
}

bool address_has_ipv6(void) {
        static const EgressAddress somewhere = { .bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } };
        struct sockaddr_storage source;
        SocketAddress to;

        (void) address_to_socket(&somewhere, 0, &to);
        return address_source(&to.any, &source) >= 0;
}
