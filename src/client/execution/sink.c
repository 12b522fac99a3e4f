#include "client/execution/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"

/* Opens a file description of our own, so that O_NONBLOCK does not affect processes that share the caller's.
 * Not for files: they never block, and share their position. */
static int sink_open_again(int fd, mode_t mode) {
        char path[32];

        if (!S_ISFIFO(mode) && !isatty(fd))
                return -EBADF;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return fd < 0 ? -EBADF : fd;
}

void sink_init(Sink *s, int fd) {
        struct stat st = { 0 };

        (void) signal(SIGPIPE, SIG_IGN); /* a write without a reader is -EPIPE instead */
        (void) fstat(fd, &st);
        *s = (Sink) { .fd = fd, .own_fd = sink_open_again(fd, st.st_mode), .is_socket = S_ISSOCK(st.st_mode) };
}

void sink_done(Sink *s) {
        s->own_fd = fd_close(s->own_fd);
        free(s->buffer);
        s->buffer = NULL;
        s->start = s->end = s->room = 0;
}

static ssize_t sink_write_some(const Sink *s, const char *data, size_t size) {
        ssize_t n;

        do
                if (s->is_socket)
                        n = send(s->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
                else
                        n = write(s->own_fd >= 0 ? s->own_fd : s->fd, data, size);
        while (n < 0 && errno == EINTR);
        return n < 0 ? (errno == EAGAIN ? 0 : -errno) : n;
}

static int sink_keep(Sink *s, const char *data, size_t size) {
        if (s->start > 0 && s->start == s->end)
                s->start = s->end = 0;
        if (ARRAY_RESERVE(s->buffer, s->room, s->end + size) < 0)
                return -ENOMEM;
        memcpy(s->buffer + s->end, data, size);
        s->end += size;
        return 0;
}

int sink_put(Sink *s, const void *data, size_t size) {
        const char *p = data;

        while (size > 0 && sink_waiting(s) == 0) {
                ssize_t n = sink_write_some(s, p, size);

                if (n < 0)
                        return (int) n;
                if (n == 0)
                        break;
                p += n;
                size -= (size_t) n;
        }
        return size > 0 ? sink_keep(s, p, size) : 0;
}

void sink_poll(const Sink *s, struct pollfd *ret) {
        *ret = (struct pollfd) { .fd = sink_waiting(s) > 0 ? s->fd : -1, .events = POLLOUT };
}

int sink_step(Sink *s, short revents) {
        ssize_t n;

        if (!revents || sink_waiting(s) == 0)
                return 0;
        n = sink_write_some(s, s->buffer + s->start, sink_waiting(s));
        if (n < 0)
                return (int) n;
        s->start += (size_t) n;
        return 0;
}

int sink_flush(Sink *s) {
        while (sink_waiting(s) > 0) {
                struct pollfd p;
                int r;

                sink_poll(s, &p);
                if (poll(&p, 1, -1) < 0 && errno != EINTR)
                        return -errno;
                r = sink_step(s, p.revents);
                if (r < 0)
                        return r;
        }
        return 0;
}
