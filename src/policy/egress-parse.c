/* egress-parse.c: parses the "network" object. egress-check.c finds contradictions. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "policy/internal.h"
#include "policy/path-set.h"

#define GROUP_MAX     63
#define SECONDS_MAX   86400.0
#define REQUESTS_MAX  1000000000
#define MBPS_MIN      0.001
#define MBPS_MAX      1000000.0
#define BYTES_PER_MBIT 125000.0

static const char *const modes[_NETWORK_MODE_MAX] = {
        [NETWORK_NONE] = "none", [NETWORK_ISOLATED] = "isolated", [NETWORK_EGRESS] = "egress", [NETWORK_OPEN] = "open",
        [NETWORK_HOST] = "host",
};

const char *network_mode_to_string(NetworkMode m) {
        return modes[m];
}

int network_mode_from_string(const char *text) {
        for (int i = 0; i < _NETWORK_MODE_MAX; i++)
                if (strcmp(modes[i], text) == 0)
                        return i;
        return strcmp(text, "bridge") == 0 ? NETWORK_OPEN : -EINVAL;
}

void egress_policy_done(EgressPolicy *p) {
        for (size_t i = 0; i < p->n_rules; i++)
                egress_rule_done(p->rules + i);
        path_set_free(p->paths);
        free(p->rules);
        free(p->group);
        *p = (EgressPolicy) { 0 };
}

typedef struct NetworkReader {
        PolicyReader reader;
        const char *prefix;
        EgressPolicy policy;
        unsigned told; /* EgressTold */
        size_t n_given; /* rules, without "packages", which the mode may add */
        EgressPlaces places;
} NetworkReader;

static void egress_parse_add_packages(NetworkReader *n, EgressAction action, size_t place);

static void egress_parse_read_mode(void *reader, const char *position, json_t *v) {
        NetworkReader *n = reader;
        const char *text = policy_read_string(&n->reader, position, v);
        int mode = text ? network_mode_from_string(text) : -EINVAL;
        const char *nearest;

        n->told |= TOLD_MODE;
        if (!text)
                return;
        if (egress_is_packages(v)) { /* one word for the usual way out */
                n->policy.mode = NETWORK_EGRESS;
                egress_parse_add_packages(n, EGRESS_ALLOW, 0);
        } else if (mode == NETWORK_HOST)
                policy_complain(&n->reader, position, "'host' is for `cove run` alone, where it is asked for by name: none, isolated, egress, packages or open");
        else if (mode < 0) {
                nearest = policy_nearest(text, (const char *const[]) { "none", "isolated", "egress", "packages", "open", NULL });
                policy_complain(&n->reader, position, "'%.64s' is no mode: none, isolated, egress, packages or open%s%s%s", text,
                                nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
        } else
                n->policy.mode = mode;
}

static bool is_group(const char *text) {
        return *text && strlen(text) <= GROUP_MAX && text[0] != '-' && text[0] != '.' &&
                        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(text);
}

static void read_group(void *reader, const char *position, json_t *v) {
        NetworkReader *n = reader;
        const char *text;

        if (json_is_null(v))
                return;
        text = policy_read_string(&n->reader, position, v);
        if (!text)
                return;
        if (!is_group(text)) {
                policy_complain(&n->reader, position, "'%.100s' is no name of a group: up to %d letters, digits, '-', '_', '.'", text, GROUP_MAX);
                return;
        }
        n->policy.group = strdup(text);
        if (!n->policy.group)
                n->reader.error = -ENOMEM;
}

static void egress_parse_add_rule(NetworkReader *n, EgressRule *rule, size_t place) {
        EgressPolicy *p = &n->policy;

        if (ARRAY_EXTEND(p->rules, p->n_rules) < 0) {
                n->reader.error = -ENOMEM;
                egress_rule_done(rule);
                return;
        }
        n->places.at[p->n_rules] = (uint16_t) place;
        p->rules[p->n_rules++] = *rule;
}

/* The place of the word in the list; SIZE_MAX: it is not there. */
static size_t find_packages(json_t *list) {
        json_t *item;
        size_t i;

        json_array_foreach(list, i, item)
                if (egress_is_packages(item))
                        return i;
        return SIZE_MAX;
}

/* An entry that cannot be parsed is left out: the operator's list was checked when it was read, and the
 * policy is not at fault. */
static void egress_parse_add_packages(NetworkReader *n, EgressAction action, size_t place) {
        const EgressSite *site = n->reader.site;

        if (n->policy.packages[action])
                return;
        n->policy.packages[action] = true;
        for (size_t i = 0; i < MIN_OF(egress_packages_size(site), (size_t) EGRESS_PACKAGES_MAX) && n->reader.error >= 0; i++) {
                EgressRule rule;
                int r = egress_packages_rule(egress_packages_text(site, i), action, &rule, /* reterr= */ NULL);

                if (r == -ENOMEM)
                        n->reader.error = r;
                else if (r >= 0)
                        egress_parse_add_rule(n, &rule, place);
        }
}

static void egress_parse_read_packages(NetworkReader *n, const char *position, json_t *list, EgressAction action) {
        size_t place = find_packages(list);
        char at[EGRESS_POSITION_MAX];

        if (place == SIZE_MAX)
                return;
        if (action == EGRESS_DENY)
                policy_complain(&n->reader, policy_position(at, "%s[%zu]", position, place),
                                "\"" EGRESS_PACKAGES "\" is for allow and ask: to deny a registry, write its name");
        else
                egress_parse_add_packages(n, action, place);
}

static void read_rules(NetworkReader *n, const char *position, json_t *v, EgressAction action) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        if (!json_is_array(v)) {
                policy_complain_type(&n->reader, position, "a list of rules", v);
                return;
        }
        n->told |= TOLD_RULES;
        n->n_given += json_array_size(v) - (find_packages(v) < SIZE_MAX);
        if (n->n_given > EGRESS_RULES_MAX) {
                policy_complain(&n->reader, position, "has %zu rules: allow, deny and ask may have %d together", json_array_size(v),
                                EGRESS_RULES_MAX);
                return;
        }
        egress_parse_read_packages(n, position, v, action);
        json_array_foreach(v, i, item) {
                EgressRule rule;
                bool good;

                if (egress_is_packages(item))
                        continue;
                egress_rule_read(&n->reader, policy_position(at, "%s[%zu]", position, i), item, action, &rule, &good);
                if (good)
                        egress_parse_add_rule(n, &rule, i);
        }
}

static void egress_parse_read_allow(void *reader, const char *position, json_t *v) {
        read_rules(reader, position, v, EGRESS_ALLOW);
}

static void egress_parse_read_deny(void *reader, const char *position, json_t *v) {
        read_rules(reader, position, v, EGRESS_DENY);
}

static void read_ask(void *reader, const char *position, json_t *v) {
        read_rules(reader, position, v, EGRESS_ASK);
}

static void read_require_tls(void *reader, const char *position, json_t *v) {
        NetworkReader *n = reader;

        n->told |= TOLD_TLS;
        policy_read_bool(&n->reader, position, v, &n->policy.require_tls);
}

static void read_rate(NetworkReader *n, const char *position, json_t *v, uint64_t *ret) {
        double x;

        if (!policy_read_number(&n->reader, position, v, 0, MBPS_MAX, &x))
                return;
        if (x > 0 && x < MBPS_MIN)
                policy_complain(&n->reader, position, "%.15g is less than %g, with which nothing would arrive; 0 is no limit", x, MBPS_MIN);
        else
                *ret = (uint64_t) (x * BYTES_PER_MBIT + 0.5);
}

static void read_mbps(void *reader, const char *position, json_t *v) {
        NetworkReader *n = reader;
        char at[EGRESS_POSITION_MAX];
        const char *key;
        json_t *item;

        if (!json_is_object(v)) {
                read_rate(n, position, v, &n->policy.up_bytes_per_sec);
                n->policy.down_bytes_per_sec = n->policy.up_bytes_per_sec;
                return;
        }
        json_object_foreach(v, key, item) {
                (void) policy_position(at, "%s.%.64s", position, key);
                if (strcmp(key, "up") == 0)
                        read_rate(n, at, item, &n->policy.up_bytes_per_sec);
                else if (strcmp(key, "down") == 0)
                        read_rate(n, at, item, &n->policy.down_bytes_per_sec);
                else
                        policy_complain_unknown(&n->reader, at, key, (const char *const[]) { "up", "down", NULL });
        }
}

static void egress_parse_read_inspect(void *reader, const char *position, json_t *v) {
        NetworkReader *n = reader;
        const char *text = policy_read_string(&n->reader, position, v);

        if (!text)
                return;
        n->policy.inspect_all = strcmp(text, "always") == 0;
        if (!n->policy.inspect_all && strcmp(text, "auto") != 0)
                policy_complain(&n->reader, position, "must be \"auto\" or \"always\", not '%.64s'", text);
}

#define NETWORK(member) offsetof(NetworkReader, policy.member)

static const PolicyField fields[] = {
        { "mode",                  egress_parse_read_mode    },
        { "group",                 read_group                },
        { "allow",                 egress_parse_read_allow   },
        { "deny",                  egress_parse_read_deny    },
        { "ask",                   read_ask                  },
        { "askTimeoutSeconds",     NULL, POLICY_TIME,  NETWORK(ask_timeout_usec),     USEC_PER_SEC, 1, SECONDS_MAX },
        { "requireTls",            read_require_tls          },
        { "maxRequestBytes",       NULL, POLICY_SIZE,  NETWORK(request_bytes_max)     },
        { "maxResponseBytes",      NULL, POLICY_SIZE,  NETWORK(response_bytes_max)    },
        { "requestTimeoutSeconds", NULL, POLICY_TIME,  NETWORK(request_timeout_usec), USEC_PER_SEC, 0, SECONDS_MAX },
        { "maxRequests",           NULL, POLICY_WHOLE, NETWORK(requests_max),         .max = REQUESTS_MAX },
        { "mbps",                  read_mbps                 },
        { "maxBytes",              NULL, POLICY_SIZE,  NETWORK(total_bytes_max)       },
        { "inspect",               egress_parse_read_inspect },
        { "allowEncryptedHello",   NULL, POLICY_BOOL,  NETWORK(allow_encrypted_hello) },
        { "learn",                 NULL, POLICY_BOOL,  NETWORK(learn)                 },
};

/* Reads fields in the order of the table, not of the text, so that the order of rules does not depend on how
 * the object is written. */
static void egress_parse_read_fields(NetworkReader *n, json_t *object) {
        char at[EGRESS_POSITION_MAX];

        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                json_t *v = json_object_get(object, fields[i].name);

                if (v)
                        policy_read_field(fields + i, n, policy_position(at, "%s.%s", n->prefix, fields[i].name), v);
        }
        policy_check_fields(&n->reader, n->prefix, fields, ELEMENTSOF(fields), object);
}

/* Without a mode, a policy that has rules, "packages" or learn means egress. */
static void fill_in(NetworkReader *n) {
        if (!(n->told & TOLD_MODE) && (n->policy.n_rules > 0 || egress_policy_names_packages(&n->policy) || n->policy.learn))
                n->policy.mode = NETWORK_EGRESS;
        if (!(n->told & TOLD_TLS))
                n->policy.require_tls = n->policy.mode != NETWORK_OPEN;
}

static void check_size(NetworkReader *n) {
        _cleanup_json_ json_t *whole = egress_policy_to_json(&n->policy);
        size_t size = whole ? json_dumpb(whole, NULL, 0, JSON_COMPACT) : 0;

        if (!whole)
                n->reader.error = -ENOMEM;
        else if (size > EGRESS_JSON_MAX)
                policy_complain(&n->reader, n->prefix, "has %zu bytes when written out, may have %d: join rules by \"*.\" or by ranges", size,
                                EGRESS_JSON_MAX);
}

static void egress_parse_make_paths(NetworkReader *n) {
        int r = path_set_new(n->policy.rules, n->policy.n_rules, &n->policy.paths);

        if (r < 0)
                n->reader.error = r;
}

int egress_policy_check_given(const EgressPolicy *p, Error *reterr) {
        return path_set_check(p->rules, p->n_rules, p->paths, reterr);
}

void egress_policy_init(EgressPolicy *p) {
        *p = (EgressPolicy) { .mode = NETWORK_NONE, .ask_timeout_usec = 60 * USEC_PER_SEC, .require_tls = true };
}

int egress_policy_parse(json_t *network, const char *prefix, const EgressSite *site, EgressPolicy *ret, JsonComplaints *c) {
        static const EgressSite none;
        NetworkReader n = { .reader = { c, site ? site : &none, 0 }, .prefix = prefix };

        egress_policy_init(&n.policy);
        if (json_is_object(network))
                egress_parse_read_fields(&n, network);
        else if (json_is_string(network)) /* "network": "none" */
                egress_parse_read_mode(&n, prefix, network);
        else if (network && !json_is_null(network))
                policy_complain_type(&n.reader, prefix, "an object, or a mode", network);
        fill_in(&n);
        egress_policy_check(&n.reader, prefix, &n.policy, &n.places);
        if (!json_has_complaints(c))
                check_size(&n);
        egress_parse_make_paths(&n);
        if (n.reader.error < 0) {
                egress_policy_done(&n.policy);
                return n.reader.error;
        }
        *ret = n.policy;
        return 0;
}
