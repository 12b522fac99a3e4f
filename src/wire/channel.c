#include "wire/channel.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

typedef union ChannelControl {
        struct cmsghdr align;
        char data[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
} ChannelControl;

int channel_pair(int ret_fds[static 2]) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0)
                return -errno;
        return 0;
}

static void channel_fill(const ChannelPiece *p, struct iovec *iov, ChannelControl *control, struct msghdr *ret) {
        struct cmsghdr *c;

        *iov = (struct iovec) { .iov_base = (void *) p->data, .iov_len = p->size };
        *ret = (struct msghdr) { .msg_iov = iov, .msg_iovlen = 1 };
        if (p->n_fds == 0)
                return;
        *control = (ChannelControl) { 0 };
        ret->msg_control = control->data;
        ret->msg_controllen = CMSG_SPACE(sizeof(int) * p->n_fds);
        c = &control->align;
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * p->n_fds);
        memcpy(CMSG_DATA(c), p->fds, sizeof(int) * p->n_fds);
}

int channel_send_bytes(int fd, const void *data, size_t size, const int *fds, size_t n_fds, int flags) {
        const ChannelPiece piece = { data, size, fds, n_fds };
        struct iovec iov;
        struct msghdr mh;
        ChannelControl control;

        if (n_fds > CHANNEL_FDS_MAX)
                return -E2BIG;
        channel_fill(&piece, &iov, &control, &mh);
        while (sendmsg(fd, &mh, flags | MSG_NOSIGNAL) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

int channel_send_pieces(int fd, const ChannelPiece *pieces, size_t n, int flags) {
        struct mmsghdr messages[CHANNEL_PIECES_MAX];
        struct iovec iov[CHANNEL_PIECES_MAX];
        ChannelControl control[CHANNEL_PIECES_MAX];
        int sent;

        if (n == 1) {
                int r = channel_send_bytes(fd, pieces->data, pieces->size, pieces->fds, pieces->n_fds, flags);

                return r < 0 ? r : 1;
        }
        n = MIN_OF(n, (size_t) CHANNEL_PIECES_MAX);
        for (size_t i = 0; i < n; i++)
                channel_fill(pieces + i, iov + i, control + i, &messages[i].msg_hdr);
        do
                sent = sendmmsg(fd, messages, (unsigned) n, flags | MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        return sent < 0 ? -errno : sent;
}

/* The kernel has installed all received descriptors in our table, wanted or not. */
static size_t take_descriptors(struct msghdr *mh, int ret_fds[static CHANNEL_FDS_MAX]) {
        size_t taken = 0;

        for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
                size_t n;

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n; i++) {
                        int fd;

                        memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                        if (taken < CHANNEL_FDS_MAX)
                                ret_fds[taken++] = fd;
                        else
                                (void) fd_close(fd);
                }
        }
        return taken;
}

static void close_from(const int *fds, size_t first, size_t n) {
        for (size_t i = first; i < n; i++)
                (void) fd_close(fds[i]);
}

static void hand_out(const int *fds, size_t n_fds, int *ret_fds, size_t max_fds, size_t *ret_n_fds) {
        size_t n = MIN_OF(n_fds, max_fds);

        if (n > 0)
                memcpy(ret_fds, fds, n * sizeof(int));
        close_from(fds, n, n_fds);
        if (ret_n_fds)
                *ret_n_fds = n;
}

int channel_receive_bytes(int fd, int flags, void *buffer, size_t size, size_t *ret_size, int *ret_fds, size_t max_fds,
                size_t *ret_n_fds) {
        struct iovec iov = { .iov_base = buffer, .iov_len = size };
        ChannelControl control;
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control.data,
                .msg_controllen = sizeof(control.data),
        };
        int fds[CHANNEL_FDS_MAX];
        size_t n_fds;
        unsigned n_resets = 0;
        bool is_short;
        ssize_t n;

        /* If a peer has died without reading everything, the kernel reports that before it hands out the data
         * that the peer had sent. */
        do
                n = recvmsg(fd, &mh, flags | MSG_CMSG_CLOEXEC);
        while (n < 0 && (errno == EINTR || (errno == ECONNRESET && n_resets++ == 0)));
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;

        n_fds = take_descriptors(&mh, fds);
        is_short = (mh.msg_flags & MSG_CTRUNC) && n_fds < CHANNEL_FDS_MAX; /* our buffer had room for more: this process lacks descriptors */
        if (n == 0 || (mh.msg_flags & MSG_TRUNC) || ((mh.msg_flags & MSG_CTRUNC) && !is_short)) {
                close_from(fds, 0, n_fds);
                return n == 0 ? 0 : -EBADMSG;
        }
        if (is_short) {
                close_from(fds, 0, n_fds);
                n_fds = 0;
        }
        hand_out(fds, n_fds, ret_fds, max_fds, ret_n_fds);
        *ret_size = (size_t) n;
        return is_short && max_fds > 0 ? CHANNEL_SHORT : 1;
}

int channel_send(int fd, const WireMessage *message, const int *fds, size_t n_fds) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        ssize_t size = wire_encode(message, buffer, sizeof(buffer));

        if (size < 0)
                return (int) size;
        return channel_send_bytes(fd, buffer, (size_t) size, fds, n_fds, /* flags= */ 0);
}

int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        int fds[CHANNEL_FDS_MAX], r;
        size_t size, n_fds;

        r = channel_receive_bytes(fd, flags, buffer, sizeof(buffer), &size, fds, CHANNEL_FDS_MAX, &n_fds);
        if (r <= 0)
                return r;
        if (r == CHANNEL_SHORT && max_fds > 0)
                return -EMFILE;
        r = wire_decode(buffer, size, ret);
        if (r < 0) {
                close_from(fds, 0, n_fds);
                return r;
        }
        hand_out(fds, n_fds, ret_fds, max_fds, ret_n_fds);
        return 1;
}
