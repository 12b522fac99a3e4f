/* http.c: the server: its listeners, and MHD in the event loop. */

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utlist.h>

#include "api/http-internal.h"
#include "base/fd.h"
#include "base/log.h"

#define RUNS_MAX       8 /* of one listener in a row, before others get their turn */
#if MHD_VERSION >= 0x01000000
#define STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 2
#else
#define STRICT MHD_OPTION_STRICT_FOR_CLIENT, 1
#endif
#define TIMER_ACCURACY (500 * USEC_PER_MSEC)

/* Answers leave at the end of the turn, all of them together. */
void http_listener_wake(HttpListener *l) {
        if (l->server->settle)
                settle_wait(&l->door);
        else if (l->defer)
                (void) sd_event_source_set_enabled(l->defer, SD_EVENT_ONESHOT);
}

void http_set_flow(HttpRequest *r, HttpFlow flow) {
        HttpListener *l = r->connection->listener;

        if (r->flow == flow)
                return;
        if (r->flow != HTTP_RUNNING)
                DL_DELETE(l->flows[r->flow], r);
        r->flow = flow;
        if (flow != HTTP_RUNNING)
                DL_APPEND(l->flows[flow], r);
}

static void continue_requests(HttpListener *l) {
        HttpRequest *r;

        if (l->flows[HTTP_CONTINUING])
                settle_now(l->server->settle);
        while ((r = l->flows[HTTP_CONTINUING])) {
                http_connection_paused(r->connection, false);
                http_set_flow(r, HTTP_RUNNING);
                MHD_resume_connection(r->connection->mhd);
        }
        while ((r = l->flows[HTTP_LEAVING])) {
                http_set_flow(r, HTTP_RUNNING);
                (void) MHD_upgrade_action(r->upgraded.handle, MHD_UPGRADE_ACTION_CLOSE);
        }
}

static void pause_requests(HttpListener *l) {
        HttpRequest *r;

        while ((r = l->flows[HTTP_PAUSING])) {
                http_set_flow(r, HTTP_PAUSED);
                MHD_suspend_connection(r->connection->mhd);
                http_connection_paused(r->connection, true);
        }
}

/* When MHD must run again, in microseconds from now; false: when its descriptor is ready. */
static bool listener_timeout(HttpListener *l, usec_t *ret) {
        MHD_UNSIGNED_LONG_LONG msec;

        if (MHD_get_timeout(l->daemon, &msec) != MHD_YES)
                return false;
        *ret = msec * USEC_PER_MSEC;
        return true;
}

/* Every request restarts the idle time, which moves the deadline. The timer is not set again each time: it
 * fires too early once per idle time, which is cheaper. */
static void listener_arm(HttpListener *l, usec_t timeout) {
        usec_t at, cut = http_connection_cut_slow(l), now = clock_usec();

        at = timeout == USEC_INFINITY ? USEC_INFINITY : now + timeout;
        at = MIN_OF(at, cut);
        if (at == USEC_INFINITY || (l->timer_at != 0 && l->timer_at <= at + TIMER_ACCURACY))
                return;
        if (sd_event_source_set_time(l->timer, at) >= 0 && sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT) >= 0)
                l->timer_at = at;
}

static void listener_run(HttpListener *l) {
        for (unsigned i = 0; i < RUNS_MAX; i++) {
                usec_t timeout = USEC_INFINITY;

                continue_requests(l);
                l->again = false;
                (void) MHD_run(l->daemon);
                pause_requests(l);
                if (l->again || l->flows[HTTP_CONTINUING] || l->flows[HTTP_LEAVING])
                        continue;
                if (!listener_timeout(l, &timeout) || timeout > 0) {
                        http_connection_cut_finished(l);
                        listener_arm(l, timeout);
                        return;
                }
        }
        http_listener_wake(l);
}

static int api_http_on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata) {
        listener_run(userdata);
        return 0;
}

static int api_http_on_defer(sd_event_source *s, void *userdata) {
        listener_run(userdata);
        return 0;
}

static void http_on_settled(void *userdata) {
        listener_run(userdata);
}

static int api_http_on_timer(sd_event_source *s, uint64_t usec, void *userdata) {
        HttpListener *l = userdata;

        l->timer_at = 0;
        listener_run(l);
        return 0;
}

static void on_log(void *cls, const char *format, va_list ap) _printf_(2, 0);
static void on_log(void *cls, const char *format, va_list ap) {
        char text[512];

        if (log_verbosity <= 0)
                return;
        (void) vsnprintf(text, sizeof(text), format, ap);
        text[strcspn(text, "\n")] = '\0';
        log_debug("http: %s", text);
}

static int listener_start(HttpListener *l, Error *reterr) {
        const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET;
        const HttpServer *s = l->server;

        l->daemon = MHD_start_daemon(
                        flags, 0, NULL, NULL, http_on_request, l,
                        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, /* first: it then logs errors about the others */
                        MHD_OPTION_NOTIFY_CONNECTION, http_connection_notify, l,
                        MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, l,
                        MHD_OPTION_URI_LOG_CALLBACK, http_strict_on_target, NULL,
                        MHD_OPTION_UNESCAPE_CALLBACK, http_unescape_nothing, NULL,
                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, MAX_OF(HTTP_CONNECTION_MEMORY, 2 * s->header_max),
                        MHD_OPTION_CONNECTION_LIMIT, s->connections_max + HTTP_RESERVE(s->connections_max),
                        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned) (s->idle_usec / USEC_PER_SEC),
                        STRICT,
                        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
                        MHD_OPTION_END);
        if (!l->daemon)
                return error_set(reterr, -EIO, "cannot start the HTTP server");
        return 0;
}

static int listener_attach(HttpListener *l, Error *reterr) {
        const union MHD_DaemonInfo *info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
        sd_event *event = l->server->event;
        int r;

        if (!info)
                return error_set(reterr, -EIO, "the HTTP server has no epoll descriptor");
        l->door = (SettleDoor) { .open = http_on_settled, .userdata = l };
        if (l->server->settle)
                settle_add_door(l->server->settle, &l->door);
        r = http_hangups_attach(l);
        if (r >= 0)
                r = http_accept_attach(l);
        if (r >= 0)
                r = sd_event_add_io(event, &l->io, info->epoll_fd, EPOLLIN, api_http_on_io, l);
        if (r >= 0)
                r = sd_event_add_time(event, &l->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY, api_http_on_timer, l);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_defer(event, &l->defer, api_http_on_defer, l); /* at once: MHD then takes clients */
        if (r < 0)
                return error_set(reterr, r, "cannot add the HTTP server to the loop: %m");
        return 0;
}

static void listener_close_socket(HttpListener *l) {
        if (l->socket_path && l->fd >= 0)
                (void) unlink(l->socket_path);
        l->fd = fd_close(l->fd);
}

/* MHD cannot stop while a connection is suspended. Paused requests run once more, and are broken off. */
static HttpListener *listener_free(HttpListener *l) {
        HttpRequest *r;

        if (!l)
                return NULL;
        if (l->daemon) {
                while ((r = l->flows[HTTP_PAUSED])) {
                        r->gone = true;
                        http_set_flow(r, HTTP_CONTINUING);
                }
                continue_requests(l);
                MHD_stop_daemon(l->daemon);
        }
        if (l->server->settle)
                settle_remove_door(l->server->settle, &l->door);
        http_accept_quiesce(l);
        http_tls_detach(l);
        http_hangups_detach(l);
        l->io = sd_event_source_disable_unref(l->io);
        l->timer = sd_event_source_disable_unref(l->timer);
        l->defer = sd_event_source_disable_unref(l->defer);
        listener_close_socket(l);
        free(l->socket_path);
        free(l);
        return NULL;
}

/* Takes the socket. */
static int listener_new(HttpServer *s, int fd, const char *socket_path, Https *https, HttpListener **ret, Error *reterr) {
        HttpListener *l = calloc(1, sizeof(*l));
        int r;

        if (!l) {
                (void) fd_close(fd);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        l->server = s;
        l->fd = fd;
        l->https = https;
        l->hangups_fd = -EBADF;
        *ret = l; /* the server frees it */
        if (socket_path) {
                l->socket_path = strdup(socket_path);
                if (!l->socket_path)
                        return error_set(reterr, -ENOMEM, "out of memory");
        }
        r = listener_start(l, reterr);
        if (r < 0)
                return r;
        return listener_attach(l, reterr);
}

void http_sockets_close(HttpSockets *s) {
        s->tcp_fd = fd_close(s->tcp_fd);
        s->unix_fd = fd_close(s->unix_fd);
        s->tls_fd = fd_close(s->tls_fd);
        free(s->address);
        free(s->tls_address);
        s->address = s->tls_address = NULL;
        s->https = https_free(s->https);
}

int http_sockets_open(const HttpConfig *config, HttpSockets *ret, Error *reterr) {
        _cleanup_(http_sockets_close) HttpSockets s = HTTP_SOCKETS_EMPTY;

        if (config->address) {
                s.tcp_fd = http_listen_tcp(config->address, config->loopback_only, &s.address, reterr);
                if (s.tcp_fd < 0)
                        return s.tcp_fd;
        }
        if (config->tls_address) {
                int r = https_new(config->tls_certificate, config->tls_key, &s.https, reterr);

                if (r < 0)
                        return error_prefix(reterr, r, "TLS");
                s.tls_fd = http_listen_tcp(config->tls_address, config->loopback_only, &s.tls_address, reterr);
                if (s.tls_fd < 0)
                        return s.tls_fd;
        }
        if (config->socket_path) {
                s.unix_fd = http_listen_unix(config->socket_path, reterr);
                if (s.unix_fd < 0)
                        return s.unix_fd;
        }
        *ret = s;
        s = (HttpSockets) HTTP_SOCKETS_EMPTY;
        return 0;
}

static int api_http_server_listen(HttpServer *s, const HttpConfig *config, HttpSockets *ahead, Error *reterr) {
        _cleanup_(http_sockets_close) HttpSockets own = HTTP_SOCKETS_EMPTY;
        HttpSockets *sockets = ahead ? ahead : &own;
        HttpListener **next = s->listeners;
        int r;

        if (!ahead) {
                r = http_sockets_open(config, &own, reterr);
                if (r < 0)
                        return r;
        }
        s->address = TAKE_PTR(sockets->address);
        if (sockets->tcp_fd >= 0) {
                r = listener_new(s, TAKE_FD(sockets->tcp_fd), /* socket_path= */ NULL, /* https= */ NULL, next++, reterr);
                if (r < 0)
                        return r;
        }
        s->tls_address = TAKE_PTR(sockets->tls_address);
        s->https = TAKE_PTR(sockets->https);
        if (sockets->tls_fd >= 0) {
                r = listener_new(s, TAKE_FD(sockets->tls_fd), /* socket_path= */ NULL, s->https, next++, reterr);
                if (r < 0)
                        return r;
        }
        if (sockets->unix_fd >= 0) {
                r = listener_new(s, TAKE_FD(sockets->unix_fd), config->socket_path, /* https= */ NULL, next, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

int http_server_new(sd_event *event, const HttpConfig *config, HttpSockets *sockets, HttpRoute route, void *userdata,
                HttpServer **ret, Error *reterr) {
        HttpServer *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "out of memory");
        *s = (HttpServer) {
                .event = sd_event_ref(event),
                .settle = config->settle,
                .route = route,
                .userdata = userdata,
                .connections_max = config->connections_max,
                .idle_usec = config->idle_seconds * USEC_PER_SEC,
                .header_max = config->header_max,
        };
        (void) signal(SIGPIPE, SIG_IGN); /* sendfile(2) has no MSG_NOSIGNAL */
        r = api_http_server_listen(s, config, sockets, reterr);
        if (r < 0) {
                http_server_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

HttpServer *http_server_free(HttpServer *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(s->listeners); i++)
                listener_free(s->listeners[i]);
        sd_event_unref(s->event);
        https_free(s->https);
        free(s->tls_address);
        free(s->address);
        free(s);
        return NULL;
}

const char *http_server_address(const HttpServer *s) {
        return s->address;
}

const char *http_server_tls_address(const HttpServer *s) {
        return s->tls_address;
}

int http_server_read_certificate(HttpServer *s, Error *reterr) {
        int r = s->https ? https_read_again(s->https, reterr) : 0;

        return r < 0 ? r : s->https != NULL;
}

void http_server_quiesce(HttpServer *s) {
        s->quiesced = true;
        for (size_t i = 0; i < ELEMENTSOF(s->listeners); i++) {
                HttpListener *l = s->listeners[i];

                if (!l || l->fd < 0)
                        continue;
                http_accept_quiesce(l);
                listener_close_socket(l);
        }
}
