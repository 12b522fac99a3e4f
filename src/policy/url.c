/* url.c: parses a URL into a question, for explanations. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "policy/internal.h"

static const struct {
        const char *scheme;
        EgressProtocol protocol;
        uint16_t port;
} schemes[] = {
        { "https://", EGRESS_HTTPS, 443 }, { "http://", EGRESS_HTTP, 80 }, { "wss://", EGRESS_HTTPS, 443 },
        { "ws://", EGRESS_HTTP, 80 },      { "tcp://", EGRESS_TCP, 0 },    { "udp://", EGRESS_UDP, 0 },
        { "dns://", EGRESS_DNS, 53 },      { "", EGRESS_HTTPS, 443 },
};

static int bad(const char *url, const char *why, Error *reterr) {
        return error_set(reterr, -EINVAL, "'%.200s' is no URL: %s", url, why);
}

static int parse_port(const char *url, const char *text, const char *end, uint16_t *ret, Error *reterr) {
        EgressPorts ports;

        if (egress_ports_parse(text, (size_t) (end - text), &ports) < 0 || ports.first != ports.last)
                return bad(url, "the port must be a number from 1 to 65535", reterr);
        *ret = ports.first;
        return 0;
}

static int url_set_host(const char *url, const char *host, size_t n, EgressUrl *ret, Error *reterr) {
        char copy[EGRESS_DOMAIN_MAX];

        if (n >= sizeof(copy))
                return bad(url, "the host is too long", reterr);
        memcpy(copy, host, n);
        copy[n] = '\0';
        if (strlen(copy) == n && ip_parse(copy, &ret->question.address) >= 0) {
                ret->question.has_address = true;
                return 0;
        }
        if (egress_host_normalise(host, n, ret->host) < 0)
                return bad(url, n == 0 ? "it names no host" : "that is no name of a host and no address", reterr);
        ret->question.host = ret->host;
        return 0;
}

/* HOST, HOST:PORT, [V6], [V6]:PORT */
static int url_parse_authority(const char *url, const char *text, const char *end, EgressUrl *ret, Error *reterr) {
        const char *host = text, *close = NULL, *colon;
        size_t n;
        int r;

        if (memchr(text, '@', (size_t) (end - text)))
                return bad(url, "leave out the user's name and password", reterr);
        if (text < end && *text == '[') {
                close = memchr(text, ']', (size_t) (end - text));
                if (!close || (close + 1 < end && close[1] != ':'))
                        return bad(url, "an IPv6 address stands in brackets", reterr);
                host++;
        }
        colon = close ? (close + 1 < end ? close + 1 : NULL) : memchr(text, ':', (size_t) (end - text));
        n = (size_t) ((close ? close : colon ? colon : end) - host);
        r = url_set_host(url, host, n, ret, reterr);
        if (r >= 0 && colon)
                r = parse_port(url, colon + 1, end, &ret->question.port, reterr);
        return r;
}

static int set_request(const char *url, const char *path, const char *method, EgressUrl *ret, Error *reterr) {
        size_t n = strcspn(path, "#");
        int r;

        if (!(ret->question.protocol & EGRESS_WEB))
                return *path && strcmp(path, "/") != 0 ? bad(url, "only http and https have paths", reterr) : 0;
        if (n == 0 || *path == '?')
                (void) snprintf(ret->path, sizeof(ret->path), "/");
        else {
                r = egress_path_normalise(path, n, ret->path, sizeof(ret->path));
                if (r < 0)
                        return bad(url, r == -ENOSPC ? "its path is too long" : "its path is malformed", reterr);
        }
        ret->question.path = ret->path;
        (void) snprintf(ret->method, sizeof(ret->method), "%s", method ? method : "GET");
        for (char *p = ret->method; *p; p++)
                if (*p >= 'a' && *p <= 'z')
                        *p = (char) (*p - 0x20);
        ret->question.method = ret->method;
        return 0;
}

int egress_url_parse(const char *url, const char *method, EgressUrl *ret, Error *reterr) {
        const char *text, *end;
        size_t i = 0;
        int r;

        *ret = (EgressUrl) { 0 };
        while (strncasecmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) != 0)
                i++;
        text = url + strlen(schemes[i].scheme);
        if (i == ELEMENTSOF(schemes) - 1 && strstr(url, "://"))
                return bad(url, "it begins with https://, http://, wss://, ws://, tcp://, udp:// or dns://", reterr);
        ret->question.protocol = schemes[i].protocol;
        ret->question.port = schemes[i].port;
        end = text + strcspn(text, "/?#");
        r = url_parse_authority(url, text, end, ret, reterr);
        if (r < 0)
                return r;
        if (ret->question.port == 0)
                return bad(url, "tcp and udp need a port, as in tcp://db.example.org:5432", reterr);
        return set_request(url, end, method, ret, reterr);
}

static const char *const actions[] = { [EGRESS_DENY] = "deny", [EGRESS_ALLOW] = "allow", [EGRESS_ASK] = "ask" };

json_t *egress_explain_json(const EgressPolicy *p, const EgressVerdict *v, const EgressQuestion *q) {
        char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];
        const EgressRule *rule = v->rule >= 0 && (size_t) v->rule < p->n_rules ? p->rules + v->rule : NULL;
        json_t *j = json_object();

        egress_explain(p, v, q, text, cure);
        (void) json_object_set_new(j, "allowed", json_boolean(v->action == EGRESS_ALLOW));
        (void) json_object_set_new(j, "action", json_string(actions[v->action]));
        (void) json_object_set_new(j, "reason", json_string(egress_reason_to_string(v->reason)));
        (void) json_object_set_new(j, "rule", json_text_or_null(rule ? egress_rule_name(rule) : NULL));
        (void) json_object_set_new(j, "text", json_text_or_null(text));
        (void) json_object_set_new(j, "cure", json_text_or_null(cure[0] ? cure : NULL));
        (void) json_object_set_new(j, "inspect", json_boolean(v->inspect));
        return j;
}

int egress_explain_url(const EgressPolicy *p, const IpRange *reachable, size_t n_reachable, const char *url, const char *method, json_t **ret,
                Error *reterr) {
        EgressVerdict v;
        EgressUrl u;
        int r = egress_url_parse(url, method, &u, reterr);

        if (r < 0)
                return r;
        v = egress_decide(p, reachable, n_reachable, &u.question);
        *ret = egress_explain_json(p, &v, &u.question);
        return *ret ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}
