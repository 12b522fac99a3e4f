#include "jail/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

#define ANSWER_MAX   8192

static void *netlink_reserve(NetlinkBatch *b, size_t size) {
        size_t aligned = NLMSG_ALIGN(size);
        void *p = b->bytes + b->size;

        if (b->failed || aligned > sizeof(b->bytes) - b->size) {
                b->failed = true;
                return NULL;
        }
        memset(p, 0, aligned);
        b->size += aligned;
        return p;
}

static void finish_message(NetlinkBatch *b) {
        struct nlmsghdr header;

        if (b->failed || b->n == 0)
                return;
        memcpy(&header, b->bytes + b->message, sizeof(header));
        header.nlmsg_len = (uint32_t) (b->size - b->message);
        memcpy(b->bytes + b->message, &header, sizeof(header));
}

void netlink_begin(NetlinkBatch *b, uint16_t type, uint16_t flags, const void *head, size_t size) {
        const struct nlmsghdr header = {
                .nlmsg_len = (uint32_t) (NLMSG_HDRLEN + NLMSG_ALIGN(size)),
                .nlmsg_type = type,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags,
                .nlmsg_seq = ++b->n,
        };
        uint8_t *p;

        b->message = b->size;
        p = netlink_reserve(b, NLMSG_HDRLEN + size);
        if (!p)
                return;
        memcpy(p, &header, sizeof(header));
        memcpy(p + NLMSG_HDRLEN, head, size);
}

void netlink_put(NetlinkBatch *b, uint16_t attribute, const void *data, size_t size) {
        const struct nlattr a = { .nla_len = (uint16_t) (NLA_HDRLEN + size), .nla_type = attribute };
        uint8_t *p = netlink_reserve(b, NLA_HDRLEN + size);

        if (!p)
                return;
        memcpy(p, &a, sizeof(a));
        if (size > 0)
                memcpy(p + NLA_HDRLEN, data, size);
        finish_message(b);
}

void netlink_put_string(NetlinkBatch *b, uint16_t attribute, const char *text) {
        netlink_put(b, attribute, text, strlen(text) + 1);
}

size_t netlink_open(NetlinkBatch *b, uint16_t attribute) {
        size_t at = b->size;

        netlink_put(b, attribute | NLA_F_NESTED, NULL, 0);
        return at;
}

void netlink_close(NetlinkBatch *b, size_t opened) {
        struct nlattr a;

        if (b->failed)
                return;
        memcpy(&a, b->bytes + opened, sizeof(a));
        a.nla_len = (uint16_t) (b->size - opened);
        memcpy(b->bytes + opened, &a, sizeof(a));
}

/* The number of requests that one datagram acknowledges, or the error of a failed one. */
static int count_acks(const uint8_t *data, size_t size) {
        int n = 0;

        while (size >= NLMSG_HDRLEN) {
                struct nlmsghdr header;
                struct nlmsgerr answer;

                memcpy(&header, data, sizeof(header));
                if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > size)
                        return -EBADMSG;
                if (header.nlmsg_type == NLMSG_ERROR) {
                        if (header.nlmsg_len < NLMSG_LENGTH(sizeof(answer)))
                                return -EBADMSG;
                        memcpy(&answer, data + NLMSG_HDRLEN, sizeof(answer));
                        if (answer.error != 0)
                                return answer.error;
                        n++;
                }
                size -= MIN_OF((size_t) NLMSG_ALIGN(header.nlmsg_len), size);
                data += NLMSG_ALIGN(header.nlmsg_len);
        }
        return n;
}

int netlink_exchange(int protocol, const void *data, size_t size, unsigned n_acks) {
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
        const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
        _Alignas(8) uint8_t answer[ANSWER_MAX];
        const int on = 1;
        unsigned n = 0;

        if (fd < 0)
                return -errno;
        (void) setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)); /* errors come without a copy of the request */
        if (sendto(fd, data, size, 0, (const struct sockaddr *) &kernel, sizeof(kernel)) < 0)
                return -errno;
        while (n < n_acks) {
                ssize_t got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
                int r;

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return errno == EAGAIN ? -EPROTO : -errno;
                r = count_acks(answer, (size_t) got);
                if (r < 0)
                        return r;
                n += (unsigned) r;
        }
        return 0;
}

int netlink_commit(const NetlinkBatch *b) {
        return b->failed ? -E2BIG : netlink_exchange(NETLINK_ROUTE, b->bytes, b->size, b->n);
}
