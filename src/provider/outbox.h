/* outbox.h: messages that a non-blocking channel did not take yet.
 *
 * Order is kept; descriptors wait along. A ceiling bounds what a peer that does not read can make us hold.
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

/* Sends, or keeps (descriptors are duplicated) and returns 0. The source is asked to tell when there is room again. */
int provider_outbox_send(ProviderOutbox *o, int fd, sd_event_source *io, const void *data, size_t size, const int *fds, size_t n_fds);

/* When the channel has room. A shortage (error_is_shortage()) is none of the channel's, which will say again that it has room: the source has to rest. */
int provider_outbox_flush(ProviderOutbox *o, int fd, sd_event_source *io);

void outbox_done(ProviderOutbox *o);
