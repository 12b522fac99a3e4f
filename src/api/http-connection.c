/* http-connection.c: connections: how many there may be, how long they may be quiet, and whether their clients are there.
 *
 * A connection is quiet while it has no request from somebody we know: it is idle, or sends the head of a request, or a body
 * that we drop. When there are too many connections, the one that has been quiet for longest goes. MHD ends those that send
 * nothing; we end those that send just enough to stay.
 *
 * Whether a client is there, while we have nothing to say to it (TCP cannot tell a client that has closed from one that only
 * says that it will send no more; both sent a FIN):
 *
 *      error or hang-up                     it is gone. A closed unix socket always shows as that
 *      half-closed, unix socket             it waits for the answer, so we go on
 *      half-closed, TCP, before the answer  we send "100 Continue" every few seconds, which every client has to expect and
 *                                           pass over: one that has closed resets the connection at once, which is a hang-up
 *      half-closed, TCP, in a stream        it is gone: there is nothing that we could say in between */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "api/http-internal.h"
#include "base/log.h"

#define SLOW_FACTOR    2 /* idle times that the head of a request may take */
#define PROBE_INTERVAL (5 * USEC_PER_SEC)

static const char probe_text[] = "HTTP/1.1 100 Continue\r\n\r\n";

void http_connection_set_quiet(HttpConnection *c, bool quiet) {
        if (c->is_quiet == quiet)
                return;
        c->is_quiet = quiet;
        if (quiet) {
                c->quiet_since = clock_usec();
                c->is_fresh = true;
                DL_APPEND(c->listener->quiet, c);
        } else
                DL_DELETE(c->listener->quiet, c);
}

/* MHD sees the end of the stream and closes it. */
static void connection_cut(HttpConnection *c) {
        http_connection_set_quiet(c, false);
        (void) shutdown(c->fd, SHUT_RDWR);
}

usec_t http_connection_cut_slow(HttpListener *l) {
        usec_t now, limit = SLOW_FACTOR * l->server->idle_usec;

        if (!l->quiet || limit == 0)
                return USEC_INFINITY;
        now = clock_usec();
        while (l->quiet && now >= l->quiet->quiet_since + limit) {
                log_debug("http: cutting a connection that has been sending one request for too long");
                connection_cut(l->quiet);
        }
        return l->quiet ? l->quiet->quiet_since + limit : USEC_INFINITY;
}

/* MHD hears of the end of a client's stream by an edge of its epoll set. When that came with the last bytes of a request, it
 * does not look again, and keeps the connection until it is idle for too long. So we look, once after each request. */
void http_connection_cut_finished(HttpListener *l) {
        HttpConnection *c, *before;
        char byte;

        for (c = l->quiet ? l->quiet->prev : NULL; c && c->is_fresh; c = before) {
                before = c == l->quiet ? NULL : c->prev;
                c->is_fresh = false;
                if (!c->request && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
                        connection_cut(c);
        }
}

static void connection_make_room(HttpConnection *c) {
        HttpListener *l = c->listener;

        if (l->n_connections <= l->server->connections_max)
                return;
        if (l->quiet)
                connection_cut(l->quiet);
        else
                c->over_limit = true;
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
        l->n_connections++;
        connection_make_room(c);
        http_connection_set_quiet(c, true);
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
        sd_event_source_disable_unref(c->watch); /* before MHD closes the descriptor */
        sd_event_source_disable_unref(c->probe);
        c->listener->n_connections--;
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

/* Whether it may be there all the same. */
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

static int on_watch(sd_event_source *s, int fd, uint32_t revents, void *userdata) {
        HttpConnection *c = userdata;

        if (!c->request || c->request->flow != HTTP_PAUSED)
                (void) sd_event_source_set_enabled(s, SD_EVENT_OFF);
        else if ((revents & (EPOLLHUP | EPOLLERR)) || !connection_half_closed(c))
                request_gone(c->request);
        else
                (void) sd_event_source_set_io_events(s, 0); /* hang-up and error always come */
        return 0;
}

/* The descriptor is MHD's, but in no epoll set of MHD's while we watch it. */
void http_connection_watch(HttpConnection *c, bool on) {
        int r = 0;

        if (!on) {
                (void) sd_event_source_set_enabled(c->watch, SD_EVENT_OFF);
                (void) sd_event_source_set_enabled(c->probe, SD_EVENT_OFF);
                return;
        }
        if (!c->watch)
                r = sd_event_add_io(c->listener->server->event, &c->watch, c->fd, EPOLLRDHUP, on_watch, c);
        else {
                r = sd_event_source_set_io_events(c->watch, EPOLLRDHUP);
                if (r >= 0)
                        r = sd_event_source_set_enabled(c->watch, SD_EVENT_ON);
        }
        if (r < 0)
                log_debug("http: cannot watch a connection, ignoring: %s", strerror(-r));
}
