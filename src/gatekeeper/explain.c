/* explain.c: what a sandbox's policy says about one URL, and which policy would have been enough for what it did. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "config/config.h"
#include "gatekeeper/internal.h"

typedef struct Url {
        EgressQuestion question;
        char host[EGRESS_DOMAIN_MAX];
        char *path;
} Url;

static void url_done(Url *u) {
        free(u->path);
}

static const struct {
        const char *name;
        EgressProtocol protocol;
        uint16_t port;
} schemes[] = {
        { "https", EGRESS_HTTPS, 443 },
        { "http",  EGRESS_HTTP,  80  },
        { "wss",   EGRESS_HTTPS, 443 },
        { "ws",    EGRESS_HTTP,  80  },
        { "tcp",   EGRESS_TCP,   0   },
        { "udp",   EGRESS_UDP,   0   },
        { "dns",   EGRESS_DNS,   53  },
};

static int find_scheme(const char *url, const char **ret_rest, Url *u, Error *reterr) {
        const char *colon = strstr(url, "://");

        *ret_rest = colon ? colon + 3 : url;
        for (size_t i = 0; i < ELEMENTSOF(schemes); i++)
                if (!colon || (strlen(schemes[i].name) == (size_t) (colon - url) && strncmp(schemes[i].name, url, (size_t) (colon - url)) == 0)) {
                        u->question.protocol = schemes[i].protocol;
                        u->question.port = schemes[i].port;
                        return 0;
                }
        return error_set(reterr, -EINVAL, "'%.*s' is no scheme that could be asked about: https, http, wss, ws, tcp, udp, dns", (int) (colon - url), url);
}

static int read_port(const char *text, size_t size, uint16_t *ret, Error *reterr) {
        unsigned long port = 0;

        for (size_t i = 0; i < size && i < 6; i++)
                port = text[i] >= '0' && text[i] <= '9' ? port * 10 + (unsigned long) (text[i] - '0') : 65536;
        if (size == 0 || port < 1 || port > 65535)
                return error_set(reterr, -EINVAL, "'%.*s' is no port", (int) MIN_OF(size, (size_t) 20), text);
        *ret = (uint16_t) port;
        return 0;
}

static int read_host(const char *text, size_t size, Url *u, Error *reterr) {
        char copy[EGRESS_DOMAIN_MAX];

        if (size == 0 || size >= sizeof(copy))
                return error_set(reterr, -EINVAL, "the URL has no host");
        memcpy(copy, text, size);
        copy[size] = '\0';
        if (egress_address_parse(copy, &u->question.address) >= 0) {
                u->question.has_address = true;
                return 0;
        }
        if (egress_host_normalise(copy, size, u->host) < 0)
                return error_set(reterr, -EINVAL, "'%s' is no host name", copy);
        u->question.host = u->host;
        return 0;
}

static int url_read(const char *url, const char *method, Url *u, Error *reterr) {
        const char *rest, *host, *end, *colon;
        size_t n;
        int r = find_scheme(url, &rest, u, reterr);

        if (r < 0)
                return r;
        n = strcspn(rest, "/?#");
        host = rest;
        end = rest + n;
        if (memchr(host, '@', n))
                return error_set(reterr, -EINVAL, "a URL with a user name is not asked about: leave \"…@\" out");
        if (*host == '[') {
                const char *close = memchr(host, ']', n);

                if (!close)
                        return error_set(reterr, -EINVAL, "'[' without ']'");
                r = read_host(host + 1, (size_t) (close - host - 1), u, reterr);
                colon = close + 1 < end && close[1] == ':' ? close + 1 : NULL;
        } else {
                colon = memchr(host, ':', n);
                r = read_host(host, (size_t) ((colon ? colon : end) - host), u, reterr);
        }
        if (r >= 0 && colon)
                r = read_port(colon + 1, (size_t) (end - colon - 1), &u->question.port, reterr);
        if (r < 0)
                return r;
        if (u->question.port == 0)
                return error_set(reterr, -EINVAL, "'%.200s' needs a port, as in tcp://host:5432", url);
        if (u->question.protocol != EGRESS_HTTP && u->question.protocol != EGRESS_HTTPS)
                return 0;
        u->path = *end == '/' ? strndup(end, strcspn(end, "#")) : strdup("/");
        if (!u->path)
                return error_set(reterr, -ENOMEM, "out of memory");
        u->question.path = u->path;
        u->question.method = method ? method : "GET";
        return 0;
}

static const char *const actions[] = { [EGRESS_DENY] = "deny", [EGRESS_ALLOW] = "allow", [EGRESS_ASK] = "ask" };

typedef struct Grants {
        EgressRule *rules;
        size_t n, room;
} Grants;

static int take_grant(const NetworkGrant *g, void *userdata) {
        Grants *all = userdata;
        EgressRule *more;

        if (all->n == all->room) {
                more = realloc(all->rules, (all->room + 16) * sizeof(*more));
                if (!more)
                        return -ENOMEM;
                all->rules = more;
                all->room += 16;
        }
        if (egress_rule_parse(g->rule, EGRESS_ALLOW, all->rules + all->n, &(Error) { 0 }) >= 0)
                all->n++;
        return 0;
}

static void grants_done(Grants *g) {
        for (size_t i = 0; i < g->n; i++)
                egress_rule_done(g->rules + i);
        free(g->rules);
}

static json_t *answer(const EgressPolicy *p, const Grants *grants, const EgressVerdict *v, const EgressQuestion *q) {
        char text[EGRESS_TEXT_MAX] = "", cure[EGRESS_TEXT_MAX] = "";
        EgressPolicy view = *p;
        EgressVerdict said = *v;
        const EgressRule *rule = NULL;

        if (v->rule >= 0 && (size_t) v->rule < p->n_rules)
                rule = p->rules + v->rule;
        else if (v->rule >= 0 && (size_t) v->rule - p->n_rules < grants->n) { /* in words: as if the grants were the policy */
                rule = grants->rules + ((size_t) v->rule - p->n_rules);
                view.rules = grants->rules;
                view.n_rules = grants->n;
                said.rule = v->rule - (int) p->n_rules;
        }
        egress_explain(&view, &said, q, text, cure);
        return json_pack("{s:b, s:s, s:s, s:o, s:b, s:s, s:o, s:b}", "allowed", v->action == EGRESS_ALLOW, "action", actions[v->action], "reason",
                        egress_reason_to_string(v->reason), "rule", json_text_or_null(rule ? rule->text : NULL), "granted",
                        rule && rule >= grants->rules && rule < grants->rules + grants->n, "text", text, "cure",
                        json_text_or_null(*cure ? cure : NULL), "inspect", v->inspect);
}

int gatekeeper_explain(Gatekeeper *k, const Sandbox *sb, const char *url, const char *method, json_t **ret, Error *reterr) {
        const NetworkConfig *c = &k->manager->settings->network;
        _cleanup_json_ json_t *network = sandbox_network_json(sb);
        JsonComplaints complaints = { 0 };
        EgressPolicy p = { 0 };
        Grants grants = { 0 };
        EgressVerdict v;
        Url u = { 0 };
        int r = url_read(url, method, &u, reterr);

        if (r >= 0)
                r = egress_policy_parse(network, "network", c->reachable, c->n_reachable, &p, &complaints);
        if (r >= 0)
                r = store_grant_each(k->manager->store, sb->id, sb->spec.tenant ? sb->spec.tenant : "", sb->spec.profile, take_grant, &grants);
        if (r >= 0) {
                v = egress_decide_with(&p, grants.rules, grants.n, c->reachable, c->n_reachable, &u.question);
                *ret = answer(&p, &grants, &v, &u.question);
                r = *ret ? 0 : -ENOMEM;
        }
        json_complaints_done(&complaints);
        grants_done(&grants);
        egress_policy_done(&p);
        url_done(&u);
        return r;
}
