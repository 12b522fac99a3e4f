/* native-send.c: messages leave at the end of the turn, when what they follow from is in the store.
 *
 * That a guest may forget an execution is in no hurry: it goes along with the guest's next message, which saves a call and
 * a wake-up of PID 1, or a moment later. */

#include <errno.h>
#include <sys/epoll.h>
#include <utlist.h>

#include "base/error.h"
#include "provider/native-internal.h"

#define LATER_USEC (200 * USEC_PER_MSEC)

/* line NULL: no message of the guest waits. */
static void guest_line_up(NativeGuest *g, NativeGuest **line) {
        if (g->line == line)
                return;
        if (g->line)
                DL_DELETE2(*g->line, g, line_prev, line_next);
        g->line = line;
        if (line)
                DL_APPEND2(*line, g, line_prev, line_next);
}

void native_send_forget(NativeGuest *g) {
        outbox_done(&g->outbox);
        guest_line_up(g, NULL);
}

int native_flush_guest(NativeGuest *g) {
        int r = provider_outbox_flush(&g->outbox, g->fd);

        guest_line_up(g, NULL);
        if (!native_guest_listen(g, g->outbox.blocked ? EPOLLIN | EPOLLOUT : EPOLLIN))
                r = -ENOMEM;
        return r;
}

static void native_flush_line(NativeGuest **line) {
        while (*line) {
                NativeGuest *g = *line;

                if (error_is_shortage(native_flush_guest(g)))
                        native_guest_rest(g);
        }
}

static void native_on_settled(void *userdata) {
        Native *n = userdata;

        native_flush_line(&n->holding);
}

static void native_watch_spawner(Native *n) {
        if (n->io)
                (void) sd_event_source_set_io_events(n->io, n->outbox.blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

int native_flush_spawner(Native *n) {
        int r;

        settle_now(n->config.settle);
        r = provider_outbox_flush(&n->outbox, n->config.spawner_fd);
        native_watch_spawner(n);
        return r;
}

/* At once: what is asked of it is seldom, and rows that are removed next may only be because it was asked. */
int native_send_spawner(Native *n, const void *data, size_t size, const int *fds, size_t n_fds) {
        int r;

        settle_now(n->config.settle);
        r = provider_outbox_send(&n->outbox, n->config.spawner_fd, data, size, fds, n_fds);
        native_watch_spawner(n);
        return r;
}

static int native_on_later(sd_event_source *source, uint64_t usec, void *userdata) {
        Native *n = userdata;

        settle_now(n->config.settle); /* some may be of this turn, and what they follow from unwritten */
        native_flush_line(&n->lazy);
        return 0;
}

static int guest_hold(NativeGuest *g, const void *data, size_t size, const int *fds, size_t n_fds, bool may_wait) {
        Native *n = g->native;
        int r = provider_outbox_hold(&g->outbox, data, size, fds, n_fds);

        if (r < 0 || g->outbox.blocked)
                return r;
        if (!may_wait) {
                guest_line_up(g, &n->holding);
                settle_wait(&n->door);
        } else if (!g->line) {
                if (!n->lazy) {
                        (void) sd_event_source_set_time_relative(n->later, LATER_USEC);
                        (void) sd_event_source_set_enabled(n->later, SD_EVENT_ONESHOT);
                }
                guest_line_up(g, &n->lazy);
        }
        return 0;
}

int native_send_guest(NativeGuest *g, const void *data, size_t size, const int *fds, size_t n_fds, bool may_wait) {
        Settle *settle = g->native->config.settle;
        int r;

        if (settle && (may_wait || settle_held(settle)))
                return guest_hold(g, data, size, fds, n_fds, may_wait);
        r = provider_outbox_send(&g->outbox, g->fd, data, size, fds, n_fds);
        guest_line_up(g, NULL);
        (void) native_guest_listen(g, g->outbox.blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
        return r;
}

int native_sending_init(Native *n) {
        int r = sd_event_add_time_relative(n->event, &n->later, CLOCK_MONOTONIC, LATER_USEC, 0, native_on_later, n);

        if (r >= 0)
                r = sd_event_source_set_enabled(n->later, SD_EVENT_OFF);
        n->door = (SettleDoor) { .open = native_on_settled, .userdata = n, .first = true };
        if (n->config.settle)
                settle_add_door(n->config.settle, &n->door);
        return r;
}

void native_sending_done(Native *n) {
        n->later = sd_event_source_disable_unref(n->later);
        if (n->config.settle)
                settle_remove_door(n->config.settle, &n->door);
        outbox_done(&n->outbox);
}
