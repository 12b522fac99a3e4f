/* outbox.h: answers on their way to coved.
 *
 * An answer is normally sent at once. If the channel does not take it, it waits here, and no request is read
 * meanwhile: a peer that does not read has to wait itself.
 * Must not know: the answers' contents. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/spawn.h"

typedef struct Letter Letter;

typedef struct Outbox {
        int fd;
        Letter *first, **last; /* last: the pointer that the next one is assigned to */
} Outbox;

void outbox_init(Outbox *o, int fd);
bool outbox_is_empty(const Outbox *o);

/* Descriptors stay the caller's. -EPIPE: coved is gone. */
int outbox_send(Outbox *o, const SpawnMessage *message, const int *fds, size_t n_fds);

/* Call when the channel is writable. After a shortage (error_is_shortage()) the channel is still writable, so the
 * caller must not poll it for a while. */
int outbox_flush(Outbox *o);
