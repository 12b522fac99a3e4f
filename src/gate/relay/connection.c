#include "gate/relay/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/address.h"
#include "base/fd.h"
#include "base/log.h"
#include "gate/dns/dns.h"
#include "gate/relay/connection-internal.h"
#include "gate/relay/listener.h"
#include "gate/relay/proxy.h"

#define DNS_PORT 53

EgressQuestion connection_question(const Connection *c) {
        return (EgressQuestion) {
                .protocol = c->protocol,
                .host = *c->host ? c->host : NULL,
                .has_address = true,
                .address = c->address,
                .port = c->port,
        };
}

/* The connection is classified: judge.c no longer handles it, nor watches its descriptors. */
static void stop_looking(Connection *c) {
        share_leave(c->sandbox, &c->turn);
        c->source = sd_event_source_disable_unref(c->source);
        c->timer = sd_event_source_disable_unref(c->timer);
}

static void connection_free(Connection *c) {
        GateSandbox *s = c->sandbox;

        DL_DELETE(s->connections, c);
        stop_looking(c);
        s->n_connections--;
        s->gate->n_connections--;
        sd_event_source_disable_unref(c->upstream_source);
        ask_cancel(c->ask);
        dial_free(c->dial);
        relay_free(c->relay);
        http_free(c->http);
        (void) fd_close(c->fd);
        (void) fd_close(c->upstream_fd);
        free(c);
}

void connection_close(Connection *c) {
        GateSandbox *s = c->sandbox;

        connection_free(c);
        listener_resume(s);
}

/* Makes the close a reset, not an end that looks orderly to the other side. */
static void make_rude(int fd) {
        if (fd >= 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger) { .l_onoff = 1 }, sizeof(struct linger));
}

void connection_reset(Connection *c) {
        make_rude(c->fd);
        make_rude(c->upstream_fd);
        connection_close(c);
}

void connection_deny(Connection *c, const EgressVerdict *v) {
        const EgressQuestion q = connection_question(c);

        gate_tell_denied(c->sandbox, v, &q);
        connection_reset(c);
}

static void deny_because(Connection *c, EgressReason reason) {
        connection_deny(c, &(EgressVerdict) { .action = EGRESS_DENY, .reason = reason, .rule = -1 });
}

/* Passing bytes on. */

static void on_relay_done(RelayEnd end, void *userdata) {
        Connection *c = userdata;

        if (end == RELAY_OVER)
                connection_close(c);
        else if (end == RELAY_SILENT)
                deny_because(c, EGRESS_TIMEOUT);
        else
                connection_reset(c); /* if the total is used up, that has been reported */
}

static void start_relay(Connection *c) {
        int r;

        stop_looking(c);
        c->upstream_source = sd_event_source_disable_unref(c->upstream_source);
        r = relay_new(c->sandbox, c->fd, c->upstream_fd, c->sandbox->policy.request_timeout_usec, on_relay_done, c, &c->relay);
        if (r < 0)
                connection_reset(c);
}

static int on_upstream_first(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        connection_clear(userdata); /* the server speaks first: it is raw TCP, which is allowed to this address */
        return 0;
}

static void connection_on_dialed(int error, int fd, void *userdata) {
        Connection *c = userdata;

        share_works(c->sandbox);
        c->dial = dial_free(c->dial);
        if (error < 0) {
                log_sandbox("debug", c->sandbox->id, "upstream cannot be reached");
                deny_because(c, EGRESS_UPSTREAM);
                return;
        }
        c->upstream_fd = fd;
        if (c->cleared)
                start_relay(c);
        else if (sd_event_add_io(c->sandbox->gate->event, &c->upstream_source, fd, EPOLLIN | EPOLLRDHUP, on_upstream_first, c) < 0)
                connection_reset(c);
}

void connection_dial_ahead(Connection *c) {
        const EgressQuestion q = connection_question(c);
        const DialTarget to = { .address = c->address, .port = c->port, .proxy = gate_proxy_for(c->sandbox, &q), .host = q.host, .tunnel = true };

        if (dial_new(c->sandbox->gate, &to, connection_on_dialed, c, &c->dial) < 0)
                deny_because(c, EGRESS_UPSTREAM);
}

/* While upstream is dialed, only a hang-up of the guest matters. */
static int on_guest_waits(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        if (revents & (EPOLLHUP | EPOLLERR))
                connection_reset(userdata);
        return 0;
}

static int watch_for_end(Connection *c) {
        stop_looking(c);
        return sd_event_add_io(c->sandbox->gate->event, &c->source, c->fd, EPOLLET, on_guest_waits, c);
}

static void tell_learnt(Connection *c) {
        const EgressQuestion q = connection_question(c);
        const EgressVerdict v = gate_decide(c->sandbox, &q);

        gate_tell_allowed(c->sandbox, &v, &q);
}

void connection_clear(Connection *c) {
        if (c->sandbox->policy.learn)
                tell_learnt(c);
        c->cleared = true;
        if (c->upstream_fd >= 0)
                start_relay(c);
        else if (watch_for_end(c) < 0)
                connection_reset(c);
        else if (!c->dial)
                connection_dial_ahead(c);
}

/* HTTP. */

static void on_http_done(HttpExchange *x, void *userdata) {
        connection_close(userdata);
}

void connection_open(Connection *c) {
        const HttpStart start = {
                .sandbox = c->sandbox,
                .fd = c->fd,
                .tls = c->tls,
                .address = c->address,
                .port = c->port,
                .host = c->tls ? c->host : NULL,
                .approved = c->approved,
        };

        /* http.c connects by itself, when there is something to send. */
        c->upstream_source = sd_event_source_disable_unref(c->upstream_source);
        c->dial = dial_free(c->dial);
        c->upstream_fd = fd_close(c->upstream_fd);
        stop_looking(c);
        c->fd = -EBADF; /* http_start() takes it, also on failure */
        if (http_start(&start, on_http_done, c, &c->http) < 0)
                connection_close(c);
}

/* Coming and going. */

static int find_destination(int fd, IpAddress *ret, uint16_t *ret_port) {
        SocketAddress a;
        socklen_t size = sizeof(a);

        if (getsockname(fd, &a.any, &size) < 0)
                return -errno;
        return address_from_socket(&a.any, ret, ret_port);
}

void connection_take(GateSandbox *s, int fd) {
        _cleanup_close_ int owned = fd;
        IpAddress address;
        Connection *c;
        uint16_t port;

        if (find_destination(fd, &address, &port) < 0)
                return;
        if (port == DNS_PORT) {
                dns_take_connection(s, TAKE_FD(owned));
                return;
        }
        c = calloc(1, sizeof(*c));
        if (!c)
                return;
        *c = (Connection) {
                .sandbox = s,
                .fd = TAKE_FD(owned),
                .upstream_fd = -EBADF,
                .address = address,
                .port = port,
                .protocol = EGRESS_TCP,
                .turn = { .work = judge_look, .userdata = c },
        };
        DL_APPEND(s->connections, c);
        s->n_connections++;
        s->gate->n_connections++;
        s->usage.connections++;
        judge_accepted(c);
}

void connections_policy_changed(GateSandbox *s) {
        Connection *c, *next;

        DL_FOREACH_SAFE(s->connections, c, next) {
                if (c->http)
                        http_policy_changed(c->http);
                else
                        judge_policy_changed(c);
        }
}

void connections_sandbox_gone(GateSandbox *s) {
        while (s->connections) {
                make_rude(s->connections->fd);
                make_rude(s->connections->upstream_fd);
                connection_free(s->connections);
        }
}
