/* network-policy.c: converts {allowOut, denyOut} to our policy.
 *
 * In E2B's API, allowed destinations override denied ones, and unnamed ones are allowed. In our policies,
 * denied ones override, and unnamed ones are denied. So the result is:
 *
 *      everything is denied     the allowed destinations only
 *      packages                 the same, plus "packages", unless the caller denies everything
 *      else                     all public destinations except those that are denied and not allowed again: ranges are split
 *
 * Special addresses (this machine's, private ones) cannot be reached in any case, unless the operator opens
 * them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/e2b/e2b.h"
#include "policy/egress.h"

#define ALL_TRAFFIC "0.0.0.0/0"
#define LIST_MAX    256
#define V4_BITS     96

typedef struct Lists {
        IpRange allowed[LIST_MAX], denied[LIST_MAX];
        const char *domains[LIST_MAX];
        size_t n_allowed, n_denied, n_domains;
        bool all_denied, has_packages;
} Lists;

/* Reading. */

static int network_policy_read_deny(const char *text, Lists *l, Error *reterr) {
        if (strcmp(text, ALL_TRAFFIC) == 0) {
                l->all_denied = true;
                l->has_packages = false;
                return 0;
        }
        if (ip_range_parse(text, &l->denied[l->n_denied]) < 0)
                return error_set(reterr, -EINVAL, "invalid denied CIDR %.100s", text);
        l->n_denied++;
        return 0;
}

static int network_policy_read_allow(const char *text, Lists *l, Error *reterr) {
        char host[EGRESS_DOMAIN_MAX];
        const char *name = strncmp(text, "*.", 2) == 0 ? text + 2 : text;

        if (ip_range_parse(text, &l->allowed[l->n_allowed]) >= 0) {
                l->n_allowed++;
                return 0;
        }
        if (strpbrk(text, "/:") || egress_host_normalise(name, strlen(name), host) < 0)
                return error_set(reterr, -EINVAL, "invalid allowed address %.100s", text);
        l->domains[l->n_domains++] = text;
        return 0;
}

static int network_policy_read_list(const json_t *network, const char *field, int (*read)(const char *text, Lists *l, Error *reterr), Lists *l, Error *reterr) {
        const json_t *list = json_object_get(network, field);
        const json_t *item;
        size_t i;
        int r = 0;

        if (!list || json_is_null(list))
                return 0;
        if (!json_is_array(list) || json_array_size(list) > LIST_MAX)
                return error_set(reterr, -EINVAL, "network.%s: must be a list of at most %d texts", field, LIST_MAX);
        json_array_foreach(list, i, item) {
                const char *text = json_string_value(item);

                r = text ? read(text, l, reterr) : error_set(reterr, -EINVAL, "network.%s: must be a list of texts", field);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Writing. */

static void put_range(json_t *list, const IpRange *r) {
        char address[46];
        json_t *cidr;
        bool v4;

        ip_format(&r->base, address);
        v4 = !strchr(address, ':');
        cidr = json_sprintf("%s/%d", address, v4 ? r->bits - V4_BITS : r->bits);
        (void) json_array_append_new(list, json_pack("{s:o, s:[s, s]}", "cidr", cidr, "protocols", "tcp", "udp"));
}

static IpRange half(const IpRange *r, bool upper) {
        IpRange h = *r;

        if (upper)
                h.base.bytes[r->bits / 8] |= (uint8_t) (0x80U >> (r->bits % 8));
        h.bits++;
        return h;
}

/* Adds the parts of a denied range that are not allowed again. */
static void put_rest(json_t *list, const IpRange *denied, const Lists *l) {
        for (size_t i = 0; i < l->n_allowed; i++) {
                const IpRange *a = l->allowed + i;

                if (a->bits <= denied->bits && ip_range_has(a, &denied->base))
                        return;
                if (a->bits > denied->bits && ip_range_has(denied, &a->base)) {
                        IpRange lower = half(denied, false), upper = half(denied, true);

                        put_rest(list, &lower, l);
                        put_rest(list, &upper, l);
                        return;
                }
        }
        put_range(list, denied);
}

static bool is_denied(const Lists *l, const IpRange *r) {
        for (size_t i = 0; i < l->n_denied; i++)
                if (l->denied[i].bits <= r->bits && ip_range_has(l->denied + i, &r->base))
                        return true;
        return false;
}

static void put_everything(json_t *allow, const Lists *l) {
        static const char *const all[] = { ALL_TRAFFIC, "::/0" };

        (void) json_array_append_new(allow, json_pack("{s:s, s:[s], s:[s, s, s, s]}", "domain", "*", "ports", "1-65535", "protocols", "http", "https", "tcp", "udp"));
        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                IpRange r;

                if (ip_range_parse(all[i], &r) >= 0 && !is_denied(l, &r))
                        put_range(allow, &r);
        }
}

static json_t *network_policy_print(const Lists *l) {
        json_t *allow = json_array(), *deny = json_array();

        if (l->all_denied) {
                if (l->has_packages)
                        (void) json_array_append_new(allow, json_string(EGRESS_PACKAGES));
                for (size_t i = 0; i < l->n_domains; i++)
                        (void) json_array_append_new(allow, json_string(l->domains[i]));
                for (size_t i = 0; i < l->n_allowed; i++)
                        put_range(allow, l->allowed + i);
        } else {
                put_everything(allow, l);
                for (size_t i = 0; i < l->n_denied; i++)
                        put_rest(deny, l->denied + i, l);
        }
        return json_pack("{s:s, s:b, s:o, s:o}", "mode", "egress", "requireTls", 0, "allow", allow, "deny", deny);
}

/* Refuses options that this server does not support. An empty option is accepted. */
static int check_others(const json_t *network, Error *reterr) {
        const json_t *proxy = json_object_get(network, "egressProxy"), *rules = json_object_get(network, "rules");

        if (proxy && !json_is_null(proxy))
                return error_set(reterr, -EINVAL, "network.egressProxy: this server cannot use an egress proxy");
        if (json_object_size(rules) > 0)
                return error_set(reterr, -EINVAL, "network.rules: this server does not rewrite requests; for a secret that only its host receives, use a "
                                                  "credential of the sandbox's policy (PUT /api/sandbox/{id}/policy)");
        return 0;
}

int e2b_network_policy(const json_t *network, E2bInternet internet, json_t **ret, Error *reterr) {
        Lists l = { .all_denied = internet != E2B_INTERNET_PUBLIC, .has_packages = internet == E2B_INTERNET_PACKAGES };
        int r = check_others(network, reterr);

        if (r >= 0)
                r = network_policy_read_list(network, "denyOut", network_policy_read_deny, &l, reterr);
        if (r >= 0)
                r = network_policy_read_list(network, "allowOut", network_policy_read_allow, &l, reterr);
        if (r < 0)
                return r;
        if (l.n_domains > 0 && !l.all_denied)
                return error_set(reterr, -EINVAL,
                                "When specifying allowed domains in allow out, you must include '" ALL_TRAFFIC "' in deny out to block all other traffic.");
        *ret = network_policy_print(&l);
        return *ret ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}
