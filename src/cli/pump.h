/* pump.h: bytes from one descriptor to another, counted, without ever blocking the loop.
 *
 * Splices where the kernel can (no copy through us), else copies by way of a small buffer. The destination belongs to
 * the caller's caller and stays in blocking mode: it is written to only when poll() says that it takes some, and in a way
 * that does not wait for the rest (a socket call has a flag for it, a terminal is opened once more).
 * Must not know: what the bytes are, why there is a limit. */
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUMP_BUFFER_SIZE 65536

typedef struct Pump {
        int from, to;   /* borrowed */
        int own_to;     /* the same terminal as `to`, non-blocking; -EBADF: none */
        bool is_socket; /* `to` */
        bool open;      /* more may come */
        bool waits_out; /* input is there, output is not ready for it */
        bool copies;    /* splice does not work between these two */
        bool broken;    /* the reader of our output is gone */
        uint64_t bytes; /* taken from the input, less what could not be delivered */
        size_t start, end; /* what is in the buffer */
        char *buffer;      /* made when first needed */
} Pump;

#define PUMP_EMPTY { .from = -EBADF, .to = -EBADF, .own_to = -EBADF }

void pump_init(Pump *p, int from, int to);
void pump_done(Pump *p);

/* Has passed on all it has. */
static inline bool pump_wants_input(const Pump *p) {
        return p->open && !p->waits_out && p->end == p->start;
}

/* What to wait for. */
void pump_poll(const Pump *p, struct pollfd *ret);

/* Moves what can be moved, at most `max` bytes. Returns 1 when there is input but max is 0, 0 otherwise, negative errno
 * when something broke. Ends by itself at end of input, and when the reader of the output is gone. */
int pump_step(Pump *p, short revents, uint64_t max);
