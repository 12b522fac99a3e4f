#include "gate/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gate/http/http.h"
#include "policy/path-set.h"

#define NAMES_MAX 4096

void gate_settings_done(GateSettings *s) {
        egress_policy_done(&s->policy);
        egress_grants_done(&s->grants);
        json_decref(s->names);
        credentials_free(s->credentials);
        *s = (GateSettings) { 0 };
}

size_t gate_settings_size(const GateSettings *s) {
        return credentials_size(s->credentials) + path_set_size(s->policy.paths) + path_set_size(s->grants.paths);
}

/* Reports the first complaint. coved has read the same policy before, so there is none unless the two
 * programs disagree. */
static int say_complaint(const JsonComplaints *c, Error *reterr) {
        json_t *first = json_array_get(c->list, 0);

        return error_set(reterr, -EINVAL, "%.200s: %.250s", json_string_value(json_object_get(first, "field")),
                        json_string_value(json_object_get(first, "message")));
}

/* Reads what "packages" stands for; the list comes with every policy that has the word. */
static int gate_settings_read_packages(json_t *list, Strv *ret, Error *reterr) {
        json_t *item;
        size_t i;
        int r = gate_list_check(list, "packages", "rules", EGRESS_PACKAGES_MAX, reterr);

        if (r < 0)
                return r;
        json_array_foreach(list, i, item) {
                if (!json_is_string(item))
                        return error_set(reterr, -EINVAL, "packages[%zu]: must be a text", i);
                r = strv_push(ret, json_string_value(item));
                if (r < 0)
                        return error_set(reterr, r, "packages: %m");
        }
        return 0;
}

int gate_settings_read_policy(const Gate *g, json_t *message, EgressPolicy *ret, Error *reterr) {
        json_t *network = json_object_get(message, "network"), *list = json_object_get(message, "packages");
        _cleanup_(strv_done) Strv packages = STRV_INIT(EGRESS_PACKAGES_MAX);
        const EgressSite site = { g ? g->reachable : NULL, g ? g->n_reachable : 0, list ? &packages : NULL };
        JsonComplaints c = { 0 };
        EgressPolicy p = { 0 };
        int r;

        if (!json_is_object(network) && !json_is_string(network))
                return error_set(reterr, -EINVAL, "network: must be an object");
        r = gate_settings_read_packages(list, &packages, reterr);
        if (r < 0)
                return r;
        r = egress_policy_parse(network, "network", &site, &p, &c);
        if (r < 0)
                r = error_set(reterr, r, "network: %m");
        else if (json_has_complaints(&c))
                r = say_complaint(&c, reterr);
        json_complaints_done(&c);
        if (r < 0) {
                egress_policy_done(&p);
                return r;
        }
        *ret = p;
        return 0;
}

int gate_list_check(json_t *list, const char *name, const char *items, size_t max, Error *reterr) {
        if (!list || json_is_null(list) || (json_is_array(list) && json_array_size(list) <= max))
                return 0;
        return error_set(reterr, -EINVAL, "%s: must be a list of %zu %s at most", name, max, items);
}

static int gate_grant_take(EgressGrants *grants, json_t *item, Error *reterr) {
        _cleanup_(egress_rule_done) EgressRule rule = { 0 };
        int r = egress_rule_from_json(item, EGRESS_ALLOW, &rule, reterr);

        if (r < 0)
                return r;
        r = egress_grants_add(grants, &rule);
        if (r == -E2BIG)
                return error_set(reterr, r, "it has %d grants, which is the maximum: put them into a policy", EGRESS_RULES_MAX);
        return r < 0 ? error_set(reterr, r, "%m") : 0;
}

int gate_grant_add(EgressGrants *grants, json_t *rule, Error *reterr) {
        int r = gate_grant_take(grants, rule, reterr);

        if (r < 0)
                return error_prefix(reterr, r, "grant");
        r = egress_grants_finish(grants);
        if (r < 0)
                egress_rule_done(grants->rules + --grants->n);
        return r < 0 ? error_set(reterr, r, "grant: %m") : 0;
}

static int read_grants(json_t *list, EgressGrants *ret, Error *reterr) {
        json_t *item;
        size_t i;
        int r;

        if (gate_list_check(list, "grants", "rules", EGRESS_RULES_MAX, reterr) < 0)
                return -EINVAL;
        json_array_foreach(list, i, item) {
                r = gate_grant_take(ret, item, reterr);
                if (r < 0)
                        return error_prefix(reterr, r, "grants[%zu]", i);
        }
        r = egress_grants_finish(ret);
        return r < 0 ? error_set(reterr, r, "grants: %m") : 0;
}

int gate_names_check(json_t *names, Error *reterr) {
        const char *name;
        json_t *address;

        if (!json_is_object(names) || json_object_size(names) > NAMES_MAX)
                return error_set(reterr, -EINVAL, "names: must be an object with %d members at most", NAMES_MAX);
        json_object_foreach(names, name, address) {
                IpAddress a;

                if (!json_is_string(address) || ip_parse(json_string_value(address), &a) < 0)
                        return error_set(reterr, -EINVAL, "names.%.64s: is not an address", name);
        }
        return 0;
}

static int gate_settings_read_names(json_t *message, json_t **ret, Error *reterr) {
        json_t *names = json_object_get(message, "names");
        int r;

        if (!names || json_is_null(names))
                return 0;
        r = gate_names_check(names, reterr);
        if (r < 0)
                return r;
        *ret = json_incref(names);
        return 0;
}

static int read_credentials(json_t *message, struct Credentials **ret, Error *reterr) {
        json_t *list = json_object_get(message, "credentials");

        if (!list || json_is_null(list) || (json_is_array(list) && json_array_size(list) == 0))
                return 0;
        return credentials_parse(list, ret, reterr);
}

static int read_used(json_t *message, uint64_t *ret, Error *reterr) {
        json_t *used = json_object_get(message, "used"), *bytes = json_object_get(used, "bytes");

        if (bytes && (!json_is_integer(bytes) || json_integer_value(bytes) < 0))
                return error_set(reterr, -EINVAL, "used.bytes: must be a number");
        *ret = (uint64_t) json_integer_value(bytes);
        return 0;
}

/* The message has the mode twice, for readers; both must be the same. */
static int gate_settings_check_mode(json_t *message, const EgressPolicy *p, Error *reterr) {
        json_t *mode = json_object_get(message, "mode");

        if (p->mode != NETWORK_EGRESS && p->mode != NETWORK_OPEN && p->mode != NETWORK_ISOLATED)
                return error_set(reterr, -EINVAL, "network.mode: the gate does not serve '%s'", network_mode_to_string(p->mode));
        if (mode && (!json_is_string(mode) || network_mode_from_string(json_string_value(mode)) != (int) p->mode))
                return error_set(reterr, -EINVAL, "mode: differs from that of network ('%s')", network_mode_to_string(p->mode));
        return 0;
}

int gate_settings_read(const Gate *g, json_t *message, GateSettings *ret, Error *reterr) {
        GateSettings s = { 0 };
        int r;

        r = gate_settings_read_policy(g, message, &s.policy, reterr);
        if (r >= 0)
                r = gate_settings_check_mode(message, &s.policy, reterr);
        if (r >= 0)
                r = read_grants(json_object_get(message, "grants"), &s.grants, reterr);
        if (r >= 0)
                r = gate_settings_read_names(message, &s.names, reterr);
        if (r >= 0)
                r = read_credentials(message, &s.credentials, reterr);
        if (r >= 0)
                r = read_used(message, &s.used_bytes, reterr);
        if (r < 0) {
                gate_settings_done(&s);
                return r;
        }
        *ret = s;
        return 0;
}
