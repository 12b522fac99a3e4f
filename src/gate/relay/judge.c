/* judge.c: classifies a connection by its first bytes, and decides whether it may pass. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "gate/dns/dns.h"
#include "gate/relay/connection-internal.h"
#include "gate/relay/proxy.h"

#define LOOK_BYTES     (32 * 1024) /* a first TLS message is a tenth of that */
#define NAMES_MAX      16          /* names of one address that are tried */
#define TLS_HANDSHAKE  0x16
#define SILENCE_SHORT  (1 * USEC_PER_SEC)  /* before a denial or a question: clients of HTTP or TLS have spoken by then, and get a readable denial */
#define SILENCE_LONG   (30 * USEC_PER_SEC) /* it may yet turn out to be allowed */
#define TIMER_SLACK    (100 * USEC_PER_MSEC)

static void judge_deny(Connection *c, EgressReason reason) {
        connection_deny(c, &(EgressVerdict) { .action = EGRESS_DENY, .reason = reason, .rule = -1 });
}

static void judge_set_host(Connection *c, const char *host) {
        if (host != c->host)
                (void) snprintf(c->host, sizeof(c->host), "%s", host ? host : "");
}

/* Decides the connection as raw bytes, by each name that the guest was told this address for, and by number.
 * The best verdict counts; but if a rule denies any of them, the connection is denied. */
static EgressVerdict judge_raw(Connection *c, const char **ret_host) {
        const char *names[NAMES_MAX + 1] = { 0 };
        size_t n = pins_names(c->sandbox->pins, &c->address, names, NAMES_MAX);
        EgressVerdict best = { .action = EGRESS_DENY, .reason = EGRESS_RAW_ADDRESS, .rule = -1 };

        for (size_t i = 0; i <= n; i++) { /* the last is NULL: by number */
                EgressQuestion q = connection_question(c);
                EgressVerdict v;

                q.protocol = EGRESS_TCP;
                q.host = i < n ? names[i] : NULL;
                v = gate_decide(c->sandbox, &q);
                if (v.action == EGRESS_DENY && v.reason == EGRESS_BY_RULE) {
                        *ret_host = q.host;
                        return v;
                }
                if (i == 0 || (v.action == EGRESS_ALLOW && best.action != EGRESS_ALLOW) ||
                                (v.action == EGRESS_ASK && best.action == EGRESS_DENY)) {
                        best = v;
                        *ret_host = q.host;
                }
        }
        return best;
}

/* Whether the connection could be allowed as HTTP or TLS, by any name. */
static bool has_hope(Connection *c) {
        static const EgressProtocol protocols[] = { EGRESS_HTTPS, EGRESS_HTTP };
        const char *names[NAMES_MAX + 1] = { 0 };
        size_t n = pins_names(c->sandbox->pins, &c->address, names, NAMES_MAX);

        for (size_t i = 0; i <= n; i++)
                for (size_t k = 0; k < ELEMENTSOF(protocols); k++) {
                        EgressQuestion q = connection_question(c);

                        q.protocol = protocols[k];
                        q.host = i < n ? names[i] : NULL;
                        if (gate_decide(c->sandbox, &q).action != EGRESS_DENY)
                                return true;
                }
        return false;
}

/* Carrying a verdict out. */

static void judge_on_answer(bool allow, EgressReason reason, void *userdata);

static void judge_hold(Connection *c) {
        const EgressQuestion q = connection_question(c);

        c->timer = sd_event_source_disable_unref(c->timer);
        c->ask = gate_ask(c->sandbox, &q, judge_on_answer, c);
        if (!c->ask)
                judge_deny(c, EGRESS_NOT_APPROVED);
}

static bool must_be_opened(const Connection *c, const EgressVerdict *v) {
        const GateSandbox *s = c->sandbox;

        if (!c->tls)
                return false;
        return v->inspect || s->policy.inspect_all || s->policy.requests_max > 0 || (s->credentials && credentials_want(s->credentials, c->host));
}

static void judge_pass(Connection *c, const EgressVerdict *v) {
        if (must_be_opened(c, v))
                connection_open(c);
        else
                connection_clear(c);
}

static void judge_carry_out(Connection *c, const EgressVerdict *v) {
        if (v->action == EGRESS_ALLOW || (v->action == EGRESS_ASK && c->approved))
                judge_pass(c, v);
        else if (v->action == EGRESS_ASK)
                judge_hold(c);
        else
                connection_deny(c, v);
}

static void judge_on_answer(bool allow, EgressReason reason, void *userdata) {
        Connection *c = userdata;
        EgressQuestion q = connection_question(c);
        EgressVerdict v = gate_decide(c->sandbox, &q);

        c->ask = NULL;
        if (!allow) {
                judge_deny(c, reason);
                return;
        }
        c->approved = true;
        judge_carry_out(c, &v);
}

/* Judges the connection as TCP: it is nothing else, or the guest says nothing. */
static void judge_as_raw(Connection *c) {
        const char *host = NULL;
        EgressVerdict v = judge_raw(c, &host);

        c->protocol = EGRESS_TCP;
        c->tls = false;
        judge_set_host(c, host);
        judge_carry_out(c, &v);
}

/* TLS. */

/* Whether the connection may pass only if the gate inspects it. Without a known name the gate cannot open
 * it. */
static bool must_be_seen(const Connection *c, const EgressVerdict *v) {
        const EgressPolicy *p = &c->sandbox->policy;

        return v->inspect || p->inspect_all || p->requests_max > 0;
}

static void judge_unnamed_tls(Connection *c) {
        const char *host = NULL;
        EgressVerdict v = judge_raw(c, &host);

        if (v.action == EGRESS_DENY || must_be_seen(c, &v)) {
                c->protocol = EGRESS_HTTPS;
                judge_deny(c, v.action == EGRESS_DENY && v.reason == EGRESS_BY_RULE ? v.reason : EGRESS_NO_NAME);
                return;
        }
        judge_as_raw(c);
}

/* The guest was never told this address for the name. The connection may still pass, if the address is
 * allowed whatever the name. */
static void judge_mismatch(Connection *c) {
        EgressQuestion q = connection_question(c);
        EgressVerdict v;

        q.host = NULL;
        v = gate_decide(c->sandbox, &q);
        if (v.action == EGRESS_DENY || must_be_seen(c, &v)) {
                judge_deny(c, EGRESS_NAME_MISMATCH);
                return;
        }
        c->tls = false;
        judge_set_host(c, NULL);
        judge_carry_out(c, &v);
}

static void judge_hello(Connection *c, const TlsHello *hello) {
        char name[EGRESS_DOMAIN_MAX];
        EgressQuestion q;
        EgressVerdict v;

        if (!*hello->name) {
                judge_unnamed_tls(c);
                return;
        }
        c->protocol = EGRESS_HTTPS;
        if (egress_host_normalise(hello->name, strlen(hello->name), name) < 0) {
                judge_deny(c, EGRESS_MALFORMED);
                return;
        }
        judge_set_host(c, name);
        c->tls = true;
        q = connection_question(c);
        if (hello->encrypted && !c->sandbox->policy.allow_encrypted_hello && !gate_is_open(c->sandbox)) {
                judge_deny(c, EGRESS_ENCRYPTED_HELLO);
                return;
        }
        if (!gate_is_open(c->sandbox) && !pins_has(c->sandbox->pins, name, &c->address)) {
                judge_mismatch(c);
                return;
        }
        v = gate_decide(c->sandbox, &q);
        judge_carry_out(c, &v);
}

/* If the policy limits nothing, no bytes have to be looked at. */
static bool needs_no_look(const GateSandbox *s) {
        const EgressPolicy *p = &s->policy;

        return p->mode == NETWORK_OPEN && !p->learn && p->n_rules == 0 && s->grants.n == 0 && !s->credentials && !p->inspect_all &&
                        p->requests_max == 0 && p->request_bytes_max == 0 && p->response_bytes_max == 0;
}

/* The bytes. */

/* True: the connection was judged, and may be gone. False: more bytes are needed. */
static bool judge_tls(Connection *c, const uint8_t *data, size_t size) {
        TlsHello hello = { 0 };
        int r = hello_parse(data, size, &hello);

        if (r == 0 && size < LOOK_BYTES)
                return false;
        if (r > 0) {
                judge_hello(c, &hello);
                return true;
        }
        c->protocol = EGRESS_HTTPS;
        judge_deny(c, EGRESS_MALFORMED);
        return true;
}

/* HTTP/2 without TLS, which the gate cannot read: judged as bytes, unless the policy has to see requests. */
static void judge_http2(Connection *c) {
        const char *host = NULL;
        EgressVerdict v = judge_raw(c, &host);

        if (v.action != EGRESS_DENY && must_be_seen(c, &v)) {
                c->protocol = EGRESS_HTTP;
                judge_deny(c, EGRESS_MALFORMED);
        } else
                judge_as_raw(c);
}

static bool judge_bytes(Connection *c, const uint8_t *data, size_t size) {
        int r;

        if (data[0] == TLS_HANDSHAKE)
                return judge_tls(c, data, size);
        r = http_sniff(data, size);
        if (r == 0 && size < LOOK_BYTES)
                return false;
        if (r > 0) {
                c->tls = false;
                connection_open(c);
        } else if (r == -EPROTO)
                judge_http2(c);
        else
                judge_as_raw(c);
        return true;
}

void judge_look(void *userdata) {
        static uint8_t data[LOOK_BYTES]; /* one look at a time; nothing is kept */
        Connection *c = userdata;
        ssize_t n;

        if (c->ask) { /* it waits for an approval: only a hang-up matters */
                if (c->hung_up)
                        connection_reset(c);
                return;
        }
        n = recv(c->fd, data, sizeof(data), MSG_PEEK | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0)
                connection_reset(c);
        else if (!judge_bytes(c, data, (size_t) n) && c->hung_up)
                judge_as_raw(c);
}

int judge_on_bytes(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Connection *c = userdata;

        c->hung_up |= revents & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
        if (share_enter(c->sandbox, &c->turn))
                judge_look(c);
        return 0;
}

int judge_on_silence(sd_event_source *source, uint64_t usec, void *userdata) {
        Connection *c = userdata;

        share_works(c->sandbox);
        judge_as_raw(c);
        return 0;
}

static int start_looking(Connection *c, const EgressVerdict *raw) {
        sd_event *e = c->sandbox->gate->event;
        int r;

        /* Edge-triggered: bytes that were peeked at stay in the socket, and only new ones are worth another
         * look. */
        r = sd_event_add_io(e, &c->source, c->fd, EPOLLIN | EPOLLRDHUP | EPOLLET, judge_on_bytes, c);
        if (r < 0 || raw->action == EGRESS_ALLOW) /* no timeout: a guest gains nothing by staying silent */
                return r;
        return sd_event_add_time_relative(e, &c->timer, CLOCK_MONOTONIC,
                        raw->action == EGRESS_DENY && has_hope(c) ? SILENCE_LONG : SILENCE_SHORT, TIMER_SLACK, judge_on_silence, c);
}

void judge_accepted(Connection *c) {
        GateSandbox *s = c->sandbox;
        const char *host = NULL;
        EgressVerdict raw;

        if (!gate_is_reachable(s->gate, &c->address) && !gate_proxy_is_stand_in(s->gate, &c->address)) {
                judge_deny(c, EGRESS_SPECIAL_ADDRESS);
                return;
        }
        if (!gate_count_bytes(s, 0, 0)) {
                connection_reset(c);
                return;
        }
        raw = judge_raw(c, &host);
        if (raw.action == EGRESS_ALLOW && !raw.inspect && (!gate_is_open(s) || needs_no_look(s))) {
                judge_set_host(c, host);
                connection_clear(c); /* a rule allows it, whatever the protocol and whichever side speaks first */
                return;
        }
        if (start_looking(c, &raw) < 0)
                connection_reset(c);
        else if (raw.action == EGRESS_ALLOW)
                connection_dial_ahead(c);
}

void judge_policy_changed(Connection *c) {
        const EgressQuestion q = connection_question(c);
        EgressVerdict v;

        if (!c->cleared && !c->ask) { /* not judged yet: only ends a dial that was begun because everything was allowed */
                if ((c->dial || c->upstream_fd >= 0) && !gate_is_open(c->sandbox))
                        connection_reset(c);
                return;
        }
        v = gate_decide(c->sandbox, &q);
        if (c->ask && v.action == EGRESS_ASK)
                return;
        if (c->ask) {
                c->ask = ask_cancel(c->ask);
                judge_carry_out(c, &v);
        } else if (v.action == EGRESS_DENY || (v.action == EGRESS_ASK && !c->approved)) {
                connection_deny(c, &v);
        } else if (must_be_opened(c, &v)) {
                connection_reset(c); /* it began without inspection, which the policy requires; the guest may connect again */
        }
}
