/* outbox.h: answers on their way to coved.
 *
 * Sent at once as a rule; what the channel does not take waits here, and no request is read meanwhile, so that the one who
 * does not listen is the one who waits.
 * Must not know: what the answers say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/spawn.h"

typedef struct Letter Letter;

typedef struct Outbox {
        int fd;
        Letter *first, **last; /* last: where the next one is hooked in */
} Outbox;

void outbox_init(Outbox *o, int fd);
bool outbox_is_empty(const Outbox *o);

/* Descriptors stay the caller's. -EPIPE: nobody is there any more. */
int outbox_send(Outbox *o, const SpawnMessage *message, const int *fds, size_t n_fds);

/* When the channel can take more. A shortage (error_is_shortage()) is none of the channel's: it will say again that it can take more. So it is not looked at
 * for a while. */
int outbox_flush(Outbox *o);
