/* outbox.h: messages that a non-blocking channel has not accepted yet.
 *
 * The order is kept, and descriptors wait with their message. A limit bounds what a peer that does not read
 * can make us hold.
 * Must not know: what the messages say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

typedef struct OutboxItem OutboxItem;

typedef struct ProviderOutbox {
        OutboxItem *items;
        size_t n;
} ProviderOutbox;

#define OUTBOX_MAX 16384

/* Sends the message, or queues it (descriptors are duplicated) and returns 0. io is armed for EPOLLOUT while
 * messages wait. */
int provider_outbox_send(ProviderOutbox *o, int fd, sd_event_source *io, const void *data, size_t size, const int *fds, size_t n_fds);

/* Call when the channel has room. After a shortage (error_is_shortage()) the caller must disable io for a
 * while: the channel is not the reason and would report room again and again. */
int provider_outbox_flush(ProviderOutbox *o, int fd, sd_event_source *io);

void outbox_done(ProviderOutbox *o);
