#include "init/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "init/pool.h"
#include "wire/channel.h"

void link_close(Link *l) {
        if (l->fd >= 0)
                (void) shutdown(l->fd, SHUT_RDWR); /* shims have copies of it */
        l->fd = fd_close(l->fd);
        l->deaf = false;
        l->held_fd = fd_close(l->held_fd);
        l->held_size = 0;
}

void link_replace_take(Link *l, int fd) {
        link_close(l);
        l->fd = fd;
}

static int send_bytes(Link *l, const uint8_t *data, size_t size, int fd) {
        int r = channel_send_bytes(l->fd, data, size, &fd, fd >= 0 ? 1 : 0, MSG_DONTWAIT);

        if (r < 0 && r != -EAGAIN)
                l->deaf = true;
        return r;
}

static int send_or_hold(Link *l, const GuestMessage *message, int fd, bool hold) {
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
        r = send_bytes(l, buffer, (size_t) size, fd);
        if (r != -EAGAIN || !hold)
                return r;

        memcpy(l->held, buffer, (size_t) size);
        l->held_size = (size_t) size;
        l->held_fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, PRIVATE_FD_FIRST) : -EBADF;
        if (fd >= 0 && l->held_fd < 0)
                link_close(l); /* half an answer is none: the next connection asks again */
        return r;
}

int link_send(Link *l, const GuestMessage *message, int fd) {
        return send_or_hold(l, message, fd, /* hold= */ false);
}

int link_send_bare(Link *l, GuestType type) {
        return link_send(l, &(GuestMessage) { .type = type }, -EBADF);
}

void link_answer(Link *l, const GuestMessage *message, int fd) {
        (void) send_or_hold(l, message, fd, /* hold= */ true);
}

bool link_flush(Link *l) {
        if (l->held_size == 0)
                return false;
        if (send_bytes(l, l->held, l->held_size, l->held_fd) == -EAGAIN)
                return true;
        l->held_size = 0;
        l->held_fd = fd_close(l->held_fd);
        return false;
}
