/* dns-tcp.c: DNS over TCP: messages with a length prefix, several per connection, answered in the order in
 * which they are ready.
 *
 * Answers are put into a buffer, and only the loop sends and closes, so a connection is never freed under a
 * caller that answers on it. Only complete questions reset the idle timeout. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/fd.h"
#include "gate/dns/dns-internal.h"
#include "gate/share.h"

#define OUT_MAX (DNS_PIPELINE_MAX * (2 + DNS_ANSWER_MAX)) /* with this much unsent, no more questions are read */

struct DnsTcp {
        DnsServer *server;
        DnsTcp *prev, *next;
        int fd;
        sd_event_source *source, *idle;
        unsigned n_waiting;
        bool ended;  /* the guest sends no more */
        bool broken; /* to be closed */
        size_t in_size, out_size;
        uint8_t *out;
        uint8_t in[2 + DNS_QUESTION_MAX];
};

void dns_tcp_free(DnsTcp *t) {
        dns_requests_drop(t->server, t);
        DL_DELETE(t->server->connections, t);
        t->server->n_connections--;
        sd_event_source_disable_unref(t->source);
        sd_event_source_disable_unref(t->idle);
        (void) fd_close(t->fd);
        free(t->out);
        free(t);
}

static bool dns_tcp_has_room(const DnsTcp *t) {
        return t->n_waiting < DNS_PIPELINE_MAX && t->out_size < OUT_MAX;
}

/* The size of a whole question in the buffer, with its length prefix; 0: it is not complete. */
static size_t question_size(const DnsTcp *t) {
        size_t size = t->in_size >= 2 ? 2u + (size_t) (t->in[0] << 8 | t->in[1]) : 0;

        return size > 0 && size <= t->in_size ? size : 0;
}

static void want_events(DnsTcp *t) {
        uint32_t events = 0;

        if (!t->ended && dns_tcp_has_room(t) && t->in_size < sizeof(t->in))
                events |= EPOLLIN;
        if (t->out_size > 0 || t->broken || (question_size(t) > 0 && dns_tcp_has_room(t)))
                events |= EPOLLOUT;
        if (sd_event_source_set_io_events(t->source, events) < 0)
                t->broken = true; /* the idle timer finds it */
}

static void is_alive(DnsTcp *t) {
        (void) sd_event_source_set_time_relative(t->idle, DNS_TCP_IDLE_USEC);
        (void) sd_event_source_set_enabled(t->idle, SD_EVENT_ONESHOT);
}

static int dns_tcp_on_idle(sd_event_source *source, uint64_t usec, void *userdata) {
        DnsTcp *t = userdata;

        if (t->n_waiting > 0 && !t->broken) /* the waiting questions have limits of their own */
                is_alive(t);
        else
                dns_tcp_free(t);
        return 0;
}

static void read_more(DnsTcp *t) {
        ssize_t n;

        if (t->ended || t->in_size == sizeof(t->in))
                return;
        n = recv(t->fd, t->in + t->in_size, sizeof(t->in) - t->in_size, MSG_DONTWAIT);
        if (n > 0)
                t->in_size += (size_t) n;
        else if (n == 0)
                t->ended = true;
        else if (errno != EAGAIN && errno != EINTR)
                t->broken = true;
}

static void take_questions(DnsTcp *t) {
        DnsClient client = { .tcp = t };
        size_t size;

        while (!t->broken && dns_tcp_has_room(t) && (size = question_size(t)) > 0) {
                uint8_t question[DNS_QUESTION_MAX];

                memcpy(question, t->in + 2, size - 2);
                memmove(t->in, t->in + size, t->in_size - size);
                t->in_size -= size;
                is_alive(t);
                dns_request_take(t->server, &client, question, size - 2);
        }
        if (t->in_size >= 2 && (t->in[0] << 8 | t->in[1]) > DNS_QUESTION_MAX)
                t->broken = true;
}

static void send_out(DnsTcp *t) {
        ssize_t n;

        if (t->out_size == 0)
                return;
        n = send(t->fd, t->out, t->out_size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
                memmove(t->out, t->out + n, t->out_size - (size_t) n);
                t->out_size -= (size_t) n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR)
                t->broken = true;
}

static int on_tcp_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        DnsTcp *t = userdata;

        share_works(t->server->sandbox);
        if (revents & EPOLLIN)
                read_more(t);
        take_questions(t);
        send_out(t);
        if (t->broken || revents & (EPOLLERR | EPOLLHUP) || (t->ended && t->n_waiting == 0 && t->out_size == 0 && question_size(t) == 0))
                dns_tcp_free(t);
        else
                want_events(t);
        return 0;
}

void dns_tcp_begin(DnsTcp *t) {
        t->n_waiting++;
}

void dns_tcp_end(DnsTcp *t) {
        t->n_waiting--;
        want_events(t);
}

void dns_tcp_send(DnsTcp *t, const uint8_t *data, size_t size) {
        const uint8_t length[] = { (uint8_t) (size >> 8), (uint8_t) size };
        uint8_t *out = realloc(t->out, t->out_size + sizeof(length) + size);

        if (out) {
                memcpy(out + t->out_size, length, sizeof(length));
                memcpy(out + t->out_size + sizeof(length), data, size);
                t->out = out;
                t->out_size += sizeof(length) + size;
        } else
                t->broken = true;
        want_events(t);
}

static int tcp_watch(DnsTcp *t) {
        sd_event *event = t->server->sandbox->gate->event;
        int r;

        r = sd_event_add_io(event, &t->source, t->fd, EPOLLIN, on_tcp_io, t);
        if (r >= 0)
                r = sd_event_source_set_priority(t->source, share_priority(t->server->sandbox));
        if (r < 0)
                return r;
        return sd_event_add_time_relative(event, &t->idle, CLOCK_MONOTONIC, DNS_TCP_IDLE_USEC, 0, dns_tcp_on_idle, t);
}

void dns_set_priority(GateSandbox *s, int64_t priority) {
        DnsTcp *t;

        DL_FOREACH(s->dns ? s->dns->connections : NULL, t)
                (void) sd_event_source_set_priority(t->source, priority);
}

void dns_take_connection(GateSandbox *s, int fd) {
        DnsServer *v = dns_server_get(s);
        DnsTcp *t = v && v->n_connections < DNS_CONNECTIONS_MAX ? calloc(1, sizeof(*t)) : NULL;

        if (!t) {
                (void) fd_close(fd);
                return;
        }
        t->server = v;
        t->fd = fd;
        DL_APPEND(v->connections, t);
        v->n_connections++;
        if (tcp_watch(t) < 0)
                dns_tcp_free(t);
}
