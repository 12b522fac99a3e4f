/* pump.h: copies bytes between descriptors and counts them, without blocking the loop.
 *
 * Uses splice(2) where the kernel supports it, else a small buffer. The destination may be shared with other
 * processes and stays in blocking mode. It is written to only when poll() reports room, and in a way that
 * does not wait for the rest (a flag for sockets, a second open of a terminal).
 * Must not know: the content, the reason for a limit. */
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUMP_BUFFER_SIZE 65536

typedef struct Pump {
        int from, to;   /* borrowed */
        int own_to;     /* `to` opened again, non-blocking; -EBADF: none */
        bool is_socket; /* `to` */
        bool open;      /* more input may come */
        bool waits_out; /* input is ready, output is not */
        bool copies;    /* splice does not work between these two */
        bool broken;    /* the reader of the output has closed it */
        uint64_t bytes; /* bytes read, minus those that could not be delivered */
        size_t start, end; /* content of the buffer */
        char *buffer;      /* allocated when first needed */
} Pump;

#define PUMP_EMPTY { .from = -EBADF, .to = -EBADF, .own_to = -EBADF }

void pump_init(Pump *p, int from, int to);
void pump_done(Pump *p);

/* Everything read has been passed on. */
static inline bool pump_wants_input(const Pump *p) {
        return p->open && !p->waits_out && p->end == p->start;
}

/* Fills in what to wait for. */
void pump_poll(const Pump *p, struct pollfd *ret);

/* Moves as much as possible, at most `max` bytes. Returns 1 if there is input but max is 0, otherwise 0 or a
 * negative errno. Ends by itself at end of input, and when the reader of the output has closed it. */
int pump_step(Pump *p, short revents, uint64_t max);
