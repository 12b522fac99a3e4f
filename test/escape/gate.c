/* gate.c: past the gate. In a sandbox that has a way out every address is local, and whatever is sent there is looked at outside; here is
 * tried to change that, to take the places of those who look, and to reach what was not allowed. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "probe.h"

#define GATE_PORT   15001
#define NAMES_PORT  53

#ifndef IPV6_TRANSPARENT
#define IPV6_TRANSPARENT 75
#endif

typedef struct Request {
        struct nlmsghdr head;
        char body[128];
} Request;

static void put(Request *q, const void *data, size_t size) {
        memcpy((char *) q + q->head.nlmsg_len, data, size);
        q->head.nlmsg_len += (unsigned) NLMSG_ALIGN(size);
}

static void put_attribute(Request *q, unsigned short type, const void *data, unsigned short size) {
        const struct nlattr a = { .nla_len = (unsigned short) (NLA_HDRLEN + size), .nla_type = type };

        put(q, &a, sizeof(a));
        put(q, data, size);
}

static Verdict ask(const char *what, const Request *q) {
        struct {
                struct nlmsghdr head;
                struct nlmsgerr error;
                char rest[256];
        } reply = { 0 };
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        Verdict v;

        if (fd < 0)
                return HELD;
        if (send(fd, q, q->head.nlmsg_len, 0) < 0)
                v = refused(what, -1);
        else if (recv(fd, &reply, sizeof(reply), 0) < 0 || reply.head.nlmsg_type != NLMSG_ERROR)
                v = broken("netlink did not answer: %m");
        else {
                errno = -reply.error.error;
                v = refused(what, reply.error.error == 0 ? 0 : -1);
        }
        (void) close(fd);
        return v;
}

static Request request(unsigned short type, unsigned short flags) {
        return (Request) { .head = { .nlmsg_len = NLMSG_HDRLEN, .nlmsg_type = type, .nlmsg_flags = (unsigned short) (NLM_F_REQUEST | NLM_F_ACK | flags) } };
}

static Verdict change_address(const char *what, unsigned short type, const char *text) {
        Request q = request(type, type == RTM_NEWADDR ? NLM_F_CREATE : 0);
        const struct ifaddrmsg head = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1 };
        struct in_addr address;

        (void) inet_pton(AF_INET, text, &address);
        put(&q, &head, sizeof(head));
        put_attribute(&q, IFA_LOCAL, &address, sizeof(address));
        put_attribute(&q, IFA_ADDRESS, &address, sizeof(address));
        return ask(what, &q);
}

static Verdict change_route(const char *what, unsigned short type, unsigned char family, unsigned char table, unsigned char kind) {
        Request q = request(type, type == RTM_NEWROUTE ? NLM_F_CREATE : 0);
        const struct rtmsg head = {
                .rtm_family = family,
                .rtm_table = table,
                .rtm_protocol = RTPROT_STATIC,
                .rtm_scope = kind == RTN_LOCAL ? RT_SCOPE_HOST : RT_SCOPE_LINK,
                .rtm_type = kind,
        };
        const int lo = 1;

        put(&q, &head, sizeof(head));
        put_attribute(&q, RTA_OIF, &lo, sizeof(lo));
        return ask(what, &q);
}

static Verdict try_routes(char **args) {
        const struct rtmsg rule = { .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST };
        const struct ifinfomsg down = { .ifi_index = 1, .ifi_change = 1 /* IFF_UP */ };
        Request q = request(RTM_NEWRULE, NLM_F_CREATE);
        Verdict v = HELD;

        v = worst(v, change_address("another address", RTM_NEWADDR, "192.0.2.99"));
        v = worst(v, change_address("no address", RTM_DELADDR, "10.64.0.2"));
        v = worst(v, change_route("no local route", RTM_DELROUTE, AF_INET, RT_TABLE_LOCAL, RTN_LOCAL));
        v = worst(v, change_route("no local route of IPv6", RTM_DELROUTE, AF_INET6, RT_TABLE_LOCAL, RTN_LOCAL));
        v = worst(v, change_route("another route", RTM_NEWROUTE, AF_INET, RT_TABLE_MAIN, RTN_UNICAST));
        put(&q, &rule, sizeof(rule));
        v = worst(v, ask("another rule", &q));
        q = request(RTM_NEWLINK, 0);
        put(&q, &down, sizeof(down));
        return worst(v, ask("loopback down", &q));
}

static Verdict bind_place(const char *address, int type, unsigned short port) {
        struct sockaddr_in6 place = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
        int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0), on = 1;
        char what[128];
        Verdict v;

        if (fd < 0 || inet_pton(AF_INET6, address, &place.sin6_addr) != 1)
                return broken("socket: %m");
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
        (void) setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
        (void) snprintf(what, sizeof(what), "listening on %s port %u", address, port);
        v = failed(what, bind(fd, (const struct sockaddr *) &place, sizeof(place)) < 0 ? -1 : type == SOCK_STREAM ? listen(fd, 1) : 0);
        (void) close(fd);
        return v;
}

static Verdict try_places(char **args) {
        static const char *const addresses[] = { "::", "::1", "::ffff:0.0.0.0", "::ffff:127.0.0.1", "::ffff:10.64.0.1", "::ffff:10.64.0.2",
                "::ffff:192.0.2.1", "fd64::2", "2001:db8::1" };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(addresses); i++) {
                v = worst(v, bind_place(addresses[i], SOCK_STREAM, GATE_PORT));
                v = worst(v, bind_place(addresses[i], SOCK_DGRAM, GATE_PORT));
                v = worst(v, bind_place(addresses[i], SOCK_DGRAM, NAMES_PORT));
        }
        return v;
}

static Verdict try_transparent(char **args) {
        int four = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
        Verdict v;

        if (four < 0 || six < 0)
                return broken("socket: %m");
        v = refused("IP_TRANSPARENT", setsockopt(four, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on)));
        v = worst(v, refused("IPV6_TRANSPARENT", setsockopt(six, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof(on))));
        v = worst(v, refused("SO_MARK", setsockopt(four, SOL_SOCKET, SO_MARK, &on, sizeof(on))));
        (void) close(four);
        (void) close(six);
        return v;
}

static bool make_place(const char *host, long port, struct sockaddr_in6 *ret) {
        char mapped[64];

        *ret = (struct sockaddr_in6) { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t) port) };
        (void) snprintf(mapped, sizeof(mapped), "%s%s", strchr(host, ':') ? "" : "::ffff:", host);
        return inet_pton(AF_INET6, mapped, &ret->sin6_addr) == 1;
}

/* Connecting proves nothing here: it is the gate that answers. The runner sees whether anybody comes to its listener. */
static Verdict talk(const char *host, long port) {
        struct timeval patience = { .tv_sec = 2 };
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in6 place;
        char answer[16];

        if (fd < 0 || !make_place(host, port, &place))
                return broken("\"%s\" is not an address", host);
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        if (connect(fd, (const struct sockaddr *) &place, sizeof(place)) == 0 && send(fd, "cove-escape\n", 12, MSG_NOSIGNAL) == 12)
                tried(recv(fd, answer, sizeof(answer), 0));
        (void) close(fd);
        return HELD;
}

/* A port, then addresses of the host. */
static Verdict try_host(char **args) {
        long port = number_or_die(arg_or_die(args, 0));
        Verdict v = HELD;

        for (char **host = args + 1; *host; host++)
                v = worst(v, talk(*host, port));
        v = worst(v, talk("127.0.0.1", port));
        v = worst(v, talk("0.0.0.0", port));
        return worst(v, talk("::1", port));
}

static Verdict try_datagram(char **args) {
        long port = number_or_die(arg_or_die(args, 0));

        for (char **host = args + 1; *host; host++) {
                int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                struct sockaddr_in6 place;

                if (fd < 0 || !make_place(*host, port, &place))
                        return broken("\"%s\" is not an address", *host);
                tried(sendto(fd, "cove-escape", 11, MSG_DONTWAIT, (const struct sockaddr *) &place, sizeof(place)));
                (void) close(fd);
        }
        (void) sleep(1); /* what is on its way, arrives before we end */
        return HELD;
}

static Verdict try_ping(char **args) {
        Verdict v = failed("a ping socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP));

        return worst(v, failed("a ping socket of IPv6", socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMPV6)));
}

/* clang-format off */
const Attempt gate_attempts[] = {
        { "gate-routes", try_routes, AS_BOTH,
          "addresses and routes are what brings everything to the gate" },
        { "gate-places", try_places, AS_BOTH,
          "whoever listened there could answer for the world" },
        { "gate-transparent", try_transparent, AS_BOTH,
          "sockets of the gate's kind are the gate's alone" },
        { "gate-host", try_host, AS_BOTH,
          "the host's own services are reached by nobody, whatever the policy" },
        { "gate-datagram", try_datagram, AS_BOTH,
          "nor are they by datagrams" },
        { "gate-ping", try_ping, AS_BOTH,
          "there is no ICMP" },
        { NULL },
};
/* clang-format on */
