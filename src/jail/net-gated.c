#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "jail/net-internal.h"
#include "jail/netlink.h"
#include "nft-gated.h"

#define BACKLOG 1024 /* connections that the gate has not looked at yet */

#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif
#ifndef IPV6_RECVORIGDSTADDR
#define IPV6_RECVORIGDSTADDR 74
#endif
#ifndef IP_RECVORIGDSTADDR
#define IP_RECVORIGDSTADDR 20
#endif
#ifndef IP_TRANSPARENT
#define IP_TRANSPARENT 19
#endif

static const uint8_t own_v4[4] = { 10, 64, 0, 2 };
static const uint8_t own_v6[16] = { 0xfd, 0x64, [15] = 2 };

static void net_gated_put_address(NetlinkBatch *b, uint8_t family, const uint8_t *address, size_t size) {
        const struct ifaddrmsg head = {
                .ifa_family = family,
                .ifa_prefixlen = (uint8_t) (size * 8),
                .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
                .ifa_scope = RT_SCOPE_UNIVERSE,
                .ifa_index = NET_LO_INDEX,
        };

        netlink_begin(b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put(b, IFA_LOCAL, address, size);
        netlink_put(b, IFA_ADDRESS, address, size);
}

/* The path to the gate is memory. The host's congestion control may measure the path and pace the data, which
 * only slows it down; reno is in every kernel. */
static const struct {
        struct rtattr head;
        char name[8];
} route_metrics = { { .rta_len = RTA_LENGTH(sizeof("reno")), .rta_type = RTAX_CC_ALGO }, "reno" };

/* Makes every address local. A connection to any of them has our own address as its source. */
static void put_route(NetlinkBatch *b, uint8_t family, const uint8_t *source, size_t size) {
        const struct rtmsg head = {
                .rtm_family = family,
                .rtm_table = RT_TABLE_LOCAL,
                .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = RT_SCOPE_HOST,
                .rtm_type = RTN_LOCAL,
        };
        const uint32_t lo = NET_LO_INDEX;

        netlink_begin(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put(b, RTA_OIF, &lo, sizeof(lo));
        netlink_put(b, RTA_PREFSRC, source, size);
        netlink_put(b, RTA_METRICS, &route_metrics, sizeof(route_metrics));
}

static int capture_addresses(uint8_t family, const uint8_t *own, size_t size) {
        NetlinkBatch b = { 0 };

        net_gated_put_address(&b, family, own, size);
        put_route(&b, family, own, size);
        return netlink_commit(&b);
}

typedef struct SocketOption {
        int level, name;
} SocketOption;

/* An IPv6 socket that also receives IPv4. It shares neither address nor port: no process inside can bind beside it. */
static int net_gated_open_socket(int type, const struct in6_addr *address, uint16_t port, const SocketOption *options, size_t n) {
        _cleanup_close_ int fd = socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const struct sockaddr_in6 place = { .sin6_family = AF_INET6, .sin6_addr = *address, .sin6_port = htons(port) };
        const int off = 0, on = 1;

        if (fd < 0 || setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0)
                return -errno;
        for (size_t i = 0; i < n; i++)
                if (setsockopt(fd, options[i].level, options[i].name, &on, sizeof(on)) < 0)
                        return -errno;
        if (bind(fd, (const struct sockaddr *) &place, sizeof(place)) < 0)
                return -errno;
        if (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int net_open_names(uint32_t address) {
        static const SocketOption options[] = {
                { SOL_IP,   IP_TRANSPARENT   }, /* answers come from whichever address was asked */
                { SOL_IPV6, IPV6_TRANSPARENT },
                { SOL_IPV6, IPV6_RECVPKTINFO },
        };
        struct in6_addr place = IN6ADDR_ANY_INIT;

        if (address != 0) {
                place.s6_addr[10] = place.s6_addr[11] = 0xff;
                place.s6_addr32[3] = htonl(address);
        }
        return net_gated_open_socket(SOCK_DGRAM, &place, NET_NAMES_PORT, options, ELEMENTSOF(options));
}

static int open_sockets(Network *n) {
        static const SocketOption stream[] = { { SOL_IP, IP_TRANSPARENT }, { SOL_IPV6, IPV6_TRANSPARENT } };
        static const SocketOption datagrams[] = {
                { SOL_IP,   IP_TRANSPARENT       },
                { SOL_IPV6, IPV6_TRANSPARENT     },
                { SOL_IP,   IP_RECVORIGDSTADDR   },
                { SOL_IPV6, IPV6_RECVORIGDSTADDR },
        };
        static const struct in6_addr any = IN6ADDR_ANY_INIT;

        n->fds[0] = net_gated_open_socket(SOCK_STREAM, &any, NET_GATE_PORT, stream, ELEMENTSOF(stream));
        n->fds[1] = net_open_names(/* address= */ 0);
        n->fds[2] = net_gated_open_socket(SOCK_DGRAM, &any, NET_GATE_PORT, datagrams, ELEMENTSOF(datagrams));
        for (size_t i = 0; i < 3; i++)
                if (n->fds[i] < 0)
                        return n->fds[i];
        n->n_fds = 3;
        return 0;
}

int net_setup_gated(Network *n, Error *reterr) {
        int r;

        r = capture_addresses(AF_INET, own_v4, sizeof(own_v4));
        if (r < 0)
                return error_set(reterr, r, "cannot make all addresses local: %m");
        r = capture_addresses(AF_INET6, own_v6, sizeof(own_v6));
        if (r < 0 && r != -EACCES) /* with IPv6 switched off, nothing can be sent over it */
                return error_set(reterr, r, "cannot make all addresses of IPv6 local: %m");
        r = netlink_exchange(NETLINK_NETFILTER, nft_gated_batch, sizeof(nft_gated_batch), NFT_GATED_ACKS);
        if (r < 0)
                return error_set(reterr, r, "cannot set the rules of a gated network: %m (it takes nf_tables with tproxy: modprobe nft_tproxy)");
        r = open_sockets(n);
        if (r < 0)
                return error_set(reterr, r, "cannot make the sockets of a gated network: %m%s",
                                r == -EAFNOSUPPORT ? " (it takes a kernel with IPv6)" : "");
        return 0;
}
