/* http-accept.c: new connections, for all listeners. */

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "api/http-internal.h"
#include "base/error.h"
#include "base/log.h"

/* In a row. At most HTTP_RESERVE: connections closed to make room are gone only after the next run. */
#define ACCEPT_MAX 16
#define RETRY_USEC (100 * USEC_PER_MSEC)

/* MHD takes the socket, even if it refuses the connection. */
static void accept_take(HttpListener *l, int fd, const struct sockaddr_storage *peer, socklen_t size) {
        if (l->https)
                http_tls_begin(l, fd, peer, size);
        else if (MHD_add_connection(l->daemon, fd, (const struct sockaddr *) peer, size) == MHD_YES)
                http_listener_wake(l);
}

/* Out of descriptors: the socket stays ready, and accepting would fail again and again. So it pauses for a
 * while. */
static void http_accept_rest(HttpListener *l) {
        if (!l->accept_failed)
                log_warning("http: no connections are accepted until one is closed: %m");
        l->accept_failed = true;
        (void) sd_event_source_set_enabled(l->accept, SD_EVENT_OFF);
        if (sd_event_source_set_time_relative(l->accept_again, RETRY_USEC) >= 0)
                (void) sd_event_source_set_enabled(l->accept_again, SD_EVENT_ONESHOT);
}

static int on_rested(sd_event_source *source, uint64_t usec, void *userdata) {
        HttpListener *l = userdata;

        if (l->fd >= 0)
                (void) sd_event_source_set_enabled(l->accept, SD_EVENT_ON);
        return 0;
}

static int on_accept(sd_event_source *source, int listening, uint32_t revents, void *userdata) {
        HttpListener *l = userdata;

        for (unsigned i = 0; i < ACCEPT_MAX; i++) {
                struct sockaddr_storage peer;
                socklen_t size = sizeof(peer);
                int fd = accept4(listening, (struct sockaddr *) &peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (fd >= 0) {
                        l->accept_failed = false;
                        accept_take(l, fd, &peer, size);
                        continue;
                }
                if (errno == ECONNABORTED || errno == EINTR)
                        continue;
                if (errno != EAGAIN && error_is_shortage(errno))
                        http_accept_rest(l);
                break;
        }
        return 0;
}

int http_accept_attach(HttpListener *l) {
        sd_event *event = l->server->event;
        int r = sd_event_add_io(event, &l->accept, l->fd, EPOLLIN, on_accept, l);

        if (r >= 0)
                r = sd_event_add_time_relative(event, &l->accept_again, CLOCK_MONOTONIC, RETRY_USEC, 0, on_rested, l);
        return r < 0 ? r : sd_event_source_set_enabled(l->accept_again, SD_EVENT_OFF);
}

void http_accept_quiesce(HttpListener *l) {
        l->accept = sd_event_source_disable_unref(l->accept);
        l->accept_again = sd_event_source_disable_unref(l->accept_again);
}
