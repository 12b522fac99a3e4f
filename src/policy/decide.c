/* decide.c: decides whether a request may leave. Deny wins, then allow, then ask; otherwise the nearest miss is the
 * reason for the denial. Nothing is allocated. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "policy/internal.h"
#include "policy/path-set.h"

static const char *const reasons[_EGRESS_REASON_MAX] = {
        [EGRESS_BY_RULE] = "by_rule",
        [EGRESS_NO_RULE] = "no_rule",
        [EGRESS_NO_NETWORK] = "no_network",
        [EGRESS_RAW_ADDRESS] = "raw_address",
        [EGRESS_SPECIAL_ADDRESS] = "special_address",
        [EGRESS_PORT] = "port",
        [EGRESS_PROTOCOL] = "protocol",
        [EGRESS_METHOD] = "method",
        [EGRESS_PATH] = "path",
        [EGRESS_TLS_REQUIRED] = "tls_required",
        [EGRESS_NAME_MISMATCH] = "name_mismatch",
        [EGRESS_ENCRYPTED_HELLO] = "encrypted_hello",
        [EGRESS_NO_NAME] = "no_name",
        [EGRESS_MALFORMED] = "malformed",
        [EGRESS_CONNECT] = "connect",
        [EGRESS_REQUESTS] = "requests",
        [EGRESS_REQUEST_SIZE] = "request_size",
        [EGRESS_RESPONSE_SIZE] = "response_size",
        [EGRESS_TIMEOUT] = "timeout",
        [EGRESS_TOTAL] = "total",
        [EGRESS_NOT_APPROVED] = "not_approved",
        [EGRESS_ASK_TIMEOUT] = "ask_timeout",
        [EGRESS_UPSTREAM] = "upstream",
        [EGRESS_MEMORY] = "memory",
        [EGRESS_CREDENTIAL] = "credential",
};

const char *egress_reason_to_string(EgressReason r) {
        return reasons[r];
}

typedef enum Match {
        MATCH_NO,
        MATCH_MAYBE, /* depends on what is inside the connection */
        MATCH_YES,
} Match;

/* How near a rule came to a match; the nearest counts. */
typedef struct Miss {
        EgressReason reason;
        int rank, rule;
} Miss;

/* One list of rules, while it is searched. */
typedef struct DecisionRules {
        const EgressRule *rules;
        size_t n, offset; /* offset: added to an index in the verdict */
        const PathSet *paths;
        bool walked;
        PathHits hits;
} DecisionRules;

typedef struct Decision {
        const EgressPolicy *policy;
        const EgressQuestion *question;
        bool has_embedded;
        IpAddress embedded; /* the IPv4 address that a router on the way would make of the address */
        int yes[3], maybe[3];   /* by action: the first rule; -1: none */
        bool inspect;
        Miss miss;
} Decision;

static Match match_methods(const EgressRule *r, const EgressQuestion *q) {
        if (!r->methods)
                return MATCH_YES;
        if (!q->method)
                return MATCH_MAYBE;
        for (char **m = r->methods; *m; m++)
                if (strcmp(*m, q->method) == 0)
                        return MATCH_YES;
        return MATCH_NO;
}

/* The path is walked once for all rules, when the first of them gets to its paths. */
static Match match_paths(DecisionRules *l, size_t i, const EgressQuestion *q) {
        if (!l->rules[i].paths)
                return MATCH_YES;
        if (!q->path)
                return MATCH_MAYBE;
        if (!l->walked)
                path_set_find(l->paths, q->path, &l->hits);
        l->walked = true;
        return path_hits_has(&l->hits, i) ? MATCH_YES : MATCH_NO;
}

/* An allow matches the address itself, a deny also the address that routers make of it. */
static bool match_target(const Decision *d, const EgressRule *r) {
        const EgressQuestion *q = d->question;

        if (r->domain)
                return egress_rule_names(r, q->host);
        if (!q->has_address)
                return false;
        if (ip_range_has(&r->range, &q->address))
                return true;
        return r->action == EGRESS_DENY && d->has_embedded && ip_range_has(&r->range, &d->embedded);
}

/* A rule for TCP also covers HTTP: raw bytes may carry it. Whether a deny of HTTP applies to raw bytes is
 * known only when they are seen. */
static Match match_protocol(const EgressRule *r, EgressProtocol protocol) {
        if (r->protocols & protocol || (r->protocols & EGRESS_TCP && protocol & EGRESS_WEB))
                return MATCH_YES;
        return r->action == EGRESS_DENY && protocol == EGRESS_TCP && r->protocols & EGRESS_WEB ? MATCH_MAYBE : MATCH_NO;
}

static Match missed(Decision *d, int i, EgressReason reason, int rank) {
        if (rank > d->miss.rank)
                d->miss = (Miss) { reason, rank, i };
        return MATCH_NO;
}

/* If plain HTTP misses a rule that allows TLS, the protocol is the reason, whatever the port. */
static Match missed_protocol(Decision *d, const EgressRule *r, int i, EgressReason reason) {
        const EgressQuestion *q = d->question;

        if (q->protocol == EGRESS_HTTP && r->protocols & EGRESS_HTTPS)
                return d->policy->require_tls ? missed(d, i, EGRESS_TLS_REQUIRED, 5) : missed(d, i, EGRESS_PROTOCOL, 2);
        return missed(d, i, reason, reason == EGRESS_PORT ? 1 : 2);
}

/* In spite of requireTls: bytes of any kind, registries whose packages are signed, and grants, which answer
 * what a rule of the policy asks; under requireTls only "packages" asks about plain HTTP. */
static bool may_be_plain(const Decision *d, const DecisionRules *l, const EgressRule *r) {
        bool granted = l->offset > 0 && (d->yes[EGRESS_ASK] >= 0 || d->maybe[EGRESS_ASK] >= 0);

        return r->action == EGRESS_DENY || r->protocols & EGRESS_TCP || r->packages || granted;
}

static Match match(Decision *d, DecisionRules *l, size_t index) {
        const EgressQuestion *q = d->question;
        const EgressRule *r = l->rules + index;
        int i = (int) (l->offset + index);
        Match protocol, methods, paths;

        if (!match_target(d, r))
                return MATCH_NO;
        protocol = match_protocol(r, q->protocol);
        if (!egress_rule_has_port(r, q->port))
                return protocol == MATCH_YES ? missed(d, i, EGRESS_PORT, 1) : missed_protocol(d, r, i, EGRESS_PORT);
        if (protocol == MATCH_NO)
                return missed_protocol(d, r, i, EGRESS_PROTOCOL);
        if (q->protocol == EGRESS_HTTP && d->policy->require_tls && !may_be_plain(d, l, r))
                return missed(d, i, EGRESS_TLS_REQUIRED, 5);
        methods = match_methods(r, q);
        if (methods == MATCH_NO)
                return missed(d, i, EGRESS_METHOD, 3);
        paths = match_paths(l, index, q);
        if (paths == MATCH_NO)
                return missed(d, i, EGRESS_PATH, 4);
        methods = MIN_OF(methods, paths);
        return MIN_OF(protocol, methods);
}

/* A name may be looked up if anything could be reached by it: only a deny of everything denies the lookup. */
static Match match_name(const Decision *d, const EgressRule *r) {
        if (!egress_rule_names(r, d->question->host))
                return MATCH_NO;
        if (r->action != EGRESS_DENY)
                return MATCH_YES;
        return r->n_ports == 0 && r->protocols == EGRESS_ALL_PROTOCOLS && !egress_rule_is_conditional(r) ? MATCH_YES : MATCH_NO;
}

static void decide_note(Decision *d, const EgressRule *r, int i, Match m) {
        int *first = m == MATCH_YES ? d->yes : d->maybe;

        if (m == MATCH_NO)
                return;
        if (first[r->action] < 0)
                first[r->action] = i;
        if (m == MATCH_YES && r->inspect && !egress_rule_is_conditional(r))
                d->inspect = true;
}

static void decide_look(Decision *d, DecisionRules *l) {
        for (size_t i = 0; i < l->n; i++) {
                const EgressRule *r = l->rules + i;
                Miss before = d->miss;

                decide_note(d, r, (int) (l->offset + i), d->question->protocol == EGRESS_DNS ? match_name(d, r) : match(d, l, i));
                if (r->action == EGRESS_DENY)
                        d->miss = before; /* a deny that does not apply explains nothing */
        }
}

static EgressVerdict allowed(const Decision *d, int rule, bool maybe) {
        const EgressPolicy *p = d->policy;
        bool inspect = maybe || d->inspect || d->maybe[EGRESS_DENY] >= 0;

        if (d->question->protocol == EGRESS_HTTPS && (p->inspect_all || p->requests_max > 0))
                inspect = true;
        return (EgressVerdict) { EGRESS_ALLOW, rule >= 0 ? EGRESS_BY_RULE : EGRESS_NO_RULE, rule, inspect };
}

static bool lets_all(const EgressPolicy *p) {
        return p->mode == NETWORK_OPEN || p->learn;
}

static EgressVerdict unknown(const Decision *d) {
        const EgressQuestion *q = d->question;

        if (d->miss.rank > 0)
                return (EgressVerdict) { EGRESS_DENY, d->miss.reason, d->miss.rule, false };
        return (EgressVerdict) { EGRESS_DENY, q->host ? EGRESS_NO_RULE : EGRESS_RAW_ADDRESS, -1, false };
}

static EgressVerdict decide_conclude(const Decision *d) {
        const EgressPolicy *p = d->policy;
        EgressVerdict v;

        if (d->yes[EGRESS_DENY] >= 0)
                return (EgressVerdict) { EGRESS_DENY, EGRESS_BY_RULE, d->yes[EGRESS_DENY], false };
        if (p->mode == NETWORK_OPEN && p->require_tls && d->question->protocol == EGRESS_HTTP)
                return (EgressVerdict) { EGRESS_DENY, EGRESS_TLS_REQUIRED, -1, false };
        if (d->yes[EGRESS_ALLOW] >= 0 || lets_all(p))
                return allowed(d, d->yes[EGRESS_ALLOW], false);
        if (d->maybe[EGRESS_ALLOW] >= 0)
                return allowed(d, d->maybe[EGRESS_ALLOW], true);
        if (d->yes[EGRESS_ASK] < 0 && d->maybe[EGRESS_ASK] < 0)
                return unknown(d);
        v = d->yes[EGRESS_ASK] >= 0 ? allowed(d, d->yes[EGRESS_ASK], false) : allowed(d, d->maybe[EGRESS_ASK], true);
        if (d->question->protocol == EGRESS_DNS)
                return v; /* the connection is asked about, not the lookup */
        if (d->yes[EGRESS_ASK] >= 0)
                v.action = EGRESS_ASK; /* otherwise it asks when it is known what is inside */
        return v;
}

EgressVerdict egress_decide_with(const EgressPolicy *p, const EgressGrants *grants, const IpRange *reachable, size_t n_reachable, const EgressQuestion *q) {
        Decision d = { .policy = p, .question = q, .yes = { -1, -1, -1 }, .maybe = { -1, -1, -1 }, .miss.rule = -1 };

        if (p->mode != NETWORK_EGRESS && p->mode != NETWORK_OPEN)
                return (EgressVerdict) { EGRESS_DENY, EGRESS_NO_NETWORK, -1, false };
        if (q->has_address && !ip_is_reachable(&q->address, IP_REACH_PUBLIC, reachable, n_reachable))
                return (EgressVerdict) { EGRESS_DENY, EGRESS_SPECIAL_ADDRESS, -1, false };
        d.has_embedded = q->has_address && ip_embedded(&q->address, &d.embedded);
        decide_look(&d, &(DecisionRules) { .rules = p->rules, .n = p->n_rules, .paths = p->paths });
        if (grants)
                decide_look(&d, &(DecisionRules) { .rules = grants->rules, .n = grants->n, .offset = p->n_rules, .paths = grants->paths });
        return decide_conclude(&d);
}

EgressVerdict egress_decide(const EgressPolicy *p, const IpRange *reachable, size_t n_reachable, const EgressQuestion *q) {
        return egress_decide_with(p, /* grants= */ NULL, reachable, n_reachable, q);
}

/* Grants. */

int egress_grants_add(EgressGrants *g, EgressRule *rule) {
        if (g->n >= EGRESS_RULES_MAX)
                return -E2BIG;
        if (ARRAY_EXTEND(g->rules, g->n) < 0)
                return -ENOMEM;
        g->rules[g->n++] = *rule;
        *rule = (EgressRule) { 0 };
        return 0;
}

int egress_grants_finish(EgressGrants *g) {
        PathSet *paths;
        int r = path_set_new(g->rules, g->n, &paths);

        if (r < 0)
                return r;
        path_set_free(g->paths);
        g->paths = paths;
        return 0;
}

void egress_grants_done(EgressGrants *g) {
        for (size_t i = 0; i < g->n; i++)
                egress_rule_done(g->rules + i);
        free(g->rules);
        path_set_free(g->paths);
        *g = (EgressGrants) { 0 };
}
