#include "gate/relay/dial.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/address.h"
#include "base/fd.h"

#define TIMER_SLACK    (250 * USEC_PER_MSEC)
#define KEEPALIVE_SECS 120 /* an upstream that is gone without a word: nobody else would notice */

struct Dial {
        int fd;
        sd_event_source *source, *timer;
        void (*done)(int error, int fd, void *userdata);
        void *userdata;
};

Dial *dial_free(Dial *d) {
        if (!d)
                return NULL;
        sd_event_source_disable_unref(d->source);
        sd_event_source_disable_unref(d->timer);
        (void) fd_close(d->fd);
        free(d);
        return NULL;
}

static int dial_on_connected(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Dial *d = userdata;
        int error = 0;
        socklen_t size = sizeof(error);

        d->source = sd_event_source_disable_unref(d->source);
        d->timer = sd_event_source_disable_unref(d->timer);
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
                error = errno;
        d->done(-error, error == 0 ? TAKE_FD(d->fd) : -EBADF, d->userdata);
        return 0;
}

static int dial_on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        Dial *d = userdata;

        d->source = sd_event_source_disable_unref(d->source);
        d->done(-ETIMEDOUT, -EBADF, d->userdata);
        return 0;
}

static int dial_open_socket(const IpAddress *address, uint16_t port) {
        SocketAddress to;
        socklen_t size = address_to_socket(address, port, &to);
        _cleanup_close_ int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return -errno;
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
        (void) setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int) { 1 }, sizeof(int));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int) { KEEPALIVE_SECS }, sizeof(int));
        if (connect(fd, &to.any, size) < 0 && errno != EINPROGRESS)
                return -errno;
        return TAKE_FD(fd);
}

int dial_new(Gate *g, const IpAddress *address, uint16_t port, void (*done)(int error, int fd, void *userdata), void *userdata, Dial **ret) {
        int r, fd = dial_open_socket(address, port);
        Dial *d;

        if (fd < 0)
                return fd;
        d = calloc(1, sizeof(*d));
        if (!d) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        *d = (Dial) { .fd = fd, .done = done, .userdata = userdata };
        r = sd_event_add_io(g->event, &d->source, fd, EPOLLOUT, dial_on_connected, d);
        if (r >= 0)
                r = sd_event_add_time_relative(g->event, &d->timer, CLOCK_MONOTONIC, DIAL_TIMEOUT_USEC, TIMER_SLACK, dial_on_timeout, d);
        if (r < 0) {
                dial_free(d);
                return r;
        }
        *ret = d;
        return 0;
}
