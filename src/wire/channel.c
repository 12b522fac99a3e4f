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

int channel_send(int fd, const WireMessage *message, int pass_fd) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        union {
                struct cmsghdr align;
                char data[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        ssize_t size = wire_encode(message, buffer, sizeof(buffer));
        struct iovec iov = { .iov_base = buffer };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

        if (size < 0)
                return (int) size;
        iov.iov_len = (size_t) size;

        if (pass_fd >= 0) {
                struct cmsghdr *c;

                mh.msg_control = control.data;
                mh.msg_controllen = sizeof(control.data);
                c = CMSG_FIRSTHDR(&mh);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(c), &pass_fd, sizeof(int));
        }

        while (sendmsg(fd, &mh, MSG_NOSIGNAL) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

/* Any descriptors that were sent are ours now: at most one is wanted, the rest must not pile up. */
static int take_descriptor(struct msghdr *mh) {
        int wanted = -EBADF;

        for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
                size_t n;

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n; i++) {
                        int fd;

                        memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                        if (wanted < 0)
                                wanted = fd;
                        else
                                (void) fd_close(fd);
                }
        }
        return wanted;
}

int channel_receive(int fd, int flags, WireMessage *ret, int *ret_fd) {
        uint8_t buffer[WIRE_MESSAGE_MAX];
        union {
                struct cmsghdr align;
                char data[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec iov = { .iov_base = buffer, .iov_len = sizeof(buffer) };
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = control.data,
                .msg_controllen = sizeof(control.data),
        };
        _cleanup_close_ int passed = -EBADF;
        ssize_t n;
        int r;

        do
                n = recvmsg(fd, &mh, flags | MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;
        passed = take_descriptor(&mh);
        if (n == 0)
                return 0;
        if (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
                return -EBADMSG;

        r = wire_decode(buffer, (size_t) n, ret);
        if (r < 0)
                return r;
        if (ret_fd)
                *ret_fd = TAKE_FD(passed);
        return 1;
}
