#include "gate/relay/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "gate/dns/pins.h"
#include "gate/settings.h"

#define STAND_IN_RANGE "198.18.0.0/15" /* RFC 2544: not routed on the Internet */
#define STAND_IN_BITS  17
#define TELL_USEC      (60 * USEC_PER_SEC)
#define EXCEPT_MAX     8192

struct GateProxy {
        ProxyServer http, https;
        bool has_http, has_https;
        char *except;          /* NULL: no name */
        EgressPolicy packages; /* allows what "packages" stands for, and nothing else */
        IpRange stand_ins;
        usec_t told_at;
};

static int proxy_read_server(json_t *settings, const char *name, ProxyServer *ret, bool *ret_has, Error *reterr) {
        json_t *url = json_object_get(settings, name);
        int r;

        if (!url || json_is_null(url))
                return 0;
        r = json_is_string(url) ? proxy_parse(json_string_value(url), ret) : -EINVAL;
        if (r < 0)
                return error_set(reterr, r, "proxy.%s: must be http://HOST:PORT", name);
        *ret_has = true;
        return 0;
}

static int proxy_read_except(json_t *text, char **ret, Error *reterr) {
        if (!text || json_is_null(text))
                return 0;
        if (!json_is_string(text) || json_string_length(text) > EXCEPT_MAX)
                return error_set(reterr, -EINVAL, "proxy.except: must be a text of %d bytes at most", EXCEPT_MAX);
        *ret = strdup(json_string_value(text));
        return *ret ? 0 : error_set(reterr, -ENOMEM, "%m");
}

static int proxy_read_packages(json_t *list, EgressPolicy *ret, Error *reterr) {
        _cleanup_json_ json_t *message = json_pack("{s:s, s:O?}", "network", EGRESS_PACKAGES, "packages", list);
        int r;

        if (!json_is_array(list))
                return error_set(reterr, -EINVAL, "proxy.packages: must be a list");
        if (!message)
                return error_set(reterr, -ENOMEM, "%m");
        r = gate_settings_read_policy(NULL, message, ret, reterr);
        return r < 0 ? error_prefix(reterr, r, "proxy") : 0;
}

int gate_proxy_new(json_t *settings, GateProxy **ret, Error *reterr) {
        GateProxy *p;
        int r;

        if (!json_is_object(settings))
                return error_set(reterr, -EINVAL, "proxy: must be an object");
        p = calloc(1, sizeof(*p));
        if (!p)
                return error_set(reterr, -ENOMEM, "%m");
        (void) ip_range_parse(STAND_IN_RANGE, &p->stand_ins);
        r = proxy_read_server(settings, "http", &p->http, &p->has_http, reterr);
        if (r >= 0)
                r = proxy_read_server(settings, "https", &p->https, &p->has_https, reterr);
        if (r >= 0)
                r = proxy_read_except(json_object_get(settings, "except"), &p->except, reterr);
        if (r >= 0)
                r = proxy_read_packages(json_object_get(settings, "packages"), &p->packages, reterr);
        if (r < 0) {
                gate_proxy_free(p);
                return r;
        }
        *ret = p;
        return 0;
}

GateProxy *gate_proxy_free(GateProxy *p) {
        if (!p)
                return NULL;
        proxy_done(&p->http);
        proxy_done(&p->https);
        free(p->except);
        egress_policy_done(&p->packages);
        free(p);
        return NULL;
}

static bool denies_ranges(const EgressPolicy *policy) {
        for (size_t i = 0; i < policy->n_rules; i++)
                if (policy->rules[i].action == EGRESS_DENY && !policy->rules[i].domain)
                        return true;
        return false;
}

/* Whether "packages" has the host, by this protocol and port. The sandbox's policy decides about methods and paths. */
static bool proxy_has(const GateSandbox *s, const EgressQuestion *q) {
        const GateProxy *p = s->gate->proxy;
        const EgressQuestion by_name = { .protocol = q->protocol, .host = q->host, .port = q->port, .method = "GET", .path = "/" };

        return p && q->host && !denies_ranges(&s->policy) && egress_decide(&p->packages, NULL, 0, &by_name).action == EGRESS_ALLOW &&
                        !proxy_list_has(p->except, q->host);
}

bool gate_proxy_has_name(const GateSandbox *s, const char *name) {
        const EgressQuestion q = { .protocol = EGRESS_DNS, .host = name };

        return s->gate->proxy && s->gate->proxy->has_https && proxy_has(s, &q);
}

/* Names that share a stand-in are told apart by TLS and by Host, as on a server with many names. */
void gate_proxy_stand_in(const char *name, IpAddress *ret) {
        uint32_t hash = 2166136261u; /* FNV-1a */

        for (; *name; name++)
                hash = (hash ^ (uint8_t) *name) * 16777619u;
        hash ^= hash >> STAND_IN_BITS;
        *ret = (IpAddress) { { [10] = 0xff, 0xff, 198, (uint8_t) (18 | (hash >> 16 & 1)), (uint8_t) (hash >> 8), (uint8_t) hash } };
}

bool gate_proxy_is_stand_in(const Gate *g, const IpAddress *address) {
        return g->proxy && g->proxy->has_https && ip_range_has(&g->proxy->stand_ins, address);
}

const ProxyServer *gate_proxy_for(const GateSandbox *s, const EgressQuestion *q) {
        const GateProxy *p = s->gate->proxy;

        if (!p || !q->host || !(q->protocol & (EGRESS_HTTP | EGRESS_HTTPS)) || !pins_has(s->pins, q->host, &q->address) || !proxy_has(s, q))
                return NULL;
        if (q->protocol == EGRESS_HTTPS)
                return p->has_https ? &p->https : NULL;
        if (p->has_http)
                return &p->http;
        return gate_proxy_is_stand_in(s->gate, &q->address) ? &p->https : NULL; /* the name has no other way out */
}

void gate_proxy_failed(Gate *g, const char *place, const char *why) {
        usec_t now = clock_usec();

        if (!g->proxy || (g->proxy->told_at > 0 && now < g->proxy->told_at + TELL_USEC))
                return;
        g->proxy->told_at = now;
        log_warning("the proxy of this machine gives no connection to %s: %s", place, why);
}
