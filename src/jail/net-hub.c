#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "jail/net-internal.h"
#include "jail/netlink.h"

#define HUB            "cove-router" /* the interface that identifies a hub */
#define HUB_ADDRESS    UINT32_C(0xa9fe4001) /* 169.254.64.1 */
#define INSIDE         "eth0"
#define NAMES_ADDRESS  UINT32_C(0x0a400001) /* 10.64.0.1 */
#define GROUP_BITS     16
#define GROUP_MASK     UINT32_C(0xffff0000)

/* The hub routes between cables, each with one member at its end; it refuses packets to addresses without a member.
 * There is no ARP: the kernel's table of discovered neighbours has a thousand entries for the whole machine, and a
 * member that resolves all addresses of its group would fill it for the host. Hardware addresses are derived from the
 * member's address, and the one neighbour at the other end is a permanent entry, which does not count. */

typedef enum CableEnd {
        END_HUB,
        END_MEMBER,
} CableEnd;

typedef struct HardwareAddress {
        uint8_t bytes[6];
} HardwareAddress;

static HardwareAddress hardware_address(CableEnd end, uint32_t address) {
        return (HardwareAddress) { { 0x02, (uint8_t) end, (uint8_t) (address >> 24), (uint8_t) (address >> 16), (uint8_t) (address >> 8), (uint8_t) address } };
}

typedef struct HubRoute {
        uint32_t to;
        uint8_t bits, type, table, scope;
        uint32_t index; /* 0: none */
        uint32_t via;   /* likewise */
} HubRoute;

static void hub_put_route(NetlinkBatch *b, const HubRoute *route) {
        const struct rtmsg head = {
                .rtm_family = AF_INET,
                .rtm_dst_len = route->bits,
                .rtm_table = route->table,
                .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = route->scope,
                .rtm_type = route->type,
        };
        const uint32_t to = htonl(route->to), via = htonl(route->via);

        /* A route to a former member at this address may remain while its cable is still there. */
        netlink_begin(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
        netlink_put(b, RTA_DST, &to, sizeof(to));
        if (route->index)
                netlink_put(b, RTA_OIF, &route->index, sizeof(route->index));
        if (route->via)
                netlink_put(b, RTA_GATEWAY, &via, sizeof(via));
}

static void hub_put_neighbour(NetlinkBatch *b, int index, uint32_t address, HardwareAddress hardware) {
        const struct ndmsg head = { .ndm_family = AF_INET, .ndm_ifindex = index, .ndm_state = NUD_PERMANENT };
        const uint32_t to = htonl(address);

        netlink_begin(b, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
        netlink_put(b, NDA_DST, &to, sizeof(to));
        netlink_put(b, NDA_LLADDR, &hardware, sizeof(hardware));
}

static void hub_put_address(NetlinkBatch *b, int index, uint32_t address) {
        const struct ifaddrmsg head = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_scope = RT_SCOPE_UNIVERSE, .ifa_index = (uint32_t) index };
        const uint32_t own = htonl(address);

        netlink_begin(b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put(b, IFA_LOCAL, &own, sizeof(own));
        netlink_put(b, IFA_ADDRESS, &own, sizeof(own));
}

static int net_hub_index_of(const char *name) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { 0 };

        if (fd < 0)
                return -errno;
        (void) snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
        return ioctl(fd, SIOCGIFINDEX, &request) < 0 ? -errno : request.ifr_ifindex;
}

/* A bridge without ports, for the address that refusals come from. Every kernel with veth has this kind of
 * interface. */
static int make_hub(const NetRequest *q) {
        const struct ifinfomsg head = { .ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
        NetlinkBatch b = { 0 };
        size_t info;
        int r;

        netlink_begin(&b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put_string(&b, IFLA_IFNAME, HUB);
        info = netlink_open(&b, IFLA_LINKINFO);
        netlink_put_string(&b, IFLA_INFO_KIND, "bridge");
        netlink_close(&b, info);
        r = netlink_commit(&b);
        if (r < 0)
                return r;
        r = net_hub_index_of(HUB);
        if (r < 0)
                return r;
        b = (NetlinkBatch) { 0 };
        hub_put_address(&b, r, HUB_ADDRESS);
        r = netlink_commit(&b);
        if (r >= 0)
                r = net_write_setting(q, "icmp_ratelimit", "0"); /* no limit: every refusal is sent */
        return r < 0 ? r : net_write_setting(q, "ip_forward", "1");
}

static int enter_hub(const NetRequest *q, int *ret_fd) {
        int fd, r;

        if (q->hub_fd >= 0) {
                fd = fcntl(q->hub_fd, F_DUPFD_CLOEXEC, 3);
                if (fd < 0)
                        return -errno;
                *ret_fd = fd;
                return net_enter(fd);
        }
        if (unshare(CLONE_NEWNET) < 0)
                return -errno;
        r = make_hub(q);
        if (r < 0)
                return r;
        *ret_fd = net_open_own();
        return MIN_OF(*ret_fd, 0);
}

/* Removes the cable of a former life of the sandbox: the kernel removes namespaces, and their ends of cables,
 * at a time of its choice. */
static int unplug(const char *name) {
        const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
        NetlinkBatch b = { 0 };
        int r;

        netlink_begin(&b, RTM_DELLINK, 0, &head, sizeof(head));
        netlink_put_string(&b, IFLA_IFNAME, name);
        r = netlink_commit(&b);
        return r == -ENODEV ? 0 : r;
}

/* A cable: one end in the hub, up, named after the sandbox; the other one in the sandbox. */
static int plug_in(const char *name, int netns_fd, uint32_t address) {
        const struct ifinfomsg head = { .ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP | IFF_NOARP, .ifi_change = IFF_UP | IFF_NOARP };
        const struct ifinfomsg peer_head = { .ifi_family = AF_UNSPEC };
        const HardwareAddress ours = hardware_address(END_HUB, address), theirs = hardware_address(END_MEMBER, address);
        NetlinkBatch b = { 0 };
        size_t info, data, peer;
        int r = net_hub_index_of(HUB);

        if (r < 0)
                return r;
        netlink_begin(&b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put_string(&b, IFLA_IFNAME, name);
        netlink_put(&b, IFLA_ADDRESS, &ours, sizeof(ours));
        info = netlink_open(&b, IFLA_LINKINFO);
        netlink_put_string(&b, IFLA_INFO_KIND, "veth");
        data = netlink_open(&b, IFLA_INFO_DATA);
        peer = b.size;
        netlink_put(&b, VETH_INFO_PEER, &peer_head, sizeof(peer_head)); /* a header, then attributes */
        netlink_put_string(&b, IFLA_IFNAME, INSIDE);
        netlink_put(&b, IFLA_ADDRESS, &theirs, sizeof(theirs));
        netlink_put(&b, IFLA_NET_NS_FD, &netns_fd, sizeof(netns_fd));
        netlink_close(&b, peer);
        netlink_close(&b, data);
        netlink_close(&b, info);
        return netlink_commit(&b);
}

/* From here on other members reach this one. Its own end must be up: without a carrier there is no route. */
static int put_on_the_map(const char *name, uint32_t address) {
        int index = net_hub_index_of(name);
        NetlinkBatch b = { 0 };

        if (index < 0)
                return index;
        hub_put_route(&b, &(HubRoute) { .to = address & GROUP_MASK, .bits = GROUP_BITS, .type = RTN_UNREACHABLE, .table = RT_TABLE_MAIN });
        hub_put_route(&b, &(HubRoute) { .to = address, .bits = 32, .type = RTN_UNICAST, .table = RT_TABLE_MAIN, .scope = RT_SCOPE_LINK, .index = (uint32_t) index });
        hub_put_neighbour(&b, index, address, hardware_address(END_MEMBER, address));
        return netlink_commit(&b);
}

/* No IPv6 addresses: the kernel would generate one, and announce it to the neighbours. */
static void put_no_ipv6(NetlinkBatch *b, const struct ifinfomsg *head) {
        const uint8_t none = 1; /* IN6_ADDR_GEN_MODE_NONE */
        size_t families, family;

        netlink_begin(b, RTM_SETLINK, 0, head, sizeof(*head));
        families = netlink_open(b, IFLA_AF_SPEC);
        family = netlink_open(b, AF_INET6);
        netlink_put(b, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof(none));
        netlink_close(b, family);
        netlink_close(b, families);
}

static int settle_in(uint32_t address) {
        int index = net_hub_index_of(INSIDE);
        const struct ifinfomsg quiet = { .ifi_family = AF_UNSPEC, .ifi_index = index };
        const struct ifinfomsg up = { .ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = IFF_UP | IFF_NOARP, .ifi_change = IFF_UP | IFF_NOARP };
        const HubRoute local = { .to = NAMES_ADDRESS, .bits = 32, .type = RTN_LOCAL, .table = RT_TABLE_LOCAL, .scope = RT_SCOPE_HOST, .index = NET_LO_INDEX };
        const HubRoute hub = { .to = HUB_ADDRESS, .bits = 32, .type = RTN_UNICAST, .table = RT_TABLE_MAIN, .scope = RT_SCOPE_LINK, .index = (uint32_t) index };
        const HubRoute group = { .to = address & GROUP_MASK, .bits = GROUP_BITS, .type = RTN_UNICAST, .table = RT_TABLE_MAIN, .index = (uint32_t) index, .via = HUB_ADDRESS };
        NetlinkBatch b = { 0 };
        int r;

        if (index < 0)
                return index;
        put_no_ipv6(&b, &quiet);
        r = netlink_commit(&b);
        if (r < 0 && r != -EAFNOSUPPORT && r != -EOPNOTSUPP && r != -EINVAL) /* a kernel without IPv6 needs no protection from it */
                return r;
        b = (NetlinkBatch) { 0 };
        hub_put_address(&b, index, address);
        netlink_begin(&b, RTM_NEWLINK, 0, &up, sizeof(up));
        hub_put_neighbour(&b, index, HUB_ADDRESS, hardware_address(END_HUB, address));
        hub_put_route(&b, &hub);
        hub_put_route(&b, &group);
        hub_put_route(&b, &local);
        return netlink_commit(&b);
}

static int net_hub_explain(int r, Error *reterr) {
        switch (-r) {
        case ENODEV: return error_set(reterr, r, "the descriptor is no hub of a group's network: there is no %s in it (one of an earlier version? end the sandboxes of the group)", HUB);
        case EOPNOTSUPP: return error_set(reterr, r, "this kernel has no bridges or veth pairs: modprobe bridge veth");
        default: return error_set(reterr, r, "cannot link the sandbox to its group: %m");
        }
}

int net_setup_linked(const NetRequest *q, Network *n, Error *reterr) {
        char name[IFNAMSIZ] = { 'v' };
        int r;

        (void) snprintf(name + 1, sizeof(name) - 1, "%.*s", IFNAMSIZ - 2, q->id);
        r = enter_hub(q, n->fds + 1);
        if (r >= 0)
                r = plug_in(name, n->netns_fd, q->address);
        if (r == -EEXIST) {
                r = unplug(name);
                if (r >= 0)
                        r = plug_in(name, n->netns_fd, q->address);
        }
        if (r >= 0)
                r = net_enter(n->netns_fd);
        if (r >= 0)
                r = settle_in(q->address);
        if (r >= 0)
                r = net_enter(n->fds[1]);
        if (r >= 0)
                r = put_on_the_map(name, q->address);
        if (r >= 0)
                r = net_enter(n->netns_fd);
        if (r < 0)
                return net_hub_explain(r, reterr);
        n->fds[0] = net_open_names(NAMES_ADDRESS);
        if (n->fds[0] < 0)
                return error_set(reterr, n->fds[0], "cannot make the socket for names: %m");
        n->n_fds = 2;
        return 0;
}
