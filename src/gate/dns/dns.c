#include "gate/dns/dns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "gate/dns/dns-internal.h"
#include "gate/share.h"

#define DATAGRAMS_AT_ONCE 32 /* then others have their turn */

typedef union PacketInfo {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
} PacketInfo;

DnsServer *dns_server_get(GateSandbox *s) {
        if (s->dns)
                return s->dns;
        s->dns = calloc(1, sizeof(*s->dns));
        if (s->dns) {
                s->dns->sandbox = s;
                s->dns->upstream_credit = DNS_UPSTREAM_BURST * (USEC_PER_SEC / DNS_UPSTREAM_PER_SEC);
                s->dns->upstream_at = clock_usec();
        }
        return s->dns;
}

static bool asked_address(struct msghdr *m, struct in6_addr *ret) {
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
                if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO && c->cmsg_len >= CMSG_LEN(sizeof(struct in6_pktinfo))) {
                        struct in6_pktinfo info;

                        memcpy(&info, CMSG_DATA(c), sizeof(info));
                        *ret = info.ipi6_addr;
                        return true;
                }
        return false;
}

/* 1: there may be more; 0: nothing more for now. */
static int dns_datagram_take(DnsServer *v, int fd) {
        uint8_t buffer[DNS_QUESTION_MAX];
        DnsClient client = { 0 };
        PacketInfo info;
        struct iovec iov = { buffer, sizeof(buffer) };
        struct msghdr m = {
                .msg_name = &client.from,
                .msg_namelen = sizeof(client.from),
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &info,
                .msg_controllen = sizeof(info),
        };
        ssize_t size = recvmsg(fd, &m, MSG_DONTWAIT);

        if (size < 0)
                return errno == EAGAIN ? 0 : 1; /* other errors concern answers of ours that the guest did not take */
        if (m.msg_flags & MSG_TRUNC || client.from.sin6_family != AF_INET6 || !asked_address(&m, &client.asked))
                return 1;
        dns_request_take(v, &client, buffer, (size_t) size);
        return 1;
}

int dns_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        DnsServer *v = dns_server_get(userdata);

        share_works(userdata);
        for (int i = 0; v && i < DATAGRAMS_AT_ONCE && dns_datagram_take(v, fd) > 0; i++)
                ;
        return 0;
}

/* An answer that the kernel has no room for is lost, as datagrams may be: the client asks again. */
static void datagram_send(DnsServer *v, const DnsClient *client, const uint8_t *data, size_t size) {
        struct in6_pktinfo from = { .ipi6_addr = client->asked };
        struct sockaddr_in6 to = client->from;
        PacketInfo info = { 0 };
        struct iovec iov = { (void *) data, size };
        struct msghdr m = {
                .msg_name = &to,
                .msg_namelen = sizeof(to),
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &info,
                .msg_controllen = sizeof(info),
        };
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        c->cmsg_level = IPPROTO_IPV6;
        c->cmsg_type = IPV6_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof(from));
        memcpy(CMSG_DATA(c), &from, sizeof(from));
        (void) sendmsg(v->sandbox->dns_fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void dns_send(DnsServer *v, const DnsClient *client, const DnsQuestion *q, const DnsAnswer *a) {
        uint8_t answer[DNS_ANSWER_MAX];
        size_t size = dns_answer_write(q, a, answer, client->tcp ? sizeof(answer) : q->udp_size);

        if (client->tcp)
                dns_tcp_send(client->tcp, answer, size);
        else
                datagram_send(v, client, answer, size);
}

void dns_sandbox_gone(GateSandbox *s) {
        DnsServer *v = s->dns;

        if (!v)
                return;
        while (v->connections)
                dns_tcp_free(v->connections);
        while (v->requests)
                dns_request_free(v->requests);
        s->dns = NULL;
        free(v);
}
