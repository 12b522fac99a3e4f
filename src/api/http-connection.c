/* http-connection.c: connections: their number, their idle time, and whether their clients are still there.
 *
 * A connection is quiet while it has no request of an authenticated client: it is idle, or sends the head of
 * a request, or a body that we drop. If there are too many connections, the one that has been quiet for
 * longest is closed; connections that were never authenticated first. So clients without a key take no place
 * from those with one. MHD closes connections that send nothing; we close those that send just enough to stay
 * open.
 *
 * Detection of a client that has left while we have nothing to send (TCP cannot tell a closed client from one
 * that has only shut down its sending side; both sent a FIN):
 *
 *      error or hang-up                     it has left. A closed unix socket always shows as that
 *      half-closed, unix socket             it waits for the answer, so we continue
 *      half-closed, TCP, before the answer  we send "100 Continue" every few seconds, which every client has to expect and
 *                                           skip: a closed one resets the connection at once, which is a hang-up
 *      half-closed, TCP, in a stream        taken as gone: nothing could be sent in between as a test */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "api/http-internal.h"
#include "base/fd.h"
#include "base/log.h"

#define SLOW_FACTOR    2 /* idle times that the head of a request may take */
#define PROBE_INTERVAL (5 * USEC_PER_SEC)
#define HANGUP_EVENTS  (EPOLLRDHUP | EPOLLET) /* errors and hang-ups always come */

static const char probe_text[] = "HTTP/1.1 100 Continue\r\n\r\n";

void http_connection_set_quiet(HttpConnection *c, bool quiet) {
        if (c->is_quiet == quiet)
                return;
        c->is_quiet = quiet;
        if (quiet) {
                c->quiet_since = clock_usec();
                c->was_known = c->is_known;
                DL_APPEND(c->listener->quiet[c->was_known], c);
        } else
                DL_DELETE(c->listener->quiet[c->was_known], c);
}

/* MHD then reads the end of the stream, and closes the connection. */
static void connection_cut(HttpConnection *c) {
        http_connection_set_quiet(c, false);
        (void) shutdown(c->fd, SHUT_RDWR);
}

usec_t http_connection_cut_slow(HttpListener *l) {
        usec_t now = clock_usec(), limit = SLOW_FACTOR * l->server->idle_usec, next = USEC_INFINITY;

        for (size_t i = 0; limit > 0 && i < ELEMENTSOF(l->quiet); i++) {
                while (l->quiet[i] && now >= l->quiet[i]->quiet_since + limit) {
                        log_debug("http: closing a connection that has been sending one request for too long");
                        connection_cut(l->quiet[i]);
                }
                if (l->quiet[i])
                        next = MIN_OF(next, l->quiet[i]->quiet_since + limit);
        }
        return next;
}

static void connection_set_finished(HttpConnection *c, bool finished) {
        if (c->is_finished == finished)
                return;
        c->is_finished = finished;
        if (finished)
                DL_APPEND2(c->listener->finished, c, finished_prev, finished_next);
        else
                DL_DELETE2(c->listener->finished, c, finished_prev, finished_next);
}

/* MHD learns that a client has stopped sending from an edge of its epoll set. If the edge comes with the
 * last bytes of a request, MHD does not look again, and would keep the connection until it has been idle for
 * too long. The same happens after an answer that was broken off: MHD has taken the edge out of its set
 * while the request waited. MHD does look at a connection that is resumed. */
void http_connection_cut_finished(HttpListener *l) {
        HttpConnection *c, *next;
        char byte;

        DL_FOREACH_SAFE2(l->finished, c, next, finished_next)
                if (!c->request && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
                        connection_set_finished(c, false);
                        connection_cut(c);
                        MHD_suspend_connection(c->mhd);
                        MHD_resume_connection(c->mhd);
                        http_listener_wake(l);
                }
}

/* Cuts the connection that has been quiet for longest, among all listeners. */
static bool server_cut_quiet(HttpServer *s, bool known) {
        HttpListener *from = NULL;

        for (size_t i = 0; i < ELEMENTSOF(s->listeners); i++) {
                HttpListener *l = s->listeners[i];

                if (l && l->quiet[known] && (!from || l->quiet[known]->quiet_since < from->quiet[known]->quiet_since))
                        from = l;
        }
        if (!from)
                return false;
        connection_cut(from->quiet[known]);
        http_listener_wake(from);
        return true;
}

static bool server_cut_handshake(HttpServer *s) {
        for (size_t i = 0; i < ELEMENTSOF(s->listeners); i++)
                if (s->listeners[i] && http_tls_drop_handshake(s->listeners[i]))
                        return true;
        return false;
}

bool http_connection_make_room(HttpServer *s) {
        if (s->n_connections + s->n_handshakes <= s->connections_max)
                return true;
        if (s->n_handshakes > s->connections_max / 2 && server_cut_handshake(s))
                return true;
        return server_cut_quiet(s, /* known= */ false) || server_cut_handshake(s) || server_cut_quiet(s, /* known= */ true);
}

static void connection_started(HttpListener *l, struct MHD_Connection *mhd, void **context) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        HttpConnection *c = calloc(1, sizeof(*c));
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (!c || !info) {
                free(c);
                return; /* its first request will be broken off */
        }
        c->listener = l;
        c->mhd = mhd;
        c->fd = info->connect_fd;
        if (l->socket_path && getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) >= 0) {
                c->is_unix = true;
                c->uid = peer.uid;
        }
        l->server->n_connections++;
        c->over_limit = !http_connection_make_room(l->server) &&
                        (!c->is_unix || l->server->n_connections > l->server->connections_max + HTTP_LOCAL);
        http_connection_set_quiet(c, true);
        if (epoll_ctl(l->hangups_fd, EPOLL_CTL_ADD, c->fd, &(struct epoll_event) { HANGUP_EVENTS, { .ptr = c } }) < 0)
                log_debug("http: cannot watch a connection, ignoring: %m");
        *context = c;
}

void http_connection_notify(
                void *cls, struct MHD_Connection *mhd, void **context, enum MHD_ConnectionNotificationCode code) {
        HttpConnection *c = *context;

        if (code == MHD_CONNECTION_NOTIFY_STARTED) {
                connection_started(cls, mhd, context);
                return;
        }
        if (!c)
                return;
        http_connection_set_quiet(c, false);
        connection_set_finished(c, false);
        (void) epoll_ctl(c->listener->hangups_fd, EPOLL_CTL_DEL, c->fd, NULL);
        sd_event_source_disable_unref(c->probe);
        c->listener->server->n_connections--;
        free(c);
        *context = NULL;
}

static void request_gone(HttpRequest *r) {
        r->gone = true;
        http_request_continue(r);
}

static bool request_probe(HttpRequest *r) {
        const ssize_t size = sizeof(probe_text) - 1;

        if (!r->is_1_1 || r->queued)
                return false;
        return send(r->connection->fd, probe_text, (size_t) size, MSG_NOSIGNAL | MSG_DONTWAIT) == size;
}

static int on_probe(sd_event_source *s, uint64_t usec, void *userdata) {
        HttpConnection *c = userdata;

        if (!c->request || c->request->flow != HTTP_PAUSED)
                return 0;
        if (!request_probe(c->request))
                request_gone(c->request);
        else if (sd_event_source_set_time_relative(s, PROBE_INTERVAL) >= 0)
                (void) sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
        return 0;
}

/* Whether the client may still be there. */
static bool connection_half_closed(HttpConnection *c) {
        if (c->is_unix)
                return true;
        if (!request_probe(c->request))
                return false;
        if (!c->probe)
                return sd_event_add_time_relative(c->listener->server->event, &c->probe, CLOCK_MONOTONIC, PROBE_INTERVAL,
                                       USEC_PER_SEC, on_probe, c) >= 0;
        return sd_event_source_set_time_relative(c->probe, PROBE_INTERVAL) >= 0 &&
                        sd_event_source_set_enabled(c->probe, SD_EVENT_ONESHOT) >= 0;
}

/* Called if the request waits and its connection has had an event. */
static void connection_look(HttpConnection *c) {
        if ((c->hangup & (EPOLLHUP | EPOLLERR)) || !connection_half_closed(c))
                request_gone(c->request);
}

void http_connection_paused(HttpConnection *c, bool paused) {
        if (paused && c->hangup)
                connection_look(c);
        else if (!paused)
                (void) sd_event_source_set_enabled(c->probe, SD_EVENT_OFF);
}

static int on_hangups(sd_event_source *s, int fd, uint32_t revents, void *userdata) {
        struct epoll_event events[64];
        HttpListener *l = userdata;
        int n = epoll_wait(fd, events, ELEMENTSOF(events), 0);

        for (int i = 0; i < n; i++) {
                HttpConnection *c = events[i].data.ptr;

                c->hangup |= events[i].events;
                if (c->request && c->request->flow == HTTP_PAUSED)
                        connection_look(c);
                else
                        connection_set_finished(c, true);
        }
        if (l->finished)
                http_listener_wake(l); /* MHD reads what is there; then this looks at the connections */
        return 0;
}

int http_hangups_attach(HttpListener *l) {
        l->hangups_fd = epoll_create1(EPOLL_CLOEXEC);
        if (l->hangups_fd < 0)
                return -errno;
        return sd_event_add_io(l->server->event, &l->hangups, l->hangups_fd, EPOLLIN, on_hangups, l);
}

void http_hangups_detach(HttpListener *l) {
        l->hangups = sd_event_source_disable_unref(l->hangups);
        l->hangups_fd = fd_close(l->hangups_fd);
}
