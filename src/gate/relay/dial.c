#include "gate/relay/dial.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/address.h"
#include "base/fd.h"
#include "base/text.h"
#include "gate/dns/resolver.h"
#include "gate/relay/proxy.h"

#define TIMER_SLACK    (250 * USEC_PER_MSEC)
#define REQUEST_MAX    2048
#define ANSWER_MAX     4096 /* of a proxy: its head */
#define KEEPALIVE_SECS 120 /* detects an upstream that is gone without a word */

typedef struct DialTunnel {
        char place[EGRESS_DOMAIN_MAX + 8]; /* HOST:PORT, for people */
        Text request;                      /* with a password: wiped */
        char answer[ANSWER_MAX + 1];
        size_t size;
} DialTunnel;

struct Dial {
        Gate *gate;
        int fd;
        uint16_t port;
        char proxy[PROXY_HOST_MAX]; /* "": directly */
        int family;                 /* the family of the lookup */
        ResolverCall *call;
        DialTunnel *tunnel;         /* NULL: none */
        sd_event_source *source, *timer;
        void (*done)(int error, int fd, void *userdata);
        void *userdata;
};

Dial *dial_free(Dial *d) {
        if (!d)
                return NULL;
        (void) resolver_cancel(d->call);
        sd_event_source_disable_unref(d->source);
        sd_event_source_disable_unref(d->timer);
        (void) fd_close(d->fd);
        if (d->tunnel)
                text_wipe(&d->tunnel->request);
        free(d->tunnel);
        free(d);
        return NULL;
}

/* The callback may free the dial: callers must not touch it afterwards. */
static void dial_end(Dial *d, int error) {
        d->source = sd_event_source_disable_unref(d->source);
        d->timer = sd_event_source_disable_unref(d->timer);
        d->done(error, error >= 0 ? TAKE_FD(d->fd) : -EBADF, d->userdata);
}

static void dial_tell(const Dial *d, const char *why) {
        if (*d->proxy)
                gate_proxy_failed(d->gate, d->tunnel ? d->tunnel->place : d->proxy, why);
}

static void dial_fail(Dial *d, int error, const char *why) {
        dial_tell(d, why);
        dial_end(d, error);
}

/* The proxy's answer. */

/* Takes only the head from the socket: bytes behind it are the tunnel's. 1: it is complete; 0: more will
 * come. */
static int dial_tunnel_read(DialTunnel *t, int fd) {
        size_t before = t->size, all;
        ssize_t n = recv(fd, t->answer + before, ANSWER_MAX - before, MSG_PEEK | MSG_DONTWAIT);
        const char *end;

        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (n == 0)
                return before == ANSWER_MAX ? -EBADMSG : -ECONNRESET;
        t->answer[before + (size_t) n] = '\0';
        end = memmem(t->answer, before + (size_t) n, "\r\n\r\n", 4);
        all = end ? (size_t) (end + 4 - t->answer) : before + (size_t) n;
        if (recv(fd, t->answer + before, all - before, MSG_DONTWAIT) != (ssize_t) (all - before))
                return -EIO;
        t->size = all;
        t->answer[all] = '\0';
        return end != NULL;
}

static void dial_tunnel_judge(Dial *d) {
        char *answer = d->tunnel->answer;

        if (strncmp(answer, "HTTP/1.", 7) == 0 && strlen(answer) > 12 && answer[8] == ' ' && answer[9] == '2') {
                dial_end(d, 0);
                return;
        }
        answer[strcspn(answer, "\r\n")] = '\0';
        for (char *c = answer; *c; c++)
                if (*c < ' ' || *c > '~')
                        *c = '?';
        answer[MIN_OF(strlen(answer), (size_t) 120)] = '\0';
        dial_fail(d, -EACCES, answer);
}

static int dial_on_answer(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Dial *d = userdata;
        int r = dial_tunnel_read(d->tunnel, fd);

        if (r < 0)
                dial_fail(d, r, strerror(-r));
        else if (r > 0)
                dial_tunnel_judge(d);
        return 0;
}

static void dial_tunnel_ask(Dial *d) {
        Text *request = &d->tunnel->request;
        ssize_t n = send(d->fd, request->data, request->size, MSG_NOSIGNAL | MSG_DONTWAIT);
        int r = n == (ssize_t) request->size ? 0 : n < 0 ? -errno : -EPIPE; /* the socket's buffer is empty: a request this small fits */

        d->source = sd_event_source_disable_unref(d->source);
        if (r >= 0)
                r = sd_event_add_io(d->gate->event, &d->source, d->fd, EPOLLIN, dial_on_answer, d);
        if (r < 0)
                dial_fail(d, r, strerror(-r));
}

/* Connecting. */

static int dial_on_connected(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Dial *d = userdata;
        int error = 0;
        socklen_t size = sizeof(error);

        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
                error = errno;
        if (error != 0)
                dial_fail(d, -error, strerror(error));
        else if (d->tunnel)
                dial_tunnel_ask(d);
        else
                dial_end(d, 0);
        return 0;
}

static int dial_on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        dial_fail(userdata, -ETIMEDOUT, strerror(ETIMEDOUT));
        return 0;
}

static int dial_open_socket(const IpAddress *address, uint16_t port) {
        SocketAddress to;
        socklen_t size = address_to_socket(address, port, &to);
        _cleanup_close_ int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return -errno;
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
        (void) setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int) { 1 }, sizeof(int));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int) { KEEPALIVE_SECS }, sizeof(int));
        if (connect(fd, &to.any, size) < 0 && errno != EINPROGRESS)
                return -errno;
        return TAKE_FD(fd);
}

static int dial_connect(Dial *d, const IpAddress *address) {
        int fd = dial_open_socket(address, d->port);

        if (fd < 0)
                return fd;
        d->fd = fd;
        return sd_event_add_io(d->gate->event, &d->source, fd, EPOLLOUT, dial_on_connected, d);
}

/* The proxy's name. */

static void dial_on_resolved(const ResolverAnswer *a, void *userdata);

static int dial_look_up(Dial *d, int family) {
        d->family = family;
        d->call = resolver_ask(d->gate->resolver, d->proxy, family, dial_on_resolved, d);
        return d->call ? 0 : -ENOMEM;
}

static void dial_on_resolved(const ResolverAnswer *a, void *userdata) {
        Dial *d = userdata;
        int r = a->error;
        bool known = r >= 0 && a->n_addresses > 0;

        d->call = NULL;
        if (known)
                r = dial_connect(d, a->addresses);
        else if (r >= 0 || r == -ENODATA)
                r = d->family == AF_INET ? dial_look_up(d, AF_INET6) : -ENODATA;
        if (r < 0)
                dial_fail(d, r, known ? strerror(-r) : "the proxy's name is not known to the name servers: write its address");
}

static int dial_start(Dial *d, const IpAddress *address) {
        IpAddress literal;

        if (!*d->proxy)
                return dial_connect(d, address);
        if (ip_parse(d->proxy, &literal) >= 0)
                return dial_connect(d, &literal);
        return dial_look_up(d, AF_INET);
}

static int dial_tunnel_new(const DialTarget *to, DialTunnel **ret) {
        DialTunnel *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        (void) snprintf(t->place, sizeof(t->place), "%s:%u", to->host, (unsigned) to->port);
        t->request = (Text) TEXT_INIT(REQUEST_MAX);
        text_format(&t->request, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", t->place, t->place);
        if (to->proxy->authorization)
                text_format(&t->request, "Proxy-Authorization: %s\r\n", to->proxy->authorization);
        text_put_string(&t->request, "\r\n");
        *ret = t;
        return t->request.error;
}

int dial_new(Gate *g, const DialTarget *to, void (*done)(int error, int fd, void *userdata), void *userdata, Dial **ret) {
        Dial *d = calloc(1, sizeof(*d));
        int r = 0;

        if (!d)
                return -ENOMEM;
        *d = (Dial) { .gate = g, .fd = -EBADF, .port = to->proxy ? to->proxy->port : to->port, .done = done, .userdata = userdata };
        if (to->proxy)
                (void) snprintf(d->proxy, sizeof(d->proxy), "%s", to->proxy->host);
        if (to->proxy && to->tunnel)
                r = dial_tunnel_new(to, &d->tunnel);
        if (r >= 0)
                r = dial_start(d, &to->address);
        if (r >= 0)
                r = sd_event_add_time_relative(g->event, &d->timer, CLOCK_MONOTONIC, DIAL_TIMEOUT_USEC, TIMER_SLACK, dial_on_timeout, d);
        if (r < 0) {
                dial_tell(d, strerror(-r));
                dial_free(d);
                return r;
        }
        *ret = d;
        return 0;
}
