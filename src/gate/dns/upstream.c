#include "gate/dns/upstream.h"

#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <uthash.h>
#include <utlist.h>

#include "base/macro.h"
#include "base/parse.h"

#define TRY_MSEC    1500 /* the second try has twice as long: 4.5 s with one server */
#define TRIES       2
#define SERVERS_MAX 8
#define TIMER_SLACK_USEC (10 * USEC_PER_MSEC)

typedef struct UpstreamSocket {
        Upstream *upstream;
        sd_event_source *source;
        int fd;
        UT_hash_handle hh;
} UpstreamSocket;

/* One question that c-ares has. */
typedef struct UpstreamQuery {
        Upstream *upstream;
        struct UpstreamQuery *prev, *next;
        UpstreamDone done;
        void *userdata;
        int family;
        char name[EGRESS_DOMAIN_MAX];
} UpstreamQuery;

struct Upstream {
        sd_event *event;
        ares_channel channel; /* NULL: no servers yet */
        sd_event_source *timer;
        UpstreamSocket *sockets;
        UpstreamQuery *queries;
        bool library; /* ares_library_init() was called */
};

static void timer_set(Upstream *u) {
        struct timeval t, *wanted = u->channel ? ares_timeout(u->channel, NULL, &t) : NULL;

        if (!wanted) {
                (void) sd_event_source_set_enabled(u->timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time_relative(u->timer, (usec_t) wanted->tv_sec * USEC_PER_SEC + (usec_t) wanted->tv_usec);
        (void) sd_event_source_set_enabled(u->timer, SD_EVENT_ONESHOT);
}

static int on_upstream_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Upstream *u = userdata;

        ares_process_fd(u->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        timer_set(u);
        return 0;
}

static int on_upstream_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Upstream *u = ((UpstreamSocket *) userdata)->upstream; /* c-ares may close it now */

        ares_process_fd(u->channel,
                        revents & (EPOLLIN | EPOLLERR | EPOLLHUP) ? fd : ARES_SOCKET_BAD,
                        revents & EPOLLOUT ? fd : ARES_SOCKET_BAD);
        timer_set(u);
        return 0;
}

static void socket_forget(UpstreamSocket *s) {
        HASH_DELETE(hh, s->upstream->sockets, s);
        sd_event_source_disable_unref(s->source);
        free(s);
}

static UpstreamSocket *socket_watch(Upstream *u, int fd) {
        UpstreamSocket *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        if (sd_event_add_io(u->event, &s->source, fd, 0, on_upstream_io, s) < 0) {
                free(s);
                return NULL;
        }
        s->upstream = u;
        s->fd = fd;
        HASH_ADD_INT(u->sockets, fd, s);
        return s;
}

/* c-ares reports what it waits for and, before it closes a socket, that it waits for nothing. If a socket
 * cannot be watched for lack of memory, its question times out. */
static void on_upstream_socket(void *userdata, ares_socket_t fd, int readable, int writable) {
        uint32_t events = (readable ? EPOLLIN : 0) | (writable ? EPOLLOUT : 0);
        Upstream *u = userdata;
        UpstreamSocket *s;

        HASH_FIND_INT(u->sockets, &fd, s);
        if (events == 0) {
                if (s)
                        socket_forget(s);
                return;
        }
        if (!s)
                s = socket_watch(u, fd);
        if (s)
                (void) sd_event_source_set_io_events(s->source, events);
}

static void read_a(const unsigned char *data, int size, ResolverAnswer *ret, int *ret_status) {
        struct ares_addrttl found[RESOLVER_ADDRESSES_MAX];
        int n = RESOLVER_ADDRESSES_MAX;

        *ret_status = ares_parse_a_reply(data, size, NULL, found, &n);
        for (int i = 0; *ret_status == ARES_SUCCESS && i < n; i++) {
                IpAddress *a = ret->addresses + ret->n_addresses++;

                a->bytes[10] = a->bytes[11] = 0xff;
                memcpy(a->bytes + 12, &found[i].ipaddr, 4);
                ret->ttl = MIN_OF(ret->ttl, (uint32_t) MAX_OF(found[i].ttl, 0));
        }
}

static void read_aaaa(const unsigned char *data, int size, ResolverAnswer *ret, int *ret_status) {
        struct ares_addr6ttl found[RESOLVER_ADDRESSES_MAX];
        int n = RESOLVER_ADDRESSES_MAX;

        *ret_status = ares_parse_aaaa_reply(data, size, NULL, found, &n);
        for (int i = 0; *ret_status == ARES_SUCCESS && i < n; i++) {
                IpAddress *a = ret->addresses + ret->n_addresses++;

                memcpy(a->bytes, &found[i].ip6addr, sizeof(a->bytes));
                ret->ttl = MIN_OF(ret->ttl, (uint32_t) MAX_OF(found[i].ttl, 0));
        }
}

/* c-ares has checked that this answers our question, and has asked the next server after those that failed. */
static int answer_read(int family, const unsigned char *data, int size, ResolverAnswer *ret) {
        int rcode = size >= NS_HFIXEDSZ ? data[3] & 0xf : ns_r_formerr;
        int status;

        if (rcode == ns_r_nxdomain)
                return -ENOENT;
        if (rcode != ns_r_noerror)
                return -EBADMSG;
        ret->ttl = UINT32_MAX;
        if (family == AF_INET6)
                read_aaaa(data, size, ret, &status);
        else
                read_a(data, size, ret, &status);
        if (status == ARES_ENODATA || (status == ARES_SUCCESS && ret->n_addresses == 0))
                return -ENODATA;
        return status == ARES_SUCCESS ? 0 : -EBADMSG;
}

static int status_to_errno(int status) {
        switch (status) {
        case ARES_ETIMEOUT:
                return -ETIMEDOUT;
        case ARES_EBADRESP:
        case ARES_EBADNAME:
        case ARES_EFORMERR:
                return -EBADMSG;
        case ARES_ENOMEM:
                return -ENOMEM;
        default:
                return -EHOSTUNREACH; /* also when every server says that it failed or refuses */
        }
}

static void query_end(UpstreamQuery *q, const ResolverAnswer *a) {
        UpstreamDone done = q->done;
        void *userdata = q->userdata;

        DL_DELETE(q->upstream->queries, q);
        free(q);
        done(a, userdata);
}

static void query_send(UpstreamQuery *q);

static void on_upstream_answer(void *userdata, int status, int timeouts, unsigned char *data, int size) {
        ResolverAnswer a = { 0 };
        UpstreamQuery *q = userdata;

        if (status == ARES_EDESTRUCTION) { /* the servers were replaced: asks the new ones */
                query_send(q);
                return;
        }
        if (status == ARES_SUCCESS)
                a.error = answer_read(q->family, data, size, &a);
        else
                a.error = status_to_errno(status);
        if (a.error < 0)
                a = (ResolverAnswer) { .error = a.error };
        query_end(q, &a);
}

/* The gate chooses the id of the question: c-ares falls back to rand(3) if it cannot open /dev/urandom, as
 * in the confined gate. */
static void query_send(UpstreamQuery *q) {
        unsigned char *message = NULL;
        uint16_t id;
        int size;

        if (!q->upstream->channel || getrandom(&id, sizeof(id), 0) != sizeof(id)) {
                query_end(q, &(ResolverAnswer) { .error = -EHOSTUNREACH });
                return;
        }
        if (ares_create_query(q->name, ns_c_in, q->family == AF_INET6 ? ns_t_aaaa : ns_t_a, id, /* rd= */ 1, &message, &size,
                        /* max_udp_size= */ 0) != ARES_SUCCESS) {
                query_end(q, &(ResolverAnswer) { .error = -EBADMSG });
                return;
        }
        ares_send(q->upstream->channel, message, size, on_upstream_answer, q);
        ares_free_string(message);
}

void upstream_ask(Upstream *u, const char *name, int family, UpstreamDone done, void *userdata) {
        UpstreamQuery *q = calloc(1, sizeof(*q));

        if (!q) {
                done(&(ResolverAnswer) { .error = -ENOMEM }, userdata);
                return;
        }
        q->upstream = u;
        q->done = done;
        q->userdata = userdata;
        q->family = family;
        (void) snprintf(q->name, sizeof(q->name), "%s", name);
        DL_APPEND(u->queries, q);
        query_send(q);
        timer_set(u);
}

/* "1.2.3.4", "1.2.3.4:53", "2001:db8::1", "[2001:db8::1]:53" */
static int server_parse(const char *text, struct ares_addr_port_node *ret) {
        char host[INET6_ADDRSTRLEN];
        const char *begin = text, *end, *port = NULL;
        uint64_t n = 53;

        if (*text == '[') {
                begin = text + 1;
                end = strchr(begin, ']');
                if (!end || (end[1] != '\0' && end[1] != ':'))
                        return -EINVAL;
                port = end[1] == ':' ? end + 2 : NULL;
        } else {
                end = strchr(text, ':');
                if (end && !strchr(end + 1, ':'))
                        port = end + 1;
                else
                        end = text + strlen(text);
        }
        if (end == begin || (size_t) (end - begin) >= sizeof(host))
                return -EINVAL;
        memcpy(host, begin, (size_t) (end - begin));
        host[end - begin] = '\0';
        if (port && parse_uint64(port, 1, UINT16_MAX, &n) < 0)
                return -EINVAL;

        *ret = (struct ares_addr_port_node) { .udp_port = (int) n, .tcp_port = (int) n };
        ret->family = AF_INET;
        if (inet_pton(AF_INET, host, &ret->addr.addr4) == 1)
                return 0;
        ret->family = AF_INET6;
        return inet_pton(AF_INET6, host, &ret->addr.addr6) == 1 ? 0 : -EINVAL;
}

static int channel_new(Upstream *u, ares_channel *ret) {
        struct ares_options options = {
                .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
                .timeout = TRY_MSEC,
                .tries = TRIES,
                .lookups = (char *) "b",
                .sock_state_cb = on_upstream_socket,
                .sock_state_cb_data = u,
        };
        int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;

        return ares_init_options(ret, &options, mask) == ARES_SUCCESS ? 0 : -ENOMEM;
}

int upstream_set_servers(Upstream *u, const char *const *servers, size_t n, Error *reterr) {
        struct ares_addr_port_node nodes[SERVERS_MAX];
        ares_channel channel, old = u->channel;

        if (n > SERVERS_MAX)
                return error_set(reterr, -E2BIG, "%zu name servers; the maximum is %d", n, SERVERS_MAX);
        for (size_t i = 0; i < n; i++) {
                if (server_parse(servers[i], nodes + i) < 0)
                        return error_set(reterr, -EINVAL, "'%s' is not a name server; use ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT", servers[i]);
                nodes[i].next = i + 1 < n ? nodes + i + 1 : NULL;
        }
        if (channel_new(u, &channel) < 0)
                return error_set(reterr, -ENOMEM, "cannot set c-ares up");
        if (n > 0 && ares_set_servers_ports(channel, nodes) != ARES_SUCCESS) {
                ares_destroy(channel);
                return error_set(reterr, -ENOMEM, "cannot set the name servers");
        }
        u->channel = channel;
        if (old)
                ares_destroy(old); /* its questions are asked again on the new one */
        timer_set(u);
        return 0;
}

int upstream_new(sd_event *event, Upstream **ret) {
        Upstream *u = calloc(1, sizeof(*u));
        int r;

        if (!u)
                return -ENOMEM;
        u->event = sd_event_ref(event);
        u->library = ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
        r = u->library ? sd_event_add_time_relative(event, &u->timer, CLOCK_MONOTONIC, 0, TIMER_SLACK_USEC, on_upstream_timer, u) : -ENOMEM;
        if (r >= 0)
                r = sd_event_source_set_enabled(u->timer, SD_EVENT_OFF);
        if (r < 0) {
                upstream_free(u);
                return r;
        }
        *ret = u;
        return 0;
}

static void forget_answer(const ResolverAnswer *a, void *userdata) {
}

Upstream *upstream_free(Upstream *u) {
        ares_channel channel;
        UpstreamQuery *q;

        if (!u)
                return NULL;
        DL_FOREACH(u->queries, q)
                q->done = forget_answer;
        channel = u->channel;
        u->channel = NULL; /* so that nothing is asked anew */
        if (channel)
                ares_destroy(channel);
        sd_event_source_disable_unref(u->timer);
        sd_event_unref(u->event);
        if (u->library)
                ares_library_cleanup();
        free(u);
        return NULL;
}
