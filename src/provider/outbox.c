#include "provider/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/error.h"
#include "base/fd.h"
#include "wire/channel.h"

struct OutboxItem {
        OutboxItem *prev, *next;
        size_t size, n_fds;
        int fds[CHANNEL_FDS_MAX];
        unsigned char data[];
};

static void outbox_item_free(OutboxItem *item) {
        for (size_t i = 0; i < item->n_fds; i++)
                (void) fd_close(item->fds[i]);
        explicit_bzero(item->data, item->size); /* an environment may have secrets in it */
        free(item);
}

static OutboxItem *item_new(const void *data, size_t size, const int *fds, size_t n_fds) {
        OutboxItem *item = calloc(1, sizeof(*item) + size);

        if (!item)
                return NULL;
        memcpy(item->data, data, size);
        item->size = size;
        for (; item->n_fds < n_fds; item->n_fds++) {
                item->fds[item->n_fds] = fcntl(fds[item->n_fds], F_DUPFD_CLOEXEC, 3);
                if (item->fds[item->n_fds] < 0) {
                        outbox_item_free(item);
                        return NULL;
                }
        }
        return item;
}

static void outbox_want_room(const ProviderOutbox *o, sd_event_source *io) {
        if (io)
                (void) sd_event_source_set_io_events(io, o->items ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

int provider_outbox_send(ProviderOutbox *o, int fd, sd_event_source *io, const void *data, size_t size, const int *fds, size_t n_fds) {
        OutboxItem *item;
        int r = -EAGAIN;

        if (n_fds > CHANNEL_FDS_MAX)
                return -E2BIG;
        if (!o->items)
                r = channel_send_bytes(fd, data, size, fds, n_fds, MSG_DONTWAIT);
        if (!error_is_shortage(r))
                return r;
        if (o->n >= OUTBOX_MAX)
                return -ENOBUFS;
        item = item_new(data, size, fds, n_fds);
        if (!item)
                return -ENOMEM;
        DL_APPEND(o->items, item);
        o->n++;
        outbox_want_room(o, io);
        return 0;
}

int provider_outbox_flush(ProviderOutbox *o, int fd, sd_event_source *io) {
        int r = 0;

        while (o->items) {
                OutboxItem *item = o->items;

                r = channel_send_bytes(fd, item->data, item->size, item->fds, item->n_fds, MSG_DONTWAIT);
                if (r < 0)
                        break;
                DL_DELETE(o->items, item);
                o->n--;
                outbox_item_free(item);
        }
        outbox_want_room(o, io);
        return r == -EAGAIN ? 0 : r;
}

void outbox_done(ProviderOutbox *o) {
        OutboxItem *item, *next;

        DL_FOREACH_SAFE(o->items, item, next)
                outbox_item_free(item);
        *o = (ProviderOutbox) { 0 };
}
