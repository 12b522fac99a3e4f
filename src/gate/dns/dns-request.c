/* dns-request.c: one question, from the decision to the answer.
 *
 *      read → decide ─ denied ───────────────────────────────→ REFUSED, reported
 *               │ ask: waits for the approval ─ denied ──────→ REFUSED
 *               │ a type without addresses, or no IPv6 ──────→ no data
 *             look up (cached, or within the rate to upstream) → reachable addresses, pinned → answer */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/macro.h"
#include "gate/dns/dns-internal.h"
#include "gate/relay/proxy.h"

#define GROUP_SUFFIX    ".cove"
#define GROUP_TTL       5 /* members come and go */
#define STAND_IN_TTL    60 /* the proxy may change */
#define UPSTREAM_USEC   (USEC_PER_SEC / DNS_UPSTREAM_PER_SEC) /* the cost of one question */
#define WORDS_MAX       (2 * EGRESS_TEXT_MAX + 32)

struct DnsRequest {
        DnsServer *server;
        DnsRequest *prev, *next;
        DnsClient client;
        DnsQuestion question;
        Ask *ask;
        ResolverCall *call;
};

/* "_http._tcp.deb.debian.org" asks who serves deb.debian.org, as apt does before it looks the name up. Such a question
 * has no answer here and carries nothing out: it is judged as one about the host. */
static const char *dns_host(const DnsQuestion *q) {
        const char *host = q->name, *dot;

        while (q->type == DNS_TYPE_SRV && host[0] == '_' && (dot = strchr(host, '.')))
                host = dot + 1;
        return host;
}

static EgressQuestion egress_question(const DnsQuestion *q) {
        return (EgressQuestion) { .protocol = EGRESS_DNS, .host = dns_host(q) };
}

static void send_rcode(DnsServer *v, const DnsClient *client, const DnsQuestion *q, DnsRcode rcode) {
        dns_send(v, client, q, &(DnsAnswer) { .rcode = rcode });
}

static void send_failure(DnsServer *v, const DnsClient *client, const DnsQuestion *q, const char *words) {
        dns_send(v, client, q, &(DnsAnswer) { .rcode = DNS_SERVFAIL, .extended = DNS_NETWORK_ERROR, .text = words });
}

/* Refuses with a text that says what would allow it, and reports the denial. */
static void send_denial(DnsServer *v, const DnsClient *client, const DnsQuestion *q, const EgressVerdict *verdict, const EgressQuestion *eq) {
        char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX], words[WORDS_MAX];

        egress_explain(&v->sandbox->policy, verdict, eq, text, cure);
        (void) snprintf(words, sizeof(words), "%s%s%s", text, cure[0] ? " " : "", cure);
        gate_tell_denied(v->sandbox, verdict, eq);
        dns_send(v, client, q, &(DnsAnswer) { .rcode = DNS_REFUSED, .extended = DNS_BLOCKED, .text = words });
}

void dns_request_free(DnsRequest *r) {
        DnsServer *v = r->server;

        DL_DELETE(v->requests, r);
        v->n_requests--;
        if (r->ask)
                (void) ask_cancel(r->ask);
        (void) resolver_cancel(r->call);
        if (r->client.tcp)
                dns_tcp_end(r->client.tcp);
        free(r);
}

void dns_requests_drop(DnsServer *v, const DnsTcp *t) {
        DnsRequest *r, *next;

        DL_FOREACH_SAFE(v->requests, r, next)
                if (r->client.tcp == t)
                        dns_request_free(r);
}

/* Resolvers repeat a question that gets no answer: the first one is still waiting. */
static bool is_repetition(const DnsServer *v, const DnsClient *client, const DnsQuestion *q) {
        const DnsRequest *r;

        DL_FOREACH(v->requests, r)
                if (!client->tcp && !r->client.tcp && r->question.id == q->id && r->question.type == q->type &&
                                r->client.from.sin6_port == client->from.sin6_port &&
                                memcmp(&r->client.from.sin6_addr, &client->from.sin6_addr, sizeof(client->from.sin6_addr)) == 0 &&
                                strcmp(r->question.name, q->name) == 0)
                        return true;
        return false;
}

static DnsRequest *dns_request_new(DnsServer *v, const DnsClient *client, const DnsQuestion *q) {
        DnsRequest *r = v->n_requests < DNS_REQUESTS_MAX ? calloc(1, sizeof(*r)) : NULL;

        if (!r)
                return NULL;
        r->server = v;
        r->client = *client;
        r->question = *q;
        DL_APPEND(v->requests, r);
        v->n_requests++;
        if (client->tcp)
                dns_tcp_begin(client->tcp);
        return r;
}

/* Leaves out addresses that may not be reached. The first such verdict is reported if no address is left. */
static size_t keep_reachable(const DnsRequest *r, const ResolverAnswer *a, IpAddress *ret, EgressQuestion *eq, EgressVerdict *ret_verdict) {
        bool denied = false;
        size_t n = 0;

        for (size_t i = 0; i < a->n_addresses; i++) {
                EgressQuestion each = egress_question(&r->question);
                EgressVerdict v;

                each.has_address = true;
                each.address = a->addresses[i];
                v = gate_decide(r->server->sandbox, &each);
                if (v.action != EGRESS_DENY) /* an approved name still has the verdict ASK */
                        ret[n++] = each.address;
                else if (!denied) {
                        denied = true;
                        *eq = each;
                        *ret_verdict = v;
                }
        }
        return n;
}

/* An address is pinned before the guest learns of it, so that connections find the pin. An address that
 * cannot be pinned is left out of the answer. */
static size_t pin_all(GateSandbox *s, const char *name, const IpAddress *addresses, size_t n) {
        size_t done = 0;

        while (done < n && pins_add(s->pins, name, addresses + done, clock_usec()) >= 0)
                done++;
        return done;
}

static void send_addresses(DnsRequest *r, const ResolverAnswer *a) {
        IpAddress reachable[RESOLVER_ADDRESSES_MAX];
        DnsServer *v = r->server;
        EgressVerdict verdict;
        EgressQuestion eq;
        size_t n = keep_reachable(r, a, reachable, &eq, &verdict);

        if (n == 0) {
                send_denial(v, &r->client, &r->question, &verdict, &eq);
                return;
        }
        n = pin_all(v->sandbox, r->question.name, reachable, n);
        if (n == 0) {
                send_rcode(v, &r->client, &r->question, DNS_SERVFAIL);
                return;
        }
        dns_send(v, &r->client, &r->question, &(DnsAnswer) { .addresses = reachable, .n_addresses = n, .ttl = a->ttl });
}

static void on_resolved(const ResolverAnswer *a, void *userdata) {
        char words[EGRESS_TEXT_MAX];
        DnsRequest *r = userdata;

        r->call = NULL;
        if (a->error == 0 && a->n_addresses > 0)
                send_addresses(r, a);
        else if (a->error == -ENOENT)
                send_rcode(r->server, &r->client, &r->question, DNS_NXDOMAIN);
        else if (a->error == 0 || a->error == -ENODATA)
                send_rcode(r->server, &r->client, &r->question, DNS_NOERROR);
        else {
                (void) snprintf(words, sizeof(words), "%s is allowed, but the host's name servers could not resolve it: %s", r->question.name,
                                strerror(-a->error));
                send_failure(r->server, &r->client, &r->question, words);
        }
        dns_request_free(r);
}

/* Limits questions per second, with a burst after a pause. */
static bool upstream_allows(DnsServer *v) {
        usec_t now = clock_usec();

        v->upstream_credit = MIN_OF(v->upstream_credit + (now - v->upstream_at), DNS_UPSTREAM_BURST * UPSTREAM_USEC);
        v->upstream_at = now;
        if (v->upstream_credit < UPSTREAM_USEC)
                return false;
        v->upstream_credit -= UPSTREAM_USEC;
        return true;
}

/* The proxy will look the name up. A stand-in is an IPv4 address only. */
static void answer_stand_in(DnsRequest *r) {
        GateSandbox *s = r->server->sandbox;
        DnsAnswer answer = { .rcode = DNS_NOERROR, .ttl = STAND_IN_TTL };
        IpAddress address;

        gate_proxy_stand_in(r->question.name, &address);
        if (r->question.type != DNS_TYPE_A)
                dns_send(r->server, &r->client, &r->question, &answer);
        else if (pin_all(s, r->question.name, &address, 1) == 0)
                send_rcode(r->server, &r->client, &r->question, DNS_SERVFAIL);
        else {
                answer.addresses = &address;
                answer.n_addresses = 1;
                dns_send(r->server, &r->client, &r->question, &answer);
        }
        dns_request_free(r);
}

static void request_look_up(DnsRequest *r) {
        Resolver *resolver = r->server->sandbox->gate->resolver;
        int family = r->question.type == DNS_TYPE_A ? AF_INET : AF_INET6;

        if (gate_proxy_has_name(r->server->sandbox, r->question.name)) {
                answer_stand_in(r);
                return;
        }
        if (!resolver_knows(resolver, r->question.name, family) && !upstream_allows(r->server)) {
                send_failure(r->server, &r->client, &r->question, "too many names are being resolved; try again in a second");
                dns_request_free(r);
                return;
        }
        r->call = resolver_ask(resolver, r->question.name, family, on_resolved, r);
        if (!r->call) {
                send_rcode(r->server, &r->client, &r->question, DNS_SERVFAIL);
                dns_request_free(r);
        }
}

static void on_asked(bool allow, EgressReason reason, void *userdata) {
        DnsRequest *r = userdata;
        const EgressVerdict verdict = { .action = EGRESS_DENY, .reason = reason, .rule = -1 };
        EgressQuestion eq = egress_question(&r->question);

        r->ask = NULL;
        if (allow) {
                request_look_up(r);
                return;
        }
        send_denial(r->server, &r->client, &r->question, &verdict, &eq);
        dns_request_free(r);
}

static void request_ask(DnsRequest *r) {
        EgressQuestion eq = egress_question(&r->question);

        r->ask = gate_ask(r->server->sandbox, &eq, on_asked, r);
        if (!r->ask) { /* coved is not connected, or too many questions are open */
                const EgressVerdict verdict = { .action = EGRESS_DENY, .reason = EGRESS_NOT_APPROVED, .rule = -1 };

                send_denial(r->server, &r->client, &r->question, &verdict, &eq);
                dns_request_free(r);
        }
}

/* If a rule asks, policy/ lets the lookup of the name pass, because the connection is asked about later. But
 * a lookup already carries data out in its labels, so the approval must come before it. */
static bool must_ask(const GateSandbox *s, const EgressVerdict *v) {
        const EgressRule *rule = gate_rule(s, v->rule);

        return v->action == EGRESS_ASK || (rule && rule->action == EGRESS_ASK);
}

/* A guest needs no other types, and they must carry nothing out. */
static bool has_data(const GateSandbox *s, const DnsQuestion *q) {
        return q->type == DNS_TYPE_A || (q->type == DNS_TYPE_AAAA && s->gate->has_ipv6);
}

static void take_world(DnsServer *v, const DnsClient *client, const DnsQuestion *q) {
        EgressQuestion eq = egress_question(q);
        EgressVerdict verdict = gate_decide(v->sandbox, &eq);
        DnsRequest *r;

        if (verdict.action == EGRESS_DENY) {
                send_denial(v, client, q, &verdict, &eq);
                return;
        }
        if (!has_data(v->sandbox, q)) {
                send_rcode(v, client, q, DNS_NOERROR);
                return;
        }
        if (is_repetition(v, client, q))
                return;
        r = dns_request_new(v, client, q);
        if (!r)
                send_failure(v, client, q, "too many questions wait for an answer; try again in a second");
        else if (must_ask(v->sandbox, &verdict))
                request_ask(r);
        else
                request_look_up(r);
}

/* "db" and "db.cove" */
static const char *group_address(const GateSandbox *s, const char *name) {
        char plain[DNS_NAME_MAX];
        size_t length = strlen(name), suffix = strlen(GROUP_SUFFIX);

        (void) snprintf(plain, sizeof(plain), "%s", name);
        if (length > suffix && strcmp(name + length - suffix, GROUP_SUFFIX) == 0)
                plain[length - suffix] = '\0';
        return json_string_value(json_object_get(s->names, plain));
}

static void take_group(DnsServer *v, const DnsClient *client, const DnsQuestion *q) {
        const EgressVerdict verdict = { .action = EGRESS_DENY, .reason = EGRESS_NO_NETWORK, .rule = -1 };
        const char *text = group_address(v->sandbox, q->name);
        EgressQuestion eq = egress_question(q);
        IpAddress address;

        if (!text || ip_parse(text, &address) < 0)
                send_denial(v, client, q, &verdict, &eq);
        else if (q->type == DNS_TYPE_A)
                dns_send(v, client, q, &(DnsAnswer) { .addresses = &address, .n_addresses = 1, .ttl = GROUP_TTL });
        else
                send_rcode(v, client, q, DNS_NOERROR);
}

void dns_request_take(DnsServer *v, const DnsClient *client, const uint8_t *data, size_t size) {
        DnsQuestion q;
        int rcode = dns_question_parse(data, size, &q);

        if (rcode < 0)
                return;
        if (rcode != DNS_NOERROR)
                send_rcode(v, client, &q, (DnsRcode) rcode);
        else if (q.class != DNS_CLASS_IN || q.name[0] == '\0') /* the root has no address, nor do other classes */
                send_rcode(v, client, &q, DNS_REFUSED);
        else if (v->sandbox->policy.mode == NETWORK_ISOLATED)
                take_group(v, client, &q);
        else
                take_world(v, client, &q);
}
