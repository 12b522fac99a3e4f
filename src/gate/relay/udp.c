#include "gate/relay/udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/fd.h"
#include "gate/dns/pins.h"
#include "gate/relay/bucket.h"
#include "gate/share.h"
#include "gate/tell.h"

#define DATAGRAM_MAX      65535
#define DATAGRAMS_AT_ONCE 32 /* then others have their turn */
#define NAMES_MAX         16 /* names of one address that are tried */
#define FLOW_COST         (USEC_PER_SEC / UDP_FLOWS_PER_SEC)
#define READY_USEC        (5 * USEC_PER_SEC) /* limit for coved and PID 1 to make the socket inside */

/* The two ends of a flow; the whole structure is the key. */
typedef struct UdpEnds {
        IpAddress local, remote; /* the guest's, the world's */
        uint16_t local_port, remote_port;
} UdpEnds;

typedef enum UdpState {
        UDP_ASKING,  /* waits for an approval; datagrams are dropped meanwhile */
        UDP_REFUSED, /* the answer was no: no new question for a while */
        UDP_WAITING, /* datagrams go out already; the socket inside is being made */
        UDP_OPEN,
} UdpState;

typedef struct UdpFlow {
        GateSandbox *sandbox;
        UdpEnds ends;
        UdpState state;
        bool approved; /* the flow was asked about, and approved */
        usec_t active_at;
        Ask *ask;
        int outside, inside;
        sd_event_source *outside_source, *inside_source, *timer;
        size_t up_credit, down_credit; /* taken from the buckets, not yet used */
        uint64_t token;
        struct UdpFlow *prev, *next;   /* of the sandbox, by active_at */
        UT_hash_handle hh, token_hh;
} UdpFlow;

static UdpFlow *flow_find(const GateSandbox *s, const UdpEnds *ends) {
        UdpFlow *f;

        HASH_FIND(hh, s->flows, ends, sizeof(*ends), f);
        return f;
}

static void flow_stop_waiting(UdpFlow *f) {
        if (f->state == UDP_WAITING)
                HASH_DELETE(token_hh, f->sandbox->gate->flows_waiting, f);
}

static void flow_free(UdpFlow *f) {
        GateSandbox *s = f->sandbox;

        flow_stop_waiting(f);
        s->gate->n_flows--;
        HASH_DELETE(hh, s->flows, f);
        DL_DELETE(s->flows_idle, f);
        if (f->ask)
                (void) ask_cancel(f->ask);
        sd_event_source_disable_unref(f->outside_source);
        sd_event_source_disable_unref(f->inside_source);
        sd_event_source_disable_unref(f->timer);
        (void) fd_close(f->outside);
        (void) fd_close(f->inside);
        free(f);
}

static void flow_is_active(UdpFlow *f) {
        f->active_at = clock_usec();
        DL_DELETE(f->sandbox->flows_idle, f);
        DL_APPEND(f->sandbox->flows_idle, f);
}

/* Datagrams do not move the timer: it checks when the last one was. An ask has a time limit of its own. */
static int on_flow_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        UdpFlow *f = userdata;
        usec_t limit = f->state == UDP_WAITING ? READY_USEC : UDP_IDLE_USEC;
        usec_t idle = clock_usec() - f->active_at;

        if (f->state != UDP_ASKING && idle >= limit) {
                flow_free(f);
                return 0;
        }
        (void) sd_event_source_set_time_relative(f->timer, f->state == UDP_ASKING ? limit : limit - idle);
        (void) sd_event_source_set_enabled(f->timer, SD_EVENT_ONESHOT);
        return 0;
}

/* As with connections (listener.c): a sandbox may have no more flows than are left for all others. */
static bool flow_has_room(const GateSandbox *s) {
        const Gate *g = s->gate;
        size_t left = g->flows_max > g->n_flows ? g->flows_max - g->n_flows : 0;

        return HASH_COUNT(s->flows) < MIN_OF(left, (size_t) UDP_FLOWS_MAX);
}

static UdpFlow *flow_new(GateSandbox *s, const UdpEnds *ends) {
        UdpFlow *f;

        if (!flow_has_room(s)) {
                if (!s->flows_idle)
                        return NULL;
                flow_free(s->flows_idle);
        }
        f = calloc(1, sizeof(*f));
        if (!f)
                return NULL;
        if (sd_event_add_time_relative(s->gate->event, &f->timer, CLOCK_MONOTONIC, READY_USEC, 0, on_flow_timer, f) < 0) {
                free(f);
                return NULL;
        }
        f->sandbox = s;
        f->ends = *ends;
        f->outside = f->inside = -EBADF;
        f->active_at = clock_usec();
        HASH_ADD(hh, s->flows, ends, sizeof(f->ends), f);
        s->gate->n_flows++;
        DL_APPEND(s->flows_idle, f);
        return f;
}

/* Decides by each name that the guest was told this address for, and by number. The best verdict counts; but
 * if a rule denies one of the names, no other name allows it. */
static EgressVerdict udp_decide(const GateSandbox *s, const UdpEnds *ends, EgressQuestion *ret) {
        const char *names[NAMES_MAX + 1] = { 0 };
        size_t n = pins_names(s->pins, &ends->remote, names, NAMES_MAX);
        EgressVerdict best = { .action = EGRESS_DENY, .reason = EGRESS_RAW_ADDRESS, .rule = -1 };

        for (size_t i = 0; i <= n; i++) { /* the last is NULL: by number */
                EgressQuestion q = { .protocol = EGRESS_UDP, .has_address = true, .address = ends->remote, .port = ends->remote_port };
                EgressVerdict v;

                q.host = i < n ? names[i] : NULL;
                v = gate_decide(s, &q);
                if (v.action == EGRESS_DENY && v.reason == EGRESS_BY_RULE) {
                        *ret = q;
                        return v;
                }
                if (i == 0 || (v.action == EGRESS_ALLOW && best.action != EGRESS_ALLOW) || (v.action == EGRESS_ASK && best.action == EGRESS_DENY)) {
                        best = v;
                        *ret = q;
                }
        }
        return best;
}

/* A datagram passes whole or not at all. Credit that is not enough is kept for a later one: at a low rate
 * the bucket may never hold a whole long datagram at once. */
static bool rate_allows(struct Bucket *b, size_t *credit, size_t size) {
        if (*credit < size)
                *credit += bucket_take(b, size - *credit, clock_usec());
        if (*credit < size)
                return false;
        *credit -= size;
        return true;
}

/* False: the flow is gone, because the sandbox has used up its total. */
static bool udp_pass_out(UdpFlow *f, const void *data, size_t size) {
        if (!rate_allows(f->sandbox->up, &f->up_credit, size))
                return true;
        if (!gate_count_bytes(f->sandbox, size, 0)) {
                flow_free(f);
                return false;
        }
        flow_is_active(f);
        (void) send(f->outside, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        return true;
}

static bool udp_pass_in(UdpFlow *f, const void *data, size_t size) {
        if (!rate_allows(f->sandbox->down, &f->down_credit, size))
                return true;
        if (!gate_count_bytes(f->sandbox, 0, size)) {
                flow_free(f);
                return false;
        }
        flow_is_active(f);
        (void) send(f->inside, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        return true;
}

/* Errors concern datagrams that the other side did not take; the next one may be taken. */
static int relay_some(UdpFlow *f, int fd, bool (*pass)(UdpFlow *f, const void *data, size_t size)) {
        uint8_t buffer[DATAGRAM_MAX];

        for (int i = 0; i < DATAGRAMS_AT_ONCE; i++) {
                ssize_t size = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

                if (size < 0 && errno == EAGAIN)
                        return 0;
                if (size >= 0 && !pass(f, buffer, (size_t) size))
                        return 0;
        }
        return 0;
}

static int on_outside(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        UdpFlow *f = userdata;

        share_works(f->sandbox);
        return relay_some(f, fd, udp_pass_in);
}

static int on_inside(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        UdpFlow *f = userdata;

        share_works(f->sandbox);
        return relay_some(f, fd, udp_pass_out);
}

static int connect_outside(const UdpEnds *ends) {
        _cleanup_close_ int fd = -EBADF;
        SocketAddress to;
        socklen_t size = address_to_socket(&ends->remote, ends->remote_port, &to);

        fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || connect(fd, &to.any, size) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static void ask_for_inside(const UdpFlow *f) {
        char local[46], remote[46];

        ip_format(&f->ends.local, local);
        ip_format(&f->ends.remote, remote);
        gate_event_send(f->sandbox->gate,
                        json_pack("{s:s, s:s, s:I, s:s, s:i, s:s, s:i}", "event", "flow", "id", f->sandbox->id, "token", (json_int_t) f->token,
                                        "local", local, "localPort", (int) f->ends.local_port, "remote", remote, "remotePort",
                                        (int) f->ends.remote_port));
}

/* False: there is no connection out, and the flow is gone. */
static bool flow_begin(UdpFlow *f) {
        Gate *g = f->sandbox->gate;

        f->outside = connect_outside(&f->ends);
        if (f->outside < 0) {
                flow_free(f);
                return false;
        }
        f->token = ++g->flow_token;
        f->state = UDP_WAITING;
        f->active_at = clock_usec();
        HASH_ADD(token_hh, g->flows_waiting, token, sizeof(f->token), f);
        (void) sd_event_source_set_time_relative(f->timer, READY_USEC);
        (void) sd_event_source_set_enabled(f->timer, SD_EVENT_ONESHOT);
        ask_for_inside(f);
        return true;
}

static void on_flow_asked(bool allow, EgressReason reason, void *userdata) {
        EgressVerdict v = { .action = EGRESS_DENY, .reason = reason, .rule = -1 };
        UdpFlow *f = userdata;
        EgressQuestion q;

        f->ask = NULL;
        if (allow) {
                f->approved = true;
                (void) flow_begin(f);
                return;
        }
        (void) udp_decide(f->sandbox, &f->ends, &q);
        gate_tell_denied(f->sandbox, &v, &q);
        f->state = UDP_REFUSED;
        f->active_at = clock_usec();
}

static void flow_ask(UdpFlow *f, const EgressQuestion *q) {
        const EgressVerdict v = { .action = EGRESS_DENY, .reason = EGRESS_NOT_APPROVED, .rule = -1 };

        f->state = UDP_ASKING;
        f->ask = gate_ask(f->sandbox, q, on_flow_asked, f);
        if (!f->ask) {
                gate_tell_denied(f->sandbox, &v, q);
                flow_free(f);
        }
}

/* Limits new flows per second, with a burst after a pause: each is work for coved and PID 1 as well, which
 * serve others too. */
static bool udp_may_begin(GateSandbox *s) {
        usec_t now = clock_usec(), most = UDP_FLOWS_BURST * FLOW_COST;

        s->flows_credit = s->flows_at == 0 ? most : MIN_OF(s->flows_credit + (now - s->flows_at), most);
        s->flows_at = now;
        if (s->flows_credit < FLOW_COST)
                return false;
        s->flows_credit -= FLOW_COST;
        return true;
}

/* NULL: the datagram may not pass (yet). */
static UdpFlow *flow_for_first(GateSandbox *s, const UdpEnds *ends) {
        EgressQuestion q;
        EgressVerdict v = udp_decide(s, ends, &q);
        UdpFlow *f;

        if (v.action == EGRESS_DENY) {
                gate_tell_denied(s, &v, &q);
                return NULL;
        }
        f = udp_may_begin(s) ? flow_new(s, ends) : NULL; /* lost, as datagrams may be */
        if (!f)
                return NULL;
        if (v.action == EGRESS_ASK) {
                flow_ask(f, &q);
                return NULL;
        }
        gate_tell_allowed(s, &v, &q);
        return flow_begin(f) ? f : NULL;
}

static void datagram_arrived(GateSandbox *s, const UdpEnds *ends, const void *data, size_t size) {
        UdpFlow *f = flow_find(s, ends);

        if (!f)
                f = flow_for_first(s, ends);
        if (f && (f->state == UDP_WAITING || f->state == UDP_OPEN))
                (void) udp_pass_out(f, data, size);
}

/* The destination that the guest sent it to, before the rule redirected it here. */
static bool address_original(struct msghdr *m, SocketAddress *ret) {
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                size_t size = 0;

                if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_ORIGDSTADDR)
                        size = sizeof(ret->v4);
                else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_ORIGDSTADDR)
                        size = sizeof(ret->v6);
                if (size == 0 || c->cmsg_len < CMSG_LEN(size))
                        continue;
                memcpy(ret, CMSG_DATA(c), size);
                return true;
        }
        return false;
}

/* 1: there may be more; 0: nothing more for now. */
static int udp_datagram_take(GateSandbox *s, int fd) {
        uint8_t buffer[DATAGRAM_MAX];
        union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(sizeof(SocketAddress)) * 2];
        } control;
        SocketAddress from = { 0 }, to = { 0 };
        struct iovec iov = { buffer, sizeof(buffer) };
        struct msghdr m = {
                .msg_name = &from,
                .msg_namelen = sizeof(from),
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof(control),
        };
        ssize_t size = recvmsg(fd, &m, MSG_DONTWAIT);
        UdpEnds ends = { 0 };

        if (size < 0)
                return errno == EAGAIN ? 0 : 1;
        if (!address_original(&m, &to) || address_from_socket(&from.any, &ends.local, &ends.local_port) < 0 ||
                        address_from_socket(&to.any, &ends.remote, &ends.remote_port) < 0 || ends.remote_port == 0)
                return 1;
        datagram_arrived(s, &ends, buffer, (size_t) size);
        return 1;
}

int udp_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        share_works(userdata);
        for (int i = 0; i < DATAGRAMS_AT_ONCE && udp_datagram_take(userdata, fd) > 0; i++)
                ;
        return 0;
}

static void flow_set_priority(UdpFlow *f, int64_t priority) {
        if (f->inside_source)
                (void) sd_event_source_set_priority(f->inside_source, priority);
        if (f->outside_source)
                (void) sd_event_source_set_priority(f->outside_source, priority);
}

void udp_set_priority(GateSandbox *s, int64_t priority) {
        UdpFlow *f, *next;

        HASH_ITER(hh, s->flows, f, next)
                flow_set_priority(f, priority);
}

static int flow_open(UdpFlow *f, int fd) {
        sd_event *event = f->sandbox->gate->event;
        int r;

        flow_stop_waiting(f);
        f->state = UDP_OPEN;
        f->inside = fd;
        r = sd_event_add_io(event, &f->inside_source, f->inside, EPOLLIN, on_inside, f);
        if (r >= 0)
                r = sd_event_add_io(event, &f->outside_source, f->outside, EPOLLIN, on_outside, f);
        flow_set_priority(f, share_priority(f->sandbox));
        return r;
}

void udp_flow_ready(Gate *g, uint64_t token, int error, int fd) {
        _cleanup_close_ int owned = fd;
        UdpFlow *f;

        HASH_FIND(token_hh, g->flows_waiting, &token, sizeof(token), f);
        if (!f)
                return;
        if (error < 0 || owned < 0 || flow_open(f, TAKE_FD(owned)) < 0)
                flow_free(f);
}

void udp_policy_changed(GateSandbox *s) {
        UdpFlow *f, *next;

        HASH_ITER(hh, s->flows, f, next) {
                EgressQuestion q;
                EgressVerdict v = udp_decide(s, &f->ends, &q);

                if (f->state == UDP_REFUSED || v.action == EGRESS_DENY || (v.action == EGRESS_ASK && !f->approved && f->state != UDP_ASKING))
                        flow_free(f);
        }
}

void udp_sandbox_gone(GateSandbox *s) {
        while (s->flows)
                flow_free(s->flows);
}
