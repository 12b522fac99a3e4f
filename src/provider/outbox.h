/* outbox.h: messages that wait: for a non-blocking channel to accept them, or for the end of the turn.
 *
 * The order is kept, and descriptors wait with their message. A limit bounds what a peer that does not read
 * can make us hold.
 * Must not know: what the messages say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct OutboxItem OutboxItem;

typedef struct ProviderOutbox {
        OutboxItem *items;
        size_t n;
        bool blocked; /* the channel has no room: call provider_outbox_flush() when it has */
} ProviderOutbox;

#define OUTBOX_MAX 16384

/* Sends what waits and then the message, or queues it (descriptors are duplicated) and returns 0. */
int provider_outbox_send(ProviderOutbox *o, int fd, const void *data, size_t size, const int *fds, size_t n_fds);

/* Queues it in any case. */
int provider_outbox_hold(ProviderOutbox *o, const void *data, size_t size, const int *fds, size_t n_fds);

/* After a shortage (error_is_shortage()) the caller must not wait for room in the channel for a while: the channel is
 * not the reason, and would report room again and again. */
int provider_outbox_flush(ProviderOutbox *o, int fd);

void outbox_done(ProviderOutbox *o);
