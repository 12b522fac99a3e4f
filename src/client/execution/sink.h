/* sink.h: our own stdout and stderr, fed from a poll loop.
 *
 * Bytes go out as the reader takes them, without ever blocking the loop, so that Ctrl-C is heard while a pager holds the rest. The
 * descriptor belongs to the caller's caller as well and stays in blocking mode; a pipe or terminal is opened once more.
 * Must not know: where the bytes come from. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Sink {
        int fd;     /* borrowed */
        int own_fd; /* the same, non-blocking; -EBADF: none */
        bool is_socket;
        char *buffer; /* what has not been taken */
        size_t start, end, room;
} Sink;

#define SINK_FULL (1 << 20) /* do not bring more when this much waits */

void sink_init(Sink *s, int fd);
void sink_done(Sink *s);

/* Writes what it can and keeps the rest. -EPIPE: nobody reads. */
int sink_put(Sink *s, const void *data, size_t size);

static inline size_t sink_waiting(const Sink *s) {
        return s->end - s->start;
}

void sink_poll(const Sink *s, struct pollfd *ret);
int sink_step(Sink *s, short revents);

/* Blocks until everything is out. */
int sink_flush(Sink *s);
