#include "gate/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

#define FDS_ROOM 16 /* what a careless sender may send at once; all of them have to be closed */

typedef union Ancillary {
        struct cmsghdr align;
        char data[CMSG_SPACE(sizeof(int) * FDS_ROOM)];
} Ancillary;

/* One message is under way at a time in either program: both have one thread. Values of secrets pass through here. */
static char buffer[CONTROL_MESSAGE_MAX];

static void wipe(size_t size) {
        explicit_bzero(buffer, size);
}

static int send_bytes(int fd, size_t size, const int *fds, size_t n_fds) {
        struct iovec iov = { .iov_base = buffer, .iov_len = size };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
        Ancillary ancillary = { 0 };

        if (n_fds > 0) {
                struct cmsghdr *c;

                mh.msg_control = ancillary.data;
                mh.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
                c = CMSG_FIRSTHDR(&mh);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
                memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
        }
        while (sendmsg(fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                if (errno != EINTR)
                        return errno == ENOBUFS ? -EAGAIN : -errno;
        return 0;
}

int control_send(int fd, json_t *message, const int *fds, size_t n_fds) {
        size_t size;
        int r;

        if (!message)
                return -ENOMEM;
        if (n_fds > CONTROL_FDS_MAX)
                return -E2BIG;
        size = json_dumpb(message, buffer, sizeof(buffer), JSON_COMPACT);
        if (size == 0)
                return -ENOMEM;
        if (size > sizeof(buffer)) {
                wipe(sizeof(buffer));
                return -EMSGSIZE;
        }
        r = send_bytes(fd, size, fds, n_fds);
        wipe(size);
        return r;
}

/* Whatever was sent is ours now, wanted or not. */
static size_t take_descriptors(struct msghdr *mh, int ret[static FDS_ROOM]) {
        size_t taken = 0;

        for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
                size_t n;

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n && taken < FDS_ROOM; i++)
                        memcpy(ret + taken++, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
        }
        return taken;
}

static void close_all(const int *fds, size_t n) {
        for (size_t i = 0; i < n; i++)
                (void) fd_close(fds[i]);
}

static int receive_bytes(int fd, struct msghdr *mh, size_t *ret_size) {
        unsigned n_resets = 0;
        ssize_t n;

        /* The kernel tells of a peer that has died without reading everything before it hands out what that peer had sent. */
        do
                n = recvmsg(fd, mh, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        while (n < 0 && (errno == EINTR || (errno == ECONNRESET && n_resets++ == 0)));
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;
        *ret_size = (size_t) n;
        return n > 0;
}

static json_t *parse(size_t size) {
        json_t *j = json_loadb(buffer, size, JSON_REJECT_DUPLICATES, NULL);

        if (j && !json_is_object(j)) {
                json_decref(j);
                return NULL;
        }
        return j;
}

int control_receive(int fd, json_t **ret, int ret_fds[static CONTROL_FDS_MAX], size_t *ret_n_fds) {
        struct iovec iov = { .iov_base = buffer, .iov_len = sizeof(buffer) };
        Ancillary ancillary;
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = ancillary.data,
                .msg_controllen = sizeof(ancillary.data),
        };
        int fds[FDS_ROOM], r;
        json_t *j = NULL;
        size_t size, n_fds;

        r = receive_bytes(fd, &mh, &size);
        if (r <= 0)
                return r;
        n_fds = take_descriptors(&mh, fds);
        if (!(mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && n_fds <= CONTROL_FDS_MAX)
                j = parse(size);
        wipe(size);
        if (!j) {
                close_all(fds, n_fds);
                return -EBADMSG;
        }
        if (n_fds > 0)
                memcpy(ret_fds, fds, n_fds * sizeof(int));
        *ret_n_fds = n_fds;
        *ret = j;
        return 1;
}
