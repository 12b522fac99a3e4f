/* policy-aliases.c: the aliases for the network. Their "example.org" means that name and all below it, so it
 * becomes two rules. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy-internal.h"

static const struct {
        const char *alias, *name;
} plain[] = {
        { "requireTls", "requireTls" }, { "maxRequestSize", "maxRequestBytes" }, { "maxResponseSize", "maxResponseBytes" },
};

static const char *const others[] = { "allowNetworkAccess", "allowedDomains", "deniedDomains", "timeout" };

bool policy_is_network_alias(const char *key) {
        for (size_t i = 0; i < ELEMENTSOF(plain); i++)
                if (strcmp(plain[i].alias, key) == 0)
                        return true;
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                if (strcmp(others[i], key) == 0)
                        return true;
        return false;
}

/* A plain name becomes two rules, everything else one. */
static bool is_plain_name(const char *text) {
        char name[EGRESS_DOMAIN_MAX];

        return egress_host_normalise(text, strlen(text), name) >= 0;
}

/* A value that is not a string is passed on unchanged: the parser of rules complains about it. */
static json_t *policy_aliases_expand(json_t *list) {
        json_t *rules = json_array(), *item;
        size_t i;

        json_array_foreach(list, i, item) {
                (void) json_array_append(rules, item);
                if (json_is_string(item) && is_plain_name(json_string_value(item)))
                        (void) json_array_append_new(rules, json_sprintf("*.%s", json_string_value(item)));
        }
        return rules;
}

/* The index of the list's entry that the rule was made from. */
static size_t origin(json_t *list, size_t rule) {
        json_t *item;
        size_t i, n = 0;

        json_array_foreach(list, i, item) {
                n += json_is_string(item) && is_plain_name(json_string_value(item)) ? 2 : 1;
                if (rule < n)
                        return i;
        }
        return rule;
}

static void add_domains(WholeReader *w, json_t *object, const char *alias, const char *name, json_t *network) {
        json_t *list = json_object_get(object, alias);
        char at[EGRESS_POSITION_MAX];

        if (!list)
                return;
        if (json_is_array(list))
                (void) json_object_set_new(network, name, policy_aliases_expand(list));
        else
                policy_complain_type(&w->reader, policy_position(at, "%s.%s", w->prefix, alias), "a list of domains", list);
}

static void add_mode(WholeReader *w, json_t *object, json_t *network) {
        json_t *access = json_object_get(object, "allowNetworkAccess");
        size_t allowed = json_array_size(json_object_get(object, "allowedDomains"));
        char at[EGRESS_POSITION_MAX];
        bool is_open = allowed > 0;

        (void) policy_position(at, "%s.allowNetworkAccess", w->prefix);
        if (access)
                policy_read_bool(&w->reader, at, access, &is_open);
        if (!is_open && allowed > 0)
                policy_complain(&w->reader, at, "is false, and there are allowedDomains: set it to true, or take them away");
        if (access || allowed > 0)
                (void) json_object_set_new(network, "mode", json_string(is_open || allowed > 0 ? "egress" : "none"));
}

static void add_timeout(WholeReader *w, json_t *object, json_t *network) {
        json_t *v = json_object_get(object, "timeout");
        char at[EGRESS_POSITION_MAX];
        double ms;

        if (v && policy_read_number(&w->reader, policy_position(at, "%s.timeout", w->prefix), v, 0, 86400000, &ms))
                (void) json_object_set_new(network, "requestTimeoutSeconds", json_real(ms / 1000));
}

json_t *policy_aliases_to_network(WholeReader *w, json_t *object) {
        json_t *network = json_object();

        for (size_t i = 0; i < ELEMENTSOF(plain); i++)
                if (json_object_get(object, plain[i].alias))
                        (void) json_object_set(network, plain[i].name, json_object_get(object, plain[i].alias));
        add_domains(w, object, "allowedDomains", "allow", network);
        add_domains(w, object, "deniedDomains", "deny", network);
        add_mode(w, object, network);
        add_timeout(w, object, network);
        if (!network)
                w->reader.error = -ENOMEM;
        return network;
}

/* "policy.network.allow[3]" to "policy.allowedDomains[1]" */
static void translate(WholeReader *w, json_t *object, const char *field, char at[static EGRESS_POSITION_MAX]) {
        size_t skip = strlen(w->prefix) + strlen(".network.");
        const char *rest = strlen(field) > skip ? field + skip : "";
        size_t k;

        if (sscanf(rest, "allow[%zu]", &k) == 1)
                (void) policy_position(at, "%s.allowedDomains[%zu]", w->prefix, origin(json_object_get(object, "allowedDomains"), k));
        else if (sscanf(rest, "deny[%zu]", &k) == 1)
                (void) policy_position(at, "%s.deniedDomains[%zu]", w->prefix, origin(json_object_get(object, "deniedDomains"), k));
        else if (strcmp(rest, "requestTimeoutSeconds") == 0)
                (void) policy_position(at, "%s.timeout", w->prefix);
        else
                (void) policy_position(at, "%s", field);
        for (size_t i = 0; i < ELEMENTSOF(plain); i++)
                if (strcmp(rest, plain[i].name) == 0)
                        (void) policy_position(at, "%s.%s", w->prefix, plain[i].alias);
}

int policy_aliases_translate(WholeReader *w, json_t *object, JsonComplaints *from) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        json_array_foreach(from->list, i, item) {
                translate(w, object, json_string_value(json_object_get(item, "field")), at);
                policy_complain(&w->reader, at, "%s", json_string_value(json_object_get(item, "message")));
        }
        return w->reader.error;
}
