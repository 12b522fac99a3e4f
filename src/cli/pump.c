#include "cli/pump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"

#define SPLICE_CHUNK (1024 * 1024)
#define WRITE_CHUNK  4096 /* PIPE_BUF: a pipe that poll() reports as writable takes this much without blocking */

/* Opens a file description of our own, so that O_NONBLOCK does not affect processes that share the caller's.
 * Not for the master of a terminal: opening it again makes another terminal. The master is our own anyway,
 * and non-blocking. */
static int pump_open_again(int fd) {
        unsigned number;
        char path[32];

        if (ioctl(fd, TIOCGPTN, &number) == 0)
                return -EBADF;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return fd < 0 ? -EBADF : fd;
}

void pump_init(Pump *p, int from, int to) {
        bool terminal = isatty(to);
        struct stat st;

        *p = (Pump) {
                .from = from,
                .to = to,
                .open = true,
                .own_to = terminal ? pump_open_again(to) : -EBADF,
                .is_socket = fstat(to, &st) == 0 && S_ISSOCK(st.st_mode),
        };
        p->copies = terminal || p->is_socket; /* splice(2) to these blocks, or fails */
}

void pump_done(Pump *p) {
        free(p->buffer);
        p->buffer = NULL;
        p->own_to = fd_close(p->own_to);
        p->open = false;
}

void pump_poll(const Pump *p, struct pollfd *ret) {
        bool out = p->waits_out || p->end > p->start;

        *ret = (struct pollfd) {
                .fd = p->open ? (out ? p->to : p->from) : -1,
                .events = out ? POLLOUT : POLLIN,
        };
}

static int pump_failed(Pump *p, int error) {
        p->open = false;
        p->bytes -= p->end - p->start;
        p->start = p->end = 0;
        if (error == EPIPE) {
                p->broken = true;
                return 0;
        }
        return error == EIO || error == ECONNRESET ? 0 : -error; /* EIO: the last writer of a terminal is gone */
}

static int step_splice(Pump *p, uint64_t max) {
        ssize_t n = splice(p->from, NULL, p->to, NULL, (size_t) MIN_OF(max, (uint64_t) SPLICE_CHUNK),
                        SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

        if (n > 0) {
                p->bytes += (uint64_t) n;
                p->waits_out = false;
                return 0;
        }
        if (n == 0) {
                p->open = false;
                return 0;
        }
        switch (errno) {
        case EINTR: return 0;
        case EAGAIN: p->waits_out = true; return 0; /* `from` is readable, so the output is full */
        case EINVAL: p->copies = true; return 0;    /* a terminal, a file in append mode, … */
        default: return pump_failed(p, errno);
        }
}

static int step_read(Pump *p, uint64_t max) {
        ssize_t n;

        if (!p->buffer) {
                p->buffer = malloc(PUMP_BUFFER_SIZE);
                if (!p->buffer)
                        return -ENOMEM;
        }
        n = read(p->from, p->buffer, (size_t) MIN_OF(max, (uint64_t) PUMP_BUFFER_SIZE));
        if (n < 0)
                return errno == EINTR || errno == EAGAIN ? 0 : pump_failed(p, errno);
        if (n == 0)
                p->open = false;
        p->start = 0;
        p->end = (size_t) n;
        p->bytes += (uint64_t) n;
        return 0;
}

static ssize_t pump_write_some(const Pump *p, const char *data, size_t size) {
        if (p->is_socket)
                return send(p->to, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        return write(p->own_to >= 0 ? p->own_to : p->to, data, MIN_OF(size, (size_t) WRITE_CHUNK));
}

static int step_write(Pump *p) {
        ssize_t n = pump_write_some(p, p->buffer + p->start, p->end - p->start);

        if (n < 0)
                return errno == EINTR || errno == EAGAIN ? 0 : pump_failed(p, errno);
        p->start += (size_t) n;
        return 0;
}

static bool has_input(int fd) {
        int n = 0;
        return ioctl(fd, FIONREAD, &n) == 0 && n > 0;
}

int pump_step(Pump *p, short revents, uint64_t max) {
        if (!p->open || !revents)
                return 0;
        if (p->end > p->start)
                return step_write(p);
        if (p->waits_out) {
                p->waits_out = false; /* check the input again: it may have ended meanwhile */
                if (revents & POLLERR)
                        return pump_failed(p, EPIPE);
                return 0;
        }
        if (max == 0) {
                if (has_input(p->from))
                        return 1;
                if (revents & (POLLHUP | POLLERR))
                        p->open = false;
                return 0;
        }
        return p->copies ? step_read(p, max) : step_splice(p, max);
}
