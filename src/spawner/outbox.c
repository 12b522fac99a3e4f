#include "spawner/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"
#include "wire/channel.h"

struct Letter {
        Letter *next;
        int fds[CHANNEL_FDS_MAX];
        size_t n_fds, size;
        uint8_t data[];
};

static Letter *letter_free(Letter *l) {
        for (size_t i = 0; l && i < l->n_fds; i++)
                (void) fd_close(l->fds[i]);
        free(l);
        return NULL;
}

void outbox_init(Outbox *o, int fd) {
        *o = (Outbox) { .fd = fd, .last = &o->first };
}

bool outbox_is_empty(const Outbox *o) {
        return !o->first;
}

static int outbox_keep(Outbox *o, const uint8_t *data, size_t size, const int *fds, size_t n_fds) {
        Letter *l = calloc(1, sizeof(*l) + size);

        if (!l)
                return -ENOMEM;
        l->size = size;
        memcpy(l->data, data, size);
        for (; l->n_fds < n_fds; l->n_fds++) {
                l->fds[l->n_fds] = fcntl(fds[l->n_fds], F_DUPFD_CLOEXEC, 3);
                if (l->fds[l->n_fds] < 0) {
                        int r = -errno;
                        (void) letter_free(l);
                        return r;
                }
        }
        *o->last = l;
        o->last = &l->next;
        return 0;
}

int outbox_send(Outbox *o, const SpawnMessage *message, const int *fds, size_t n_fds) {
        uint8_t buffer[SPAWN_MESSAGE_MAX];
        ssize_t size = spawn_encode(message, buffer, sizeof(buffer));
        int r = -EAGAIN;

        if (size < 0)
                return (int) size;
        if (n_fds > CHANNEL_FDS_MAX)
                return -E2BIG;
        if (outbox_is_empty(o))
                r = channel_send_bytes(o->fd, buffer, (size_t) size, fds, n_fds, MSG_DONTWAIT);
        return error_is_shortage(r) ? outbox_keep(o, buffer, (size_t) size, fds, n_fds) : r;
}

int outbox_flush(Outbox *o) {
        while (o->first) {
                Letter *l = o->first;
                int r = channel_send_bytes(o->fd, l->data, l->size, l->fds, l->n_fds, MSG_DONTWAIT);

                if (r < 0)
                        return r == -EAGAIN ? 0 : r;
                o->first = l->next;
                if (!o->first)
                        o->last = &o->first;
                (void) letter_free(l);
        }
        return 0;
}
