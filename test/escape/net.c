/* net.c: packets to the host and beyond. The sandbox has a loopback of its own and nothing else. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

/* True when the address is a good one of either family. */
static bool make_address(const char *host, long port, struct sockaddr_storage *ret, socklen_t *ret_size) {
        struct sockaddr_in *v4 = (struct sockaddr_in *) ret;
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) ret;

        memset(ret, 0, sizeof(*ret));
        if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
                v4->sin_family = AF_INET;
                v4->sin_port = htons((uint16_t) port);
                *ret_size = sizeof(*v4);
                return true;
        }
        if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
                v6->sin6_family = AF_INET6;
                v6->sin6_port = htons((uint16_t) port);
                *ret_size = sizeof(*v6);
                return true;
        }
        return false;
}

static Verdict connect_tcp(const char *host, long port) {
        struct sockaddr_storage address;
        socklen_t size;
        Verdict v = HELD;
        int fd, error = 0;

        if (!make_address(host, port, &address, &size))
                return broken("\"%s\" is not an address", host);
        fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return HELD;
        if (connect(fd, (const struct sockaddr *) &address, size) == 0)
                v = escaped("connected to %s port %ld", host, port);
        else if (errno == EINPROGRESS) {
                struct pollfd ready = { .fd = fd, .events = POLLOUT };
                socklen_t error_size = sizeof(error);

                (void) poll(&ready, 1, 1000);
                (void) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
                if (error == 0)
                        v = escaped("a connection to %s port %ld is under way", host, port);
        }
        (void) close(fd);
        return v;
}

/* Connecting a datagram socket sends nothing; it works when there is a route. */
static Verdict send_udp(const char *host, long port) {
        struct sockaddr_storage address;
        socklen_t size;
        Verdict v = HELD;
        int fd;

        if (!make_address(host, port, &address, &size))
                return broken("\"%s\" is not an address", host);
        fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return HELD;
        if (sendto(fd, "cove-escape", 11, MSG_DONTWAIT, (const struct sockaddr *) &address, size) >= 0)
                v = escaped("a datagram left for %s port %ld", host, port);
        (void) close(fd);
        return v;
}

/* The argument is the port of the runner's listener. */
static Verdict try_loopback4(char **args) {
        Verdict v = connect_tcp("127.0.0.1", number_or_die(arg_or_die(args, 0)));

        v = worst(v, connect_tcp("127.0.0.53", number_or_die(args[0])));
        return worst(v, connect_tcp("0.0.0.0", number_or_die(args[0])));
}

static Verdict try_loopback6(char **args) {
        Verdict v = connect_tcp("::1", number_or_die(arg_or_die(args, 0)));

        return worst(v, connect_tcp("::ffff:127.0.0.1", number_or_die(args[0])));
}

/* A port, then the host's addresses. */
static Verdict try_host_address(char **args) {
        long port = number_or_die(arg_or_die(args, 0));
        Verdict v = HELD;

        for (char **host = args + 1; *host; host++)
                v = worst(v, worst(connect_tcp(*host, port), send_udp(*host, port)));
        return v;
}

static Verdict try_outside(char **args) {
        static const char *const hosts[] = { "192.0.2.1", "198.51.100.1", "2001:db8::1", "169.254.169.254",
                "224.0.0.1", "255.255.255.255", "10.0.0.1" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(hosts); i++)
                v = worst(v, worst(connect_tcp(hosts[i], 80), send_udp(hosts[i], 80)));
        return v;
}

/* The resolvers that the sandbox is told about, and the usual ones. Those on its own loopback reach nobody. */
static Verdict try_dns(char **args) {
        char line[256], host[64];
        FILE *file = fopen("/etc/resolv.conf", "re");
        Verdict v = HELD;

        while (file && fgets(line, sizeof(line), file))
                if (sscanf(line, "nameserver %63s", host) == 1 && strncmp(host, "127.", 4) != 0 &&
                                strcmp(host, "::1") != 0)
                        v = worst(v, send_udp(host, 53));
        if (file)
                (void) fclose(file);
        v = worst(v, send_udp("192.0.2.53", 53));
        return worst(v, connect_tcp("127.0.0.53", 53));
}

/* The argument is the port of the runner's datagram socket, which must stay silent. */
static Verdict try_datagram(char **args) {
        long port = number_or_die(arg_or_die(args, 0));

        (void) send_udp("127.0.0.1", port); /* leaves for our own loopback, where nobody listens */
        (void) send_udp("::1", port);
        return HELD;
}

static Verdict try_raw(char **args) {
        Verdict v = HELD;

        v = worst(v, failed("a raw socket for ICMP",
                                     socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP)));
        v = worst(v, failed("a raw socket for anything",
                                     socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)));
        v = worst(v, failed("a raw socket for ICMPv6",
                                     socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6)));
        return worst(v, failed("SOCK_PACKET", socket(AF_INET, SOCK_PACKET | SOCK_CLOEXEC, htons(3))));
}

static Verdict try_packet(char **args) {
        Verdict v = failed("a packet socket", socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(3)));

        return worst(v, failed("a packet socket without headers",
                                        socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(3))));
}

static Verdict try_vsock(char **args) {
        Verdict v = failed("a vsock stream", socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));

        return worst(v, failed("a vsock datagram", socket(AF_VSOCK, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
}

static Verdict try_alg(char **args) {
        return failed("a crypto socket", socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

static Verdict try_families(char **args) {
        Verdict v = HELD;

        for (int family = 1; family < 64; family++) {
                static const int kinds[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM };
                char what[64];

                if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK)
                        continue;
                (void) snprintf(what, sizeof(what), "a socket of family %d", family);
                for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                        v = worst(v, failed(what, socket(family, kinds[i] | SOCK_CLOEXEC, 0)));
        }
        return v;
}

static Verdict try_protocols(char **args) {
        static const int protocols[] = { 33 /* DCCP */, 132 /* SCTP */, 136 /* UDP-Lite */, 262 /* MPTCP */,
                115 /* L2TP */, 256 /* SMC */, 47, 50 };
        static const int kinds[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, 6 /* SOCK_DCCP */ };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(protocols); i++)
                for (size_t k = 0; k < ELEMENTSOF(kinds); k++)
                        v = worst(v, failed("a socket of a rare protocol",
                                                     socket(AF_INET, kinds[k] | SOCK_CLOEXEC,
                                                                     protocols[i])));
        return v;
}

static Verdict try_netlink(char **args) {
        Verdict v = HELD;

        for (int protocol = 1; protocol < 32; protocol++) {
                char what[64];

                (void) snprintf(what, sizeof(what), "netlink protocol %d", protocol);
                v = worst(v, failed(what, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)));
        }
        return v;
}

static Verdict try_interfaces(char **args) {
        struct if_nameindex *all = if_nameindex();
        Verdict v = HELD;

        if (!all)
                return HELD;
        for (struct if_nameindex *i = all; i->if_index != 0; i++)
                if (strcmp(i->if_name, "lo") != 0)
                        v = escaped("interface %s is there", i->if_name);
        if_freenameindex(all);
        return v;
}

static Verdict try_configure(char **args) {
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_PROMISC };
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        Verdict v = HELD;

        if (fd < 0)
                return broken("socket: %m");
        v = worst(v, refused("SIOCSIFFLAGS", ioctl(fd, SIOCSIFFLAGS, &request)));
        request.ifr_mtu = 1400;
        v = worst(v, refused("SIOCSIFMTU", ioctl(fd, SIOCSIFMTU, &request)));
        v = worst(v, refused("SIOCADDRT", ioctl(fd, SIOCADDRT, &request)));
        (void) close(fd);
        return v;
}

/* Asks for a dummy interface and reads the kernel's answer. */
static Verdict try_new_link(char **args) {
        struct {
                struct nlmsghdr head;
                struct ifinfomsg info;
                char attributes[32];
        } message = {
                .head = { .nlmsg_type = RTM_NEWLINK,
                         .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK },
 /* IFLA_LINKINFO { IFLA_INFO_KIND "dummy" } */
                .attributes = { 16, 0, IFLA_LINKINFO, 0, 10, 0, IFLA_INFO_KIND, 0, 'd', 'u', 'm', 'm', 'y',
                         0 },
        };
        struct {
                struct nlmsghdr head;
                struct nlmsgerr error;
                char rest[256];
        } reply = { 0 };
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

        if (fd < 0)
                return HELD;
        message.head.nlmsg_len = sizeof(message.head) + sizeof(message.info) + 16;
        if (send(fd, &message, message.head.nlmsg_len, 0) < 0)
                return refused("sending to netlink", -1);
        if (recv(fd, &reply, sizeof(reply), 0) < 0 || reply.head.nlmsg_type != NLMSG_ERROR)
                return broken("netlink did not answer: %m");
        (void) close(fd);
        errno = -reply.error.error;
        return refused("a new interface", reply.error.error == 0 ? 0 : -1);
}

static Verdict try_filter(char **args) {
        char buffer[256] = { 0 };
        socklen_t size = sizeof(buffer);
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        Verdict v;

        if (fd < 0)
                return broken("socket: %m");
        v = failed("reading the packet filter",
                        getsockopt(fd, IPPROTO_IP, 64 /* IPT_SO_GET_INFO */, buffer, &size));
        v = worst(v, failed("writing the packet filter",
                                     setsockopt(fd, IPPROTO_IP, 64 /* IPT_SO_SET_REPLACE */, buffer,
                                                     sizeof(buffer))));
        (void) close(fd);
        return v;
}

static Verdict try_ulp(char **args) {
        static const char *const names[] = { "tls", "smc", "espintcp" };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        Verdict v = HELD;

        if (fd < 0)
                return broken("socket: %m");
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                v = worst(v, failed("an upper layer protocol",
                                             setsockopt(fd, IPPROTO_TCP, TCP_ULP, names[i],
                                                             (socklen_t) strlen(names[i]))));
                if (errno != ENOPROTOOPT && errno != EPERM)
                        v = worst(v, escaped("TCP_ULP was not refused but got as far as: %m"));
        }
        (void) close(fd);
        return v;
}

/* The argument is the port of the runner's listener, as /proc writes it. */
static Verdict try_proc_net(char **args) {
        static const char *const paths[] = { "/proc/net/tcp", "/proc/net/tcp6", "/proc/self/net/tcp",
                "/proc/1/net/tcp" };
        char text[65536], needle[16];
        Verdict v = HELD;

        (void) snprintf(needle, sizeof(needle), ":%04lX ",
                        (unsigned long) number_or_die(arg_or_die(args, 0)));
        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                if (read_file(paths[i], text, sizeof(text)) > 0 && strstr(text, needle))
                        v = escaped("%s shows the host's sockets", paths[i]);
        return v;
}

/* clang-format off */
const Attempt net_attempts[] = {
        { "net-loopback4", try_loopback4, AS_BOTH,
          "127.0.0.1 is the sandbox's own loopback" },
        { "net-loopback6", try_loopback6, AS_BOTH,
          "so is ::1" },
        { "net-host-address", try_host_address, AS_BOTH,
          "there is no route to the host's other addresses" },
        { "net-outside", try_outside, AS_BOTH,
          "nor to anywhere else, cloud metadata included" },
        { "net-dns", try_dns, AS_BOTH,
          "no question leaves for a name server" },
        { "net-datagram", try_datagram, AS_BOTH,
          "datagrams to loopback do not arrive at the host" },
        { "net-raw", try_raw, AS_BOTH,
          "raw sockets forge packets" },
        { "net-packet", try_packet, AS_BOTH,
          "packet sockets read and write the wire, with a long list of CVEs" },
        { "net-vsock", try_vsock, AS_BOTH,
          "vsock leads to the hypervisor past every network namespace" },
        { "net-alg", try_alg, AS_BOTH,
          "crypto sockets load modules on demand" },
        { "net-families", try_families, AS_BOTH,
          "no other address family is there" },
        { "net-protocols", try_protocols, AS_BOTH,
          "no rare protocol is there" },
        { "net-netlink", try_netlink, AS_BOTH,
          "netlink is for routes only" },
        { "net-interfaces", try_interfaces, AS_BOTH,
          "there is one interface, lo" },
        { "net-configure", try_configure, AS_BOTH,
          "interfaces and routes are not the guest's to change" },
        { "net-new-link", try_new_link, AS_BOTH,
          "nor can it make one" },
        { "net-filter", try_filter, AS_BOTH,
          "nor look at or change packet filters" },
        { "net-ulp", try_ulp, AS_BOTH,
          "upper layer protocols load modules on demand" },
        { "net-proc", try_proc_net, AS_BOTH,
          "/proc/net is that of the sandbox's network namespace" },
        { NULL },
};
/* clang-format on */
