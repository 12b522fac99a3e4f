#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
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

#define BRIDGE         "cove-hub"
#define INSIDE         "eth0"
#define NAMES_ADDRESS  UINT32_C(0x0a400001) /* 10.64.0.1 */
#define PREFIX_BITS    16

/* A bridge has no address, so the hub itself can be reached by nobody and reaches nobody. */
static int make_bridge(void) {
        const struct ifinfomsg head = { .ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
        NetlinkBatch b = { 0 };
        size_t info;

        netlink_begin(&b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put_string(&b, IFLA_IFNAME, BRIDGE);
        info = netlink_open(&b, IFLA_LINKINFO);
        netlink_put_string(&b, IFLA_INFO_KIND, "bridge");
        netlink_close(&b, info);
        return netlink_commit(&b);
}

static int enter_hub(int hub_fd, int *ret_fd) {
        int fd, r;

        if (hub_fd >= 0) {
                fd = fcntl(hub_fd, F_DUPFD_CLOEXEC, 3);
                if (fd < 0)
                        return -errno;
                *ret_fd = fd;
                return net_enter(fd);
        }
        if (unshare(CLONE_NEWNET) < 0)
                return -errno;
        r = make_bridge();
        if (r < 0)
                return r;
        *ret_fd = net_open_own();
        return MIN_OF(*ret_fd, 0);
}

static int net_hub_index_of(const char *name) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { 0 };

        if (fd < 0)
                return -errno;
        (void) snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
        return ioctl(fd, SIOCGIFINDEX, &request) < 0 ? -errno : request.ifr_ifindex;
}

/* What is left of a former life of the sandbox: the kernel takes namespaces down when it finds the time, and their ends of cables with them. */
static int unplug(const char *name) {
        const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
        NetlinkBatch b = { 0 };
        int r;

        netlink_begin(&b, RTM_DELLINK, 0, &head, sizeof(head));
        netlink_put_string(&b, IFLA_IFNAME, name);
        r = netlink_commit(&b);
        return r == -ENODEV ? 0 : r;
}

/* A cable: one end at the bridge, up, named after the sandbox; the other one in the sandbox. */
static int plug_in(const char *name, int netns_fd) {
        const struct ifinfomsg head = { .ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
        const struct ifinfomsg peer_head = { .ifi_family = AF_UNSPEC };
        NetlinkBatch b = { 0 };
        int bridge = net_hub_index_of(BRIDGE);
        size_t info, data, peer;

        if (bridge < 0)
                return bridge;
        netlink_begin(&b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put_string(&b, IFLA_IFNAME, name);
        netlink_put(&b, IFLA_MASTER, &bridge, sizeof(bridge));
        info = netlink_open(&b, IFLA_LINKINFO);
        netlink_put_string(&b, IFLA_INFO_KIND, "veth");
        data = netlink_open(&b, IFLA_INFO_DATA);
        peer = b.size;
        netlink_put(&b, VETH_INFO_PEER, &peer_head, sizeof(peer_head)); /* a header, then attributes */
        netlink_put_string(&b, IFLA_IFNAME, INSIDE);
        netlink_put(&b, IFLA_NET_NS_FD, &netns_fd, sizeof(netns_fd));
        netlink_close(&b, peer);
        netlink_close(&b, data);
        netlink_close(&b, info);
        return netlink_commit(&b);
}

/* No addresses of IPv6: the kernel would make one up, and tell the neighbours. */
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

static void put_local_route(NetlinkBatch *b, uint32_t address) {
        const struct rtmsg head = {
                .rtm_family = AF_INET,
                .rtm_dst_len = 32,
                .rtm_table = RT_TABLE_LOCAL,
                .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = RT_SCOPE_HOST,
                .rtm_type = RTN_LOCAL,
        };
        const uint32_t lo = NET_LO_INDEX, destination = htonl(address);

        netlink_begin(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put(b, RTA_DST, &destination, sizeof(destination));
        netlink_put(b, RTA_OIF, &lo, sizeof(lo));
}

static int settle_in(uint32_t address) {
        int index = net_hub_index_of(INSIDE);
        const struct ifinfomsg quiet = { .ifi_family = AF_UNSPEC, .ifi_index = index };
        const struct ifinfomsg up = { .ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
        const struct ifaddrmsg head = {
                .ifa_family = AF_INET,
                .ifa_prefixlen = PREFIX_BITS,
                .ifa_scope = RT_SCOPE_UNIVERSE,
                .ifa_index = (uint32_t) index,
        };
        const uint32_t own = htonl(address);
        NetlinkBatch b = { 0 };
        int r;

        if (index < 0)
                return index;
        put_no_ipv6(&b, &quiet);
        r = netlink_commit(&b);
        if (r < 0 && r != -EAFNOSUPPORT && r != -EOPNOTSUPP && r != -EINVAL) /* a kernel without has nothing to be kept from */
                return r;
        b = (NetlinkBatch) { 0 };
        netlink_begin(&b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
        netlink_put(&b, IFA_LOCAL, &own, sizeof(own));
        netlink_put(&b, IFA_ADDRESS, &own, sizeof(own));
        netlink_begin(&b, RTM_NEWLINK, 0, &up, sizeof(up));
        put_local_route(&b, NAMES_ADDRESS);
        return netlink_commit(&b);
}

static int net_hub_explain(int r, Error *reterr) {
        switch (-r) {
        case EXFULL: return error_set(reterr, r, "the group's network is full: a bridge has 1023 ports");
        case ENODEV: return error_set(reterr, r, "the descriptor is no hub of a group's network: there is no bridge in it");
        case EOPNOTSUPP: return error_set(reterr, r, "this kernel has no bridges or veth pairs: modprobe bridge veth");
        default: return error_set(reterr, r, "cannot link the sandbox to its group: %m");
        }
}

int net_setup_linked(const NetRequest *q, Network *n, Error *reterr) {
        char name[IFNAMSIZ] = { 'v' };
        int r;

        (void) snprintf(name + 1, sizeof(name) - 1, "%.*s", IFNAMSIZ - 2, q->id);
        r = enter_hub(q->hub_fd, n->fds + 1);
        if (r >= 0)
                r = plug_in(name, n->netns_fd);
        if (r == -EEXIST) {
                r = unplug(name);
                if (r >= 0)
                        r = plug_in(name, n->netns_fd);
        }
        if (r < 0)
                return net_hub_explain(r, reterr);
        r = net_enter(n->netns_fd);
        if (r >= 0)
                r = settle_in(q->address);
        if (r < 0)
                return net_hub_explain(r, reterr);
        n->fds[0] = net_open_names(NAMES_ADDRESS);
        if (n->fds[0] < 0)
                return error_set(reterr, n->fds[0], "cannot make the socket for names: %m");
        n->n_fds = 2;
        return 0;
}
