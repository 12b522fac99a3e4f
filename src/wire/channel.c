#include "wire/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

int channel_pair(int ret_fds[static 2]) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0)
                return -errno;
        return 0;
}

int channel_send(int fd, const WireMessage *message, const int *fds, size_t n_fds) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        union {
                struct cmsghdr align;
                char data[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
        } control = { 0 };
        ssize_t size = wire_encode(message, buffer, sizeof(buffer));
        struct iovec iov = { .iov_base = buffer };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

        if (size < 0)
                return (int) size;
        if (n_fds > CHANNEL_FDS_MAX)
                return -E2BIG;
        iov.iov_len = (size_t) size;

        if (n_fds > 0) {
                struct cmsghdr *c;

                mh.msg_control = control.data;
                mh.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
                c = CMSG_FIRSTHDR(&mh);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
                memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
        }

        while (sendmsg(fd, &mh, MSG_NOSIGNAL) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

/* Any descriptors that were sent are ours now, wanted or not. */
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

int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fds, size_t max_fds, size_t *ret_n_fds) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        union {
                struct cmsghdr align;
                char data[CMSG_SPACE(sizeof(int) * CHANNEL_FDS_MAX)];
        } control;
        struct iovec iov = { .iov_base = buffer, .iov_len = sizeof(buffer) };
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control.data,
                .msg_controllen = sizeof(control.data),
        };
        int fds[CHANNEL_FDS_MAX], r;
        size_t n_fds, n_wanted;
        ssize_t n;

        do
                n = recvmsg(fd, &mh, flags | MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;

        n_fds = take_descriptors(&mh, fds);
        if (n == 0)
                r = 0;
        else if (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
                r = -EBADMSG;
        else
                r = wire_decode(buffer, (size_t) n, ret);
        if (n == 0 || r < 0) {
                close_from(fds, 0, n_fds);
                return r;
        }

        n_wanted = MIN_OF(n_fds, max_fds);
        if (n_wanted > 0)
                memcpy(ret_fds, fds, n_wanted * sizeof(int));
        close_from(fds, n_wanted, n_fds);
        if (ret_n_fds)
                *ret_n_fds = n_wanted;
        return 1;
}
