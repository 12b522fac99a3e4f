/* sink.h: our own stdout and stderr, written from a poll loop.
 *
 * Bytes are written as fast as the reader accepts them, without blocking the loop, so that Ctrl-C works while
 * a pager holds the output back. The descriptor may be shared with other processes and stays in blocking
 * mode; a pipe or terminal is opened again.
 * Must not know: where the bytes come from. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Sink {
        int fd;     /* borrowed */
        int own_fd; /* fd opened again, non-blocking; -EBADF: none */
        bool is_socket;
        char *buffer; /* bytes that are not written yet */
        size_t start, end, room;
} Sink;

#define SINK_FULL (1 << 20) /* with this much buffered, the caller should bring no more */

void sink_init(Sink *s, int fd);
void sink_done(Sink *s);

/* Writes as much as possible and buffers the rest. -EPIPE: the reader has closed. */
int sink_put(Sink *s, const void *data, size_t size);

static inline size_t sink_waiting(const Sink *s) {
        return s->end - s->start;
}

void sink_poll(const Sink *s, struct pollfd *ret);
int sink_step(Sink *s, short revents);

/* Blocks until everything is written. */
int sink_flush(Sink *s);
