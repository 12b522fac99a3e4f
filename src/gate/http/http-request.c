/* http-request.c: a request of the guest: its host, whether it may pass, and the connection to upstream. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fd.h"
#include "gate/dns/dns.h"
#include "gate/http/http-internal.h"
#include "gate/relay/proxy.h"

void http_asked_done(HttpExchange *x) {
        HttpAsked *a = &x->asked;

        x->sandbox->n_collecting -= a->collects;
        http_head_done(&a->head);
        http_target_done(&a->target);
        credential_filter_free(a->fill);
        credential_filter_free(a->find);
        text_wipe(&a->body);
        credential_filter_free(x->answered.mask);
        x->asked = (HttpAsked) { 0 };
        x->answered = (HttpAnswered) { 0 };
}

/* Sets what is known so far: a request that is refused half-read is reported too. */
static void make_question(HttpExchange *x) {
        HttpAsked *a = &x->asked;

        a->question = (EgressQuestion) {
                .protocol = x->tls ? EGRESS_HTTPS : EGRESS_HTTP,
                .host = *a->host ? a->host : NULL,
                .has_address = true,
                .address = x->address,
                .port = x->port,
                .method = a->head.method,
                .path = a->target.path,
        };
}

/* The host. */

static bool same_authority(const HttpAuthority *a, const HttpAuthority *b) {
        return a->is_address == b->is_address && a->port == b->port && strcmp(a->host, b->host) == 0 &&
                        (!a->is_address || memcmp(&a->address, &b->address, sizeof(a->address)) == 0);
}

/* Reads Host, with which an absolute target must agree. Returns 0 with is_address false and an empty host if
 * there is none. */
static int read_authority(const HttpExchange *x, HttpAuthority *ret) {
        const HttpAsked *a = &x->asked;
        const char *text = http_head_field(&a->head, "Host");
        HttpAuthority absolute;

        *ret = (HttpAuthority) { 0 };
        if (text && http_authority_parse(text, ret) < 0)
                return -EBADMSG;
        if (!a->target.authority)
                return 0;
        if (a->target.https != x->tls || http_authority_parse(a->target.authority, &absolute) < 0)
                return -EBADMSG;
        if (!text)
                *ret = absolute;
        return same_authority(ret, &absolute) ? 0 : -EBADMSG;
}

/* Host must be a name that the guest was told this address for, or the address itself. -EPERM: it is
 * neither. */
static int check_host(HttpExchange *x, const HttpAuthority *from) {
        const GateSandbox *s = x->sandbox;
        HttpAsked *a = &x->asked;

        if (from->port != 0 && from->port != x->port)
                return -EPERM;
        if (x->tls) {
                strcpy(a->host, x->host);
                return from->is_address || (*from->host && strcmp(from->host, x->host) != 0) ? -EPERM : 0;
        }
        if (from->is_address)
                return memcmp(&from->address, &x->address, sizeof(x->address)) == 0 ? 0 : -EPERM;
        if (*from->host && (gate_is_open(s) || pins_has(s->pins, from->host, &x->address)))
                strcpy(a->host, from->host);
        else if (*from->host) { /* a rule for the address itself allows any name */
                EgressQuestion q = a->question;

                q.host = NULL;
                return gate_decide(s, &q).action == EGRESS_DENY ? -EPERM : 0;
        }
        return 0;
}

/* Writes the Host that is sent on: what was checked, and nothing else. */
static void write_authority(HttpExchange *x, const HttpAuthority *from) {
        char number[46] = "", port[8] = "";
        const char *name = from->host;
        HttpAsked *a = &x->asked;

        if (from->is_address) {
                ip_format(&from->address, number);
                name = number;
        }
        if (from->port != 0)
                (void) snprintf(port, sizeof(port), ":%u", (unsigned) from->port);
        if (strchr(number, ':'))
                (void) snprintf(a->authority, sizeof(a->authority), "[%s]%s", name, port);
        else
                (void) snprintf(a->authority, sizeof(a->authority), "%s%s", name, port);
}

/* Decisions. */

static bool is_websocket(const HttpHead *h) {
        const char *to = http_head_field(h, "Upgrade");

        return to && strcasecmp(to, "websocket") == 0 && http_head_count(h, "Upgrade") == 1 && h->minor == 1 && h->framing == FRAMING_NONE &&
                        strcmp(h->method, "GET") == 0 && http_head_has_word(h, "Connection", "upgrade");
}

static bool is_lower(const char *method) {
        for (; *method; method++)
                if (*method >= 'a' && *method <= 'z')
                        return true;
        return false;
}

/* Returns EGRESS_BY_RULE, or the reason to refuse. */
static EgressReason read_rest(HttpExchange *x) {
        HttpAsked *a = &x->asked;
        HttpAuthority authority;
        int r;

        if (x->tls)
                strcpy(a->host, x->host);
        make_question(x);
        if (strcasecmp(a->head.method, "CONNECT") == 0)
                return EGRESS_CONNECT;
        if (is_lower(a->head.method) || http_target_parse(a->head.method, a->head.target, &a->target) < 0) /* servers may differ on whether "get" is GET */
                return EGRESS_MALFORMED;
        make_question(x);
        if (read_authority(x, &authority) < 0)
                return EGRESS_MALFORMED;
        if (!authority.is_address && !*authority.host && a->head.minor > 0)
                return EGRESS_NO_NAME;
        r = check_host(x, &authority);
        if (r < 0 && *authority.host) /* the report has the name that the guest claimed */
                strcpy(a->host, authority.host);
        make_question(x);
        if (r < 0)
                return EGRESS_NAME_MISMATCH;
        write_authority(x, &authority);
        a->websocket = is_websocket(&a->head);
        a->expects = http_head_has_word(&a->head, "Expect", "100-continue");
        return EGRESS_BY_RULE;
}

/* Whether the request carries a placeholder to a host where it does not belong. */
static bool is_misplaced(HttpExchange *x) {
        const HttpAsked *a = &x->asked;
        CredentialFilter *f = NULL;
        bool found;

        if (!x->credentials)
                return false;
        if (credential_filter_new_find(x->credentials, x->tls ? x->host : NULL, &f) < 0)
                return true; /* refuse rather than overlook */
        found = credential_find_text(f, a->head.target);
        for (size_t i = 0; i < a->head.n_fields && !found; i++)
                found = credential_find_field(f, a->head.fields + i);
        credential_filter_free(f);
        return found;
}

static int prepare_body(HttpExchange *x) {
        const char *host = x->tls ? x->host : NULL;
        HttpAsked *a = &x->asked;
        int r = 0;

        if (!x->credentials || a->head.framing == FRAMING_NONE)
                return 0;
        r = credential_filter_new_find(x->credentials, host, &a->find);
        if (r >= 0 && credentials_want_in(x->credentials, host, CREDENTIAL_BODY))
                r = credential_filter_new_fill(x->credentials, host, CREDENTIAL_BODY, credential_form_of(http_head_field(&a->head, "Content-Type")),
                                &a->fill);
        return r;
}

static int let_pass(HttpExchange *x, const EgressVerdict *v);

static void http_request_on_answer(bool allow, EgressReason reason, void *userdata) {
        HttpExchange *x = userdata;
        const EgressVerdict v = { .action = EGRESS_ALLOW, .reason = EGRESS_BY_RULE, .rule = -1 };

        x->ask = NULL;
        if (allow) {
                x->approved = true;
                strcpy(x->approved_host, x->asked.host);
                (void) let_pass(x, &v);
        } else
                (void) http_deny_because(x, reason);
        http_pump(x);
}

static int http_request_ask(HttpExchange *x) {
        x->ask = gate_ask(x->sandbox, &x->asked.question, http_request_on_answer, x);
        if (!x->ask)
                return http_deny_because(x, EGRESS_NOT_APPROVED);
        http_go(x, HTTP_STEP_ASK);
        return 1;
}

/* An approval is for one host: a connection may carry requests for several hosts of one address. */
bool http_is_approved(const HttpExchange *x) {
        return x->approved && strcmp(x->approved_host, x->asked.host) == 0;
}

/* TRACE is answered with the request as the proxy has read it. */
static bool http_request_reads_password(const HttpExchange *x) {
        const ProxyServer *proxy = x->tls || strcmp(x->asked.head.method, "TRACE") != 0 ? NULL : gate_proxy_for(x->sandbox, &x->asked.question);

        return proxy && proxy->authorization;
}

static int http_request_judge(HttpExchange *x) {
        const EgressPolicy *p = &x->sandbox->policy;
        const HttpHead *h = &x->asked.head;
        EgressVerdict v = gate_decide(x->sandbox, &x->asked.question);

        x->policy_changed = false;
        if (v.action == EGRESS_DENY)
                return http_deny(x, &v);
        if (http_request_reads_password(x))
                return http_deny_because(x, EGRESS_METHOD);
        if (p->request_bytes_max > 0 && h->framing == FRAMING_LENGTH && h->length > p->request_bytes_max)
                return http_deny_because(x, EGRESS_REQUEST_SIZE);
        if (is_misplaced(x))
                return http_deny_because(x, EGRESS_CREDENTIAL);
        if (v.action == EGRESS_ASK && !http_is_approved(x))
                return http_request_ask(x);
        return let_pass(x, &v);
}

/* The connection to upstream. */

static void on_stream_changed(void *userdata) {
        http_enter(userdata);
}

static int start_upstream(HttpExchange *x, int fd) {
        Gate *g = x->sandbox->gate;
        TlsSession *tls = NULL;
        int r;

        if (x->tls) {
                r = tls_connect(g->tls, x->host, fd, &tls);
                if (r < 0) {
                        (void) fd_close(fd);
                        return r;
                }
        }
        return stream_new(g->event, fd, tls, &x->sandbox->down, on_stream_changed, x, &x->upstream);
}

static void http_request_on_dialed(int error, int fd, void *userdata) {
        HttpExchange *x = userdata;

        x->dial = dial_free(x->dial);
        if (error >= 0)
                error = start_upstream(x, fd);
        if (error < 0)
                (void) http_fail(x, strerror(-error));
        http_enter(x);
}

/* Plain requests of one connection may be for several hosts, some of which are reached through a proxy. */
static int http_request_dial(HttpExchange *x) {
        const EgressQuestion *q = &x->asked.question;
        const DialTarget to = { .address = x->address, .port = x->port, .proxy = gate_proxy_for(x->sandbox, q), .host = q->host, .tunnel = x->tls };
        bool by_proxy = to.proxy && !x->tls;
        int r;

        if (x->upstream && by_proxy != x->by_proxy)
                x->upstream = stream_free(x->upstream);
        if (x->upstream)
                return 1;
        x->by_proxy = by_proxy;
        if (by_proxy) /* one that does not know WebSockets would read what follows as requests to itself */
                x->asked.websocket = false;
        x->reused = false;
        r = dial_new(x->sandbox->gate, &to, http_request_on_dialed, x, &x->dial);
        return r < 0 ? http_fail(x, strerror(-r)) : 1;
}

static int let_pass(HttpExchange *x, const EgressVerdict *v) {
        HttpAsked *a = &x->asked;

        if (!gate_count_request(x->sandbox, &a->question))
                return http_deny_told(x, EGRESS_REQUESTS);
        gate_tell_allowed(x->sandbox, v, &a->question);
        if (x->sandbox->policy.request_timeout_usec > 0)
                a->deadline = clock_usec() + x->sandbox->policy.request_timeout_usec;
        if (prepare_body(x) < 0) {
                http_over(x);
                return 1;
        }
        http_go(x, HTTP_STEP_CONNECT);
        return http_request_dial(x);
}

int http_step_connect(HttpExchange *x) {
        Error error = { 0 };
        int r;

        if (!x->upstream)
                return 0;
        r = stream_shake(x->upstream, &error);
        if (r == -EAGAIN)
                return 0;
        if (r < 0)
                return http_fail(x, *error.text ? error.text : strerror(-r));
        if (http_must_collect(x)) {
                if (x->asked.expects)
                        stream_put(x->guest, "HTTP/1.1 100 Continue\r\n\r\n", 25);
                x->asked.collects = true;
                x->sandbox->n_collecting++;
                http_go(x, HTTP_STEP_COLLECT);
                return 1;
        }
        http_go(x, HTTP_STEP_PASS);
        return http_send_head(x, /* body= */ NULL);
}

/* Reading it. */

/* Between requests: if upstream has closed, or sends bytes unasked, the guest's connection ends too. */
static bool upstream_is_gone(const HttpExchange *x) {
        return x->upstream && (x->upstream->ended || x->upstream->error < 0 || stream_size(x->upstream) > 0);
}

static int wait_for_head(HttpExchange *x) {
        if (x->guest->ended) {
                http_go(x, HTTP_STEP_DRAIN); /* the last response may still be on its way */
                return 1;
        }
        if (!x->head_begun && stream_size(x->guest) > 0) {
                x->head_begun = true;
                http_go(x, HTTP_STEP_HEAD); /* starts its timeout */
        }
        return 0;
}

static void take_credentials(HttpExchange *x) {
        if (x->credentials == x->sandbox->credentials)
                return;
        credentials_free(x->credentials);
        x->credentials = credentials_ref(x->sandbox->credentials);
}

int http_step_head(HttpExchange *x) {
        HttpAsked *a = &x->asked;
        EgressReason reason;
        int r;

        if (upstream_is_gone(x)) {
                x->upstream = stream_free(x->upstream);
                http_go(x, HTTP_STEP_DRAIN);
                return 1;
        }
        if (!stream_has_room(x->guest)) /* the guest reads no responses: read no requests */
                return 0;
        while (!x->head_begun && stream_size(x->guest) >= 2 && memcmp(stream_data(x->guest), "\r\n", 2) == 0)
                stream_use(x->guest, 2); /* some clients send an extra CRLF after a body */
        r = http_head_read_request(stream_data(x->guest), stream_size(x->guest), &x->scanned, &a->head);
        if (r == 0)
                return wait_for_head(x);
        x->scanned = 0;
        if (r < 0) {
                make_question(x);
                return http_deny_because(x, EGRESS_MALFORMED);
        }
        stream_use(x->guest, a->head.size);
        http_frame_init(&a->frame, a->head.framing, a->head.length);
        take_credentials(x);
        reason = read_rest(x);
        return reason == EGRESS_BY_RULE ? http_request_judge(x) : http_deny_because(x, reason);
}
