#include "init/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "init/pool.h"
#include "wire/channel.h"

static void drop_held(InitLink *l) {
        while (l->n_held_fds > 0)
                (void) fd_close(l->held_fds[--l->n_held_fds]);
        l->held_size = 0;
}

void link_close(InitLink *l) {
        if (l->fd >= 0)
                (void) shutdown(l->fd, SHUT_RDWR); /* shims have copies of it */
        l->fd = fd_close(l->fd);
        l->deaf = false;
        drop_held(l);
}

void link_replace_take(InitLink *l, int fd) {
        link_close(l);
        l->fd = fd;
}

static int send_bytes(InitLink *l, const uint8_t *data, size_t size, const int *fds, size_t n_fds) {
        int r = channel_send_bytes(l->fd, data, size, fds, n_fds, MSG_DONTWAIT);

        if (r < 0 && r != -EAGAIN)
                l->deaf = true;
        return r;
}

/* If a descriptor cannot be copied, the connection is closed: a partial answer is useless, and the daemon asks
 * again on its next connection. */
static void init_link_hold(InitLink *l, const uint8_t *data, size_t size, const int *fds, size_t n_fds) {
        memcpy(l->held, data, size);
        l->held_size = size;
        for (size_t i = 0; i < n_fds; i++) {
                int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, PRIVATE_FD_FIRST);

                if (fd < 0) {
                        link_close(l);
                        return;
                }
                l->held_fds[l->n_held_fds++] = fd;
        }
}

static int send_or_hold(InitLink *l, const GuestMessage *message, const int *fds, size_t n_fds, bool may_hold) {
        uint8_t buffer[LINK_HELD_MAX];
        ssize_t size;
        int r;

        if (l->fd < 0 || l->deaf)
                return -ENOTCONN;
        if (l->held_size > 0)
                return -EAGAIN;
        size = guest_encode(message, buffer, sizeof(buffer));
        if (size < 0)
                return (int) size;
        r = send_bytes(l, buffer, (size_t) size, fds, n_fds);
        if (r == -EAGAIN && may_hold)
                init_link_hold(l, buffer, (size_t) size, fds, n_fds);
        return r;
}

int init_link_send(InitLink *l, const GuestMessage *message, int fd) {
        return send_or_hold(l, message, &fd, fd >= 0 ? 1 : 0, /* may_hold= */ false);
}

int link_send_bare(InitLink *l, GuestType type) {
        return init_link_send(l, &(GuestMessage) { .type = type }, -EBADF);
}

void link_answer(InitLink *l, const GuestMessage *message, int fd) {
        link_answer_fds(l, message, &fd, fd >= 0 ? 1 : 0);
}

void link_answer_fds(InitLink *l, const GuestMessage *message, const int *fds, size_t n_fds) {
        (void) send_or_hold(l, message, fds, n_fds, /* may_hold= */ true);
}

bool link_flush(InitLink *l) {
        if (l->held_size == 0)
                return false;
        if (send_bytes(l, l->held, l->held_size, l->held_fds, l->n_held_fds) == -EAGAIN)
                return true;
        drop_held(l);
        return false;
}
