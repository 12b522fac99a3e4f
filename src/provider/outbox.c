#include "provider/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

int provider_outbox_hold(ProviderOutbox *o, const void *data, size_t size, const int *fds, size_t n_fds) {
        OutboxItem *item;

        if (n_fds > CHANNEL_FDS_MAX)
                return -E2BIG;
        if (o->n >= OUTBOX_MAX)
                return -ENOBUFS;
        item = item_new(data, size, fds, n_fds);
        if (!item)
                return -ENOMEM;
        DL_APPEND(o->items, item);
        o->n++;
        return 0;
}

int provider_outbox_send(ProviderOutbox *o, int fd, const void *data, size_t size, const int *fds, size_t n_fds) {
        int r = o->items ? provider_outbox_flush(o, fd) : 0;

        if (r < 0 && !error_is_shortage(r))
                return r;
        if (n_fds > CHANNEL_FDS_MAX)
                return -E2BIG;
        if (!o->items) {
                r = channel_send_bytes(fd, data, size, fds, n_fds, MSG_DONTWAIT);
                if (!error_is_shortage(r))
                        return r;
        }
        o->blocked = true;
        return provider_outbox_hold(o, data, size, fds, n_fds);
}

static int outbox_send_first(const ProviderOutbox *o, int fd) {
        ChannelPiece pieces[CHANNEL_PIECES_MAX];
        size_t n = 0;

        for (const OutboxItem *i = o->items; i && n < ELEMENTSOF(pieces); i = i->next)
                pieces[n++] = (ChannelPiece) { i->data, i->size, i->fds, i->n_fds };
        return channel_send_pieces(fd, pieces, n, MSG_DONTWAIT);
}

int provider_outbox_flush(ProviderOutbox *o, int fd) {
        int r = 0;

        while (o->items) {
                r = outbox_send_first(o, fd);
                if (r < 0)
                        break;
                for (int i = 0; i < r; i++) {
                        OutboxItem *item = o->items;

                        DL_DELETE(o->items, item);
                        o->n--;
                        outbox_item_free(item);
                }
        }
        o->blocked = error_is_shortage(r);
        return r == -EAGAIN ? 0 : MIN_OF(r, 0);
}

void outbox_done(ProviderOutbox *o) {
        OutboxItem *item, *next;

        DL_FOREACH_SAFE(o->items, item, next)
                outbox_item_free(item);
        *o = (ProviderOutbox) { 0 };
}
