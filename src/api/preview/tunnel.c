/* tunnel.c: forwards bytes in both directions between a client and a port inside, after an upgrade. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/preview/internal.h"
#include "base/fd.h"

#define WAY_ROOM ((size_t) 64 << 10)

typedef struct Way {
        int from, to;
        uint8_t *data;
        size_t begin, end;
        bool read_over, over; /* end of input; end of input passed on */
} Way;

typedef struct Tunnel {
        ApiRequest *q;
        HttpUpgraded *upgraded;
        sd_event_source *sources[2]; /* client, inside */
        int client_fd, inside_fd;
        Way out, in; /* from the client, to it */
} Tunnel;

static void tunnel_free(Tunnel *t) {
        for (size_t i = 0; i < ELEMENTSOF(t->sources); i++)
                t->sources[i] = sd_event_source_disable_unref(t->sources[i]);
        (void) fd_close(t->inside_fd);
        free(t->out.data);
        free(t->in.data);
        if (t->q)
                t->q->destroy = NULL;
        if (t->upgraded)
                http_upgraded_close(t->upgraded);
        free(t);
}

static int way_read(Way *w) {
        ssize_t n;

        if (w->read_over || w->begin < w->end)
                return 0;
        n = recv(w->from, w->data, WAY_ROOM, MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        w->read_over = n == 0;
        w->begin = 0;
        w->end = (size_t) n;
        return 0;
}

static int way_write(Way *w) {
        while (w->begin < w->end) {
                ssize_t n = send(w->to, w->data + w->begin, w->end - w->begin, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                w->begin += (size_t) n;
        }
        if (w->read_over && !w->over) {
                w->over = true;
                (void) shutdown(w->to, SHUT_WR);
        }
        return 0;
}

static int way_turn(Way *w) {
        int r = way_read(w);

        return r < 0 ? r : way_write(w);
}

/* Reading waits until the data read before has been passed on. */
static uint32_t wanted(const Way *reads, const Way *writes) {
        uint32_t events = 0;

        if (!reads->read_over && reads->begin == reads->end)
                events |= EPOLLIN;
        if (writes->begin < writes->end)
                events |= EPOLLOUT;
        return events;
}

static int tunnel_on_turn(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Tunnel *t = userdata;
        int r = way_turn(&t->out), k = way_turn(&t->in);

        if (r < 0 || k < 0 || (t->out.over && t->in.over) || (revents & EPOLLERR)) {
                tunnel_free(t);
                return 0;
        }
        /* The hang-up of a side that is not read would be reported again and again. */
        if ((revents & EPOLLHUP) && wanted(fd == t->client_fd ? &t->out : &t->in, fd == t->client_fd ? &t->in : &t->out) == 0) {
                tunnel_free(t);
                return 0;
        }
        (void) sd_event_source_set_io_events(t->sources[0], wanted(&t->out, &t->in));
        (void) sd_event_source_set_io_events(t->sources[1], wanted(&t->in, &t->out));
        return 0;
}

static void tunnel_on_upgraded(HttpUpgraded *u, int fd, const void *extra, size_t extra_size, void *userdata) {
        Tunnel *t = userdata;
        sd_event *event = sd_event_source_get_event(t->sources[1]);

        t->upgraded = u;
        t->client_fd = t->out.from = t->in.to = fd;
        if (extra_size > WAY_ROOM || sd_event_add_io(event, &t->sources[0], fd, EPOLLIN | EPOLLOUT, tunnel_on_turn, t) < 0) {
                tunnel_free(t);
                return;
        }
        if (extra_size > 0) {
                memcpy(t->out.data, extra, extra_size);
                t->out.end = extra_size;
        }
        (void) sd_event_source_set_io_events(t->sources[1], EPOLLIN | EPOLLOUT);
        (void) sd_event_source_set_enabled(t->sources[1], SD_EVENT_ON);
}

/* The request ends before the tunnel: its client left before the answer, or the server ends. */
static void on_left(ApiRequest *q, bool answered) {
        Tunnel *t = q->state;

        t->upgraded = NULL;
        tunnel_free(t);
}

int preview_tunnel_start(ApiRequest *q, const char *protocol, int fd, const void *early, size_t early_size) {
        Tunnel *t = calloc(1, sizeof(*t));

        if (!t) {
                (void) fd_close(fd);
                return -ENOMEM;
        }
        t->inside_fd = fd;
        t->client_fd = -EBADF;
        t->out = (Way) { .from = -EBADF, .to = fd, .data = malloc(WAY_ROOM) };
        t->in = (Way) { .from = fd, .to = -EBADF, .data = malloc(WAY_ROOM), .end = early_size };
        if (!t->out.data || !t->in.data || early_size > WAY_ROOM ||
                        sd_event_add_io(q->manager->event, &t->sources[1], fd, 0, tunnel_on_turn, t) < 0) {
                tunnel_free(t);
                return -ENOMEM;
        }
        (void) sd_event_source_set_enabled(t->sources[1], SD_EVENT_OFF);
        if (early_size > 0)
                memcpy(t->in.data, early, early_size);
        t->q = q;
        q->state = t;
        q->destroy = on_left;
        q->answered = true;
        return http_answer_upgrade(q->http, protocol, tunnel_on_upgraded, t);
}
