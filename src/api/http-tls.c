/* http-tls.c: TLS connections.
 *
 * MHD does not see TLS: it gets one end of a pair of sockets, and this file connects the other end with the
 * client. So the handling of connections is the same with and without TLS (http-connection.c: clients that
 * leave, or only shut down sending; http-body.c: answers in the middle of a body; the raw socket after an
 * upgrade).
 *
 *      client ── TCP ── [ TLS · here ] ── pair ── MHD
 *
 * Data that one side cannot take yet is buffered, and no more is read from the other side meanwhile. MHD gets
 * a connection only after its handshake, so a client that never completes the handshake takes no connection
 * from others. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "api/http-internal.h"
#include "base/fd.h"
#include "base/log.h"

#define PIECE_MAX      ((size_t) 16 << 10) /* one TLS record */
#define LEAVE_USEC     (120 * USEC_PER_SEC) /* to send the rest after MHD has closed; not counted any more */

/* Data of one direction that was read and could not be passed on yet. */
typedef struct Held {
        uint8_t *data;
        size_t begin, end;
} Held;

struct HttpTls {
        HttpListener *listener;
        HttpsSession *session;
        struct sockaddr_storage peer;
        socklen_t peer_size;
        int client_fd, inner_fd; /* inner: -EBADF during the handshake */
        sd_event_source *client, *inner, *deadline;
        uint32_t client_events, inner_events;
        Held in, out; /* from the client, to it */
        bool in_over, out_over;
        bool inner_gone; /* MHD has closed it; remaining data is still sent */
        HttpTls *prev, *next;
};

static void tls_drop(HttpTls *t) {
        HttpListener *l = t->listener;

        DL_DELETE(l->tls, t);
        if (t->inner_fd < 0)
                l->server->n_handshakes--;
        t->client = sd_event_source_disable_unref(t->client);
        t->inner = sd_event_source_disable_unref(t->inner);
        t->deadline = sd_event_source_disable_unref(t->deadline);
        https_session_free(t->session);
        (void) fd_close(t->client_fd);
        (void) fd_close(t->inner_fd);
        free(t->in.data);
        free(t->out.data);
        free(t);
}

static bool http_tls_is_held(const Held *h) {
        return h->begin < h->end;
}

static int http_tls_hold(Held *h, const uint8_t *data, size_t size) {
        h->data = malloc(size); /* allocated only if needed: most connections are idle */
        if (!h->data)
                return -ENOMEM;
        memcpy(h->data, data, size);
        h->begin = 0;
        h->end = size;
        return 0;
}

static void held_pass(Held *h, size_t n) {
        h->begin += n;
        if (http_tls_is_held(h))
                return;
        free(h->data);
        *h = (Held) { 0 };
}

/* Returns the number of bytes taken. A closed side takes everything: the data is lost. */
static ssize_t http_tls_pass_in(HttpTls *t, const uint8_t *data, size_t size) {
        ssize_t n = t->inner_gone ? (ssize_t) size : send(t->inner_fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0)
                return n;
        return errno == EAGAIN || errno == EINTR ? 0 : errno == EPIPE || errno == ECONNRESET ? (ssize_t) size : -errno;
}

static ssize_t http_tls_pass_out(HttpTls *t, const uint8_t *data, size_t size) {
        size_t done = 0;

        while (done < size) {
                ssize_t n = https_write(t->session, data + done, size - done);

                if (n == -EAGAIN)
                        break;
                if (n < 0)
                        return n;
                done += (size_t) n;
        }
        return (ssize_t) done;
}

typedef ssize_t (*Pass)(HttpTls *t, const uint8_t *data, size_t size);

/* Passes on held data first, then the data that was just read. */
static int http_tls_pass(HttpTls *t, Held *h, Pass function, const uint8_t *data, size_t size) {
        ssize_t n;

        if (http_tls_is_held(h)) {
                n = function(t, h->data + h->begin, h->end - h->begin);
                if (n > 0)
                        held_pass(h, (size_t) n);
                return n < 0 ? (int) n : 0;
        }
        n = function(t, data, size);
        if (n < 0 || (size_t) n == size)
                return n < 0 ? (int) n : 0;
        return http_tls_hold(h, data + n, size - (size_t) n);
}

static int turn_in(HttpTls *t) {
        uint8_t data[PIECE_MAX];
        int r = http_tls_is_held(&t->in) ? http_tls_pass(t, &t->in, http_tls_pass_in, NULL, 0) : 0;

        while (r >= 0 && !http_tls_is_held(&t->in) && !t->in_over) {
                ssize_t n = https_read(t->session, data, sizeof(data));

                if (n == -EAGAIN)
                        break;
                if (n < 0)
                        return (int) n;
                if (n == 0) { /* treated as half-closed: other code finds out whether the client still waits */
                        t->in_over = true;
                        (void) shutdown(t->inner_fd, SHUT_WR);
                        break;
                }
                r = http_tls_pass(t, &t->in, http_tls_pass_in, data, (size_t) n);
        }
        return r;
}

static int turn_out(HttpTls *t) {
        uint8_t data[PIECE_MAX];
        int r = http_tls_is_held(&t->out) ? http_tls_pass(t, &t->out, http_tls_pass_out, NULL, 0) : 0;

        while (r >= 0 && !http_tls_is_held(&t->out) && !t->out_over) {
                ssize_t n = recv(t->inner_fd, data, sizeof(data), MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        break;
                if (n < 0)
                        return -errno;
                if (n == 0) {
                        t->out_over = true;
                        https_say_over(t->session);
                        (void) shutdown(t->client_fd, SHUT_WR);
                        break;
                }
                r = http_tls_pass(t, &t->out, http_tls_pass_out, data, (size_t) n);
        }
        return r;
}

static void watch_one(sd_event_source *s, uint32_t *watched, uint32_t events) {
        if (*watched == events)
                return;
        *watched = events;
        (void) sd_event_source_set_io_events(s, events);
}

static void http_tls_watch(HttpTls *t) {
        bool write = http_tls_is_held(&t->out) || https_wants_write(t->session);

        watch_one(t->client, &t->client_events, (write ? EPOLLOUT : 0) | (http_tls_is_held(&t->in) || t->in_over ? 0 : EPOLLIN));
        watch_one(t->inner, &t->inner_events, (http_tls_is_held(&t->in) ? EPOLLOUT : 0) | (http_tls_is_held(&t->out) || t->out_over ? 0 : EPOLLIN));
}

static int http_tls_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        tls_drop(userdata);
        return 0;
}

/* Switches the event off, because the hang-up would be reported again and again. */
static int http_tls_leave(HttpTls *t) {
        t->inner_gone = true;
        (void) sd_event_source_set_enabled(t->inner, SD_EVENT_OFF);
        return t->deadline ? 0 : sd_event_add_time_relative(t->listener->server->event, &t->deadline, CLOCK_MONOTONIC, LEAVE_USEC, USEC_PER_SEC, http_tls_on_deadline, t);
}

static int http_tls_on_turn(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        HttpTls *t = userdata;
        int r, k;

        if (fd == t->client_fd && (revents & (EPOLLERR | EPOLLHUP))) {
                tls_drop(t);
                return 0;
        }
        if (fd == t->inner_fd && (revents & (EPOLLERR | EPOLLHUP)) && http_tls_leave(t) < 0) {
                tls_drop(t);
                return 0;
        }
        r = turn_in(t);
        k = turn_out(t);
        if (r < 0 || k < 0 || (t->out_over && (t->inner_gone || t->in_over)))
                tls_drop(t);
        else
                http_tls_watch(t);
        return 0;
}

/* MHD takes its end of the pair, even if it refuses the connection. */
static int http_tls_hand_over(HttpTls *t) {
        HttpListener *l = t->listener;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
                return -errno;
        t->inner_fd = pair[0];
        l->server->n_handshakes--;
        if (MHD_add_connection(l->daemon, pair[1], (struct sockaddr *) &t->peer, t->peer_size) != MHD_YES)
                return -ECONNREFUSED;
        http_listener_wake(l);
        t->deadline = sd_event_source_disable_unref(t->deadline);
        t->inner_events = EPOLLIN;
        return sd_event_add_io(l->server->event, &t->inner, t->inner_fd, EPOLLIN, http_tls_on_turn, t);
}

static int on_handshake(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        HttpTls *t = userdata;
        int r;

        if (t->inner_fd >= 0)
                return http_tls_on_turn(source, fd, revents, t);
        r = https_handshake(t->session);
        if (r == -EAGAIN) {
                watch_one(t->client, &t->client_events, https_wants_write(t->session) ? EPOLLOUT : EPOLLIN);
                return 0;
        }
        if (r >= 0)
                r = http_tls_hand_over(t);
        if (r < 0) {
                log_debug("tls: a connection failed: %s", strerror(-r));
                tls_drop(t);
                return 0;
        }
        return http_tls_on_turn(source, fd, 0, t); /* data that came with the end of the handshake */
}

bool http_tls_drop_handshake(HttpListener *l) {
        HttpTls *t;

        DL_FOREACH(l->tls, t)
                if (t->inner_fd < 0) {
                        tls_drop(t);
                        return true;
                }
        return false;
}

void http_tls_begin(HttpListener *l, int fd, const struct sockaddr_storage *peer, socklen_t size) {
        sd_event *event = l->server->event;
        HttpTls *t = calloc(1, sizeof(*t));

        if (!t) {
                (void) fd_close(fd);
                return;
        }
        *t = (HttpTls) { .listener = l, .client_fd = fd, .inner_fd = -EBADF, .peer = *peer, .peer_size = size, .client_events = EPOLLIN };
        DL_APPEND(l->tls, t);
        l->server->n_handshakes++;
        if (https_accept(l->https, fd, &t->session) < 0 || sd_event_add_io(event, &t->client, fd, EPOLLIN, on_handshake, t) < 0 ||
                        sd_event_add_time_relative(event, &t->deadline, CLOCK_MONOTONIC, STRANGER_HANDSHAKE_USEC, USEC_PER_SEC, http_tls_on_deadline, t) < 0) {
                tls_drop(t);
                return;
        }
        (void) http_connection_make_room(l->server); /* may close this one, if no other can be closed */
}

void http_tls_detach(HttpListener *l) {
        while (l->tls)
                tls_drop(l->tls);
}
