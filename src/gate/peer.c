#include "gate/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/reserve.h"

#define BATCH_MAX      16
#define REST_USEC      (100 * USEC_PER_MSEC) /* after a failure of our own */
#define OUTBOX_EVENTS  1024  /* from here on events are dropped and requests not read */
#define OUTBOX_MAX     16384 /* a peer that does not read is hung up on */
#define BUFFER_BYTES   (4 * CONTROL_MESSAGE_MAX)

typedef struct PeerLetter {
        json_t *message;
        struct PeerLetter *prev, *next;
} PeerLetter;

struct Peer {
        Gate *gate;
        PeerEvents events;
        int fd;
        sd_event_source *source;
        sd_event_source *rest; /* the timer, while the socket is not watched */
        PeerLetter *outbox;
        size_t n_outbox;
        uint64_t n_dropped;
};

static void letter_drop(Peer *p, PeerLetter *l) {
        DL_DELETE(p->outbox, l);
        p->n_outbox--;
        json_decref(l->message);
        free(l);
}

Peer *peer_free(Peer *p) {
        if (!p)
                return NULL;
        if (p->gate->peer == p) {
                p->gate->peer = NULL;
                p->gate->control_fd = -EBADF;
        }
        while (p->outbox)
                letter_drop(p, p->outbox);
        sd_event_source_disable_unref(p->source);
        sd_event_source_disable_unref(p->rest);
        (void) fd_close(p->fd);
        free(p);
        return NULL;
}

static void hang_up(Peer *p) {
        const PeerEvents events = p->events;
        Gate *g = p->gate;

        peer_free(p);
        events.gone(g, events.userdata);
}

static void set_interest(Peer *p) {
        uint32_t wanted = (p->n_outbox < OUTBOX_EVENTS ? EPOLLIN : 0) | (p->outbox ? EPOLLOUT : 0);

        (void) sd_event_source_set_io_events(p->source, wanted);
}

static int peer_on_rested(sd_event_source *source, uint64_t usec, void *userdata) {
        const Peer *p = userdata;

        return sd_event_source_set_enabled(p->source, SD_EVENT_ON);
}

/* Stops watching the socket for a while: until our shortage is over, it would report readiness again and
 * again. */
static void peer_rest(Peer *p) {
        if (sd_event_source_set_time_relative(p->rest, REST_USEC) >= 0 && sd_event_source_set_enabled(p->rest, SD_EVENT_ONESHOT) >= 0)
                (void) sd_event_source_set_enabled(p->source, SD_EVENT_OFF);
}

/* 0: everything is sent, or has to wait; negative: the peer is gone. */
static int peer_flush(Peer *p) {
        while (p->outbox) {
                int r = control_send(p->fd, p->outbox->message, NULL, 0);

                if (r != -EAGAIN && r != -ENOMEM && error_is_shortage(r))
                        peer_rest(p);
                if (r == -EAGAIN || (error_is_shortage(r) && r != -ENOMEM))
                        break;
                if (r < 0 && r != -EMSGSIZE && r != -ENOMEM)
                        return r;
                if (r < 0)
                        log_warning("a message to coved is lost: %s", r == -EMSGSIZE ? "it is too large" : "no memory");
                letter_drop(p, p->outbox);
        }
        set_interest(p);
        return 0;
}

static void peer_put(Peer *p, json_t *message) {
        PeerLetter *l = message ? calloc(1, sizeof(*l)) : NULL;

        if (!l) {
                json_decref(message);
                return;
        }
        l->message = message;
        DL_APPEND(p->outbox, l);
        p->n_outbox++;
}

/* A lost peer is noticed at the next event of the socket: it is never freed here. */
void peer_answer(Peer *p, json_t *message) {
        if (!p || p->n_outbox >= OUTBOX_MAX) {
                json_decref(message);
                return;
        }
        peer_put(p, message);
        if (p->n_outbox == 1)
                (void) peer_flush(p);
        else
                set_interest(p);
}

void peer_event(Peer *p, json_t *message) {
        if (p && p->n_outbox < OUTBOX_EVENTS) {
                peer_answer(p, message);
                return;
        }
        if (p && p->n_dropped++ % 1000 == 0)
                log_warning("coved does not read: events are dropped");
        json_decref(message);
}

static void close_rest(const int *fds, size_t n) {
        for (size_t i = 0; i < n; i++)
                (void) fd_close(fds[i]);
}

static int peer_take_message(const Peer *p, json_t **ret, int ret_fds[static CONTROL_FDS_MAX], size_t *ret_n_fds) {
        _reserve_ bool held = reserve_enter();

        return control_receive(p->fd, ret, ret_fds, ret_n_fds);
}

/* 1: more may follow. */
static int receive_one(Peer *p) {
        _cleanup_json_ json_t *message = NULL;
        int fds[CONTROL_FDS_MAX], r;
        size_t n_fds = 0;

        r = peer_take_message(p, &message, fds, &n_fds);
        if (r == -EBADMSG) {
                p->events.broken(p->gate, NULL, NULL, 0);
                return 1;
        }
        if (r != -EAGAIN && error_is_shortage(r))
                peer_rest(p);
        if (r <= 0)
                return r == 0 ? -ECONNRESET : error_is_shortage(r) ? -EAGAIN : r;
        if (r == CONTROL_SHORT)
                p->events.cut(p->gate, message, NULL, 0);
        else
                p->events.message(p->gate, message, fds, n_fds);
        close_rest(fds, n_fds);
        return 1;
}

static int peer_on_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Peer *p = userdata;
        Gate *g = p->gate;
        int r = 1;

        if (revents & EPOLLOUT)
                r = peer_flush(p);
        for (unsigned i = 0; r >= 0 && i < BATCH_MAX && p->n_outbox < OUTBOX_EVENTS; i++) {
                r = receive_one(p);
                if (g->peer != p) /* the handler has replaced or freed the peer */
                        return 0;
        }
        if ((r < 0 && r != -EAGAIN) || (revents & (EPOLLHUP | EPOLLERR) && r == -EAGAIN) || p->n_outbox >= OUTBOX_MAX)
                hang_up(p);
        return 0;
}

int peer_new(Gate *g, int fd, const PeerEvents *events, Error *reterr) {
        _cleanup_close_ int owned = fd;
        Peer *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return error_set(reterr, -ENOMEM, "%m");
        *p = (Peer) { .gate = g, .events = *events, .fd = TAKE_FD(owned) };
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int) { BUFFER_BYTES }, sizeof(int));
        r = sd_event_add_io(g->event, &p->source, fd, EPOLLIN, peer_on_ready, p);
        if (r >= 0)
                r = sd_event_add_time_relative(g->event, &p->rest, CLOCK_MONOTONIC, REST_USEC, 0, peer_on_rested, p);
        if (r >= 0)
                r = sd_event_source_set_enabled(p->rest, SD_EVENT_OFF);
        if (r < 0) {
                peer_free(p);
                return error_set(reterr, r, "cannot wait for coved: %m");
        }
        /* coved is answered before sandboxes are served: many callers wait for it. */
        (void) sd_event_source_set_priority(p->source, SD_EVENT_PRIORITY_IMPORTANT);
        peer_free(g->peer);
        g->peer = p;
        g->control_fd = fd;
        return 0;
}
