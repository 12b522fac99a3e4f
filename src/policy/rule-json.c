/* rule-json.c: rules as objects. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/internal.h"

static const struct {
        const char *name;
        unsigned protocol;
} protocols[] = {
        { "tcp", EGRESS_TCP }, { "udp", EGRESS_UDP }, { "http", EGRESS_HTTP }, { "https", EGRESS_HTTPS }, { "dns", EGRESS_DNS },
};

const char *egress_protocol_to_string(unsigned protocol) {
        for (size_t i = 0; i < ELEMENTSOF(protocols); i++)
                if (protocols[i].protocol == protocol)
                        return protocols[i].name;
        return "?";
}

/* Writing. */

static json_t *write_ports(const EgressRule *r) {
        json_t *list = json_array();

        if (r->n_ports == 0)
                (void) json_array_append_new(list, json_string("1-65535"));
        for (size_t i = 0; i < r->n_ports; i++)
                if (r->ports[i].first == r->ports[i].last)
                        (void) json_array_append_new(list, json_integer(r->ports[i].first));
                else
                        (void) json_array_append_new(list, json_sprintf("%u-%u", r->ports[i].first, r->ports[i].last));
        return list;
}

static json_t *write_protocols(const EgressRule *r) {
        json_t *list = json_array();

        for (size_t i = 0; i < ELEMENTSOF(protocols); i++)
                if (r->protocols & protocols[i].protocol)
                        (void) json_array_append_new(list, json_string(protocols[i].name));
        return list;
}

static json_t *write_strings(char **strings) {
        json_t *list = json_array();

        for (; *strings; strings++)
                (void) json_array_append_new(list, json_string(*strings));
        return list;
}

json_t *egress_rule_object(const EgressRule *r) {
        json_t *object = json_object();
        char range[64];

        if (r->domain)
                (void) json_object_set_new(object, "domain", json_string(r->domain));
        else {
                ip_range_format(&r->range, range);
                (void) json_object_set_new(object, "cidr", json_string(range));
        }
        (void) json_object_set_new(object, "ports", write_ports(r));
        (void) json_object_set_new(object, "protocols", write_protocols(r));
        if (r->methods)
                (void) json_object_set_new(object, "methods", write_strings(r->methods));
        if (r->paths)
                (void) json_object_set_new(object, "paths", write_strings(r->paths));
        if (r->inspect)
                (void) json_object_set_new(object, "inspect", json_true());
        return object;
}

json_t *egress_rule_to_json(const EgressRule *r) {
        return r->text && r->text[0] != '{' ? json_string(r->text) : egress_rule_object(r);
}

/* Reading. */

typedef struct RuleReader {
        PolicyReader *reader;
        const char *position;
        EgressRule rule;
        RuleParts parts;
        bool has_target, bad;
} RuleReader;

static void complain_error(RuleReader *r, const char *position, const Error *error) {
        r->bad = true;
        if (error->code == -ENOMEM)
                r->reader->error = -ENOMEM;
        else
                policy_complain(r->reader, position, "%s", error->text);
}

/* Whether the value is a list that is neither empty nor too long; false: a complaint was made. */
static bool is_list(RuleReader *r, const char *position, json_t *v, size_t max) {
        if (json_is_null(v))
                policy_complain_type(r->reader, position, "a list", v);
        else if (policy_is_list(r->reader, position, v, "a list", "entries", max)) {
                if (json_array_size(v) > 0)
                        return true;
                policy_complain(r->reader, position, "must not be empty; leave it out for the default");
        }
        r->bad = true;
        return false;
}

static void rule_json_read_domain(RuleReader *r, const char *position, json_t *v) {
        const char *text = policy_read_string(r->reader, position, v);
        char name[EGRESS_DOMAIN_MAX];
        IpAddress address;
        Error error = { 0 };

        if (!text) {
                r->bad = true;
                return;
        }
        if (ip_parse(text, &address) >= 0) {
                r->bad = true;
                policy_complain(r->reader, position, "'%s' is an address: write it as \"cidr\"", text);
                return;
        }
        if (egress_pattern_normalise(text, strlen(text), name, &error) < 0) {
                complain_error(r, position, &error);
                return;
        }
        r->rule.domain = strdup(name);
        if (!r->rule.domain)
                r->reader->error = -ENOMEM;
}

static void read_cidr(RuleReader *r, const char *position, json_t *v) {
        const char *text = policy_read_string(r->reader, position, v);
        int x;

        if (!text) {
                r->bad = true;
                return;
        }
        x = ip_range_parse(text, &r->rule.range);
        if (x >= 0)
                return;
        r->bad = true;
        policy_complain(r->reader, position,
                        x == -EDOM ? "'%.64s' has bits below its mask: write the first address of the range"
                                   : "'%.64s' is no address and no range: as in 203.0.113.0/24, 203.0.113.7, 2001:db8::/32",
                        text);
}

static bool read_port(json_t *v, EgressPorts *ret) {
        if (json_is_string(v))
                return egress_ports_parse(json_string_value(v), json_string_length(v), ret) >= 0;
        if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > 65535)
                return false;
        ret->first = ret->last = (uint16_t) json_integer_value(v);
        return true;
}

static void read_ports(RuleReader *r, const char *position, json_t *v) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        r->parts.has_ports = true;
        if (!is_list(r, position, v, EGRESS_PORTS_MAX))
                return;
        json_array_foreach(v, i, item) {
                EgressPorts ports;

                if (read_port(item, &ports)) {
                        if (egress_rule_add_ports(&r->rule, ports) < 0)
                                r->reader->error = -ENOMEM;
                        continue;
                }
                r->bad = true;
                policy_complain(r->reader, policy_position(at, "%s[%zu]", position, i),
                                "is no port: a number from 1 to 65535, or a range as in \"8000-8100\"");
        }
}

static unsigned find_protocol(json_t *v) {
        for (size_t i = 0; json_is_string(v) && i < ELEMENTSOF(protocols); i++)
                if (strcasecmp(protocols[i].name, json_string_value(v)) == 0)
                        return protocols[i].protocol;
        return 0;
}

static void read_protocols(RuleReader *r, const char *position, json_t *v) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        size_t i;

        r->parts.has_protocols = true;
        if (!is_list(r, position, v, ELEMENTSOF(protocols)))
                return;
        json_array_foreach(v, i, item) {
                unsigned protocol = find_protocol(item);

                if (protocol & EGRESS_ALL_PROTOCOLS) {
                        r->rule.protocols |= protocol;
                        continue;
                }
                r->bad = true;
                policy_complain(r->reader, policy_position(at, "%s[%zu]", position, i),
                                protocol ? "names of allowed hosts are looked up without any rule: take \"dns\" away"
                                         : "is no protocol: \"https\", \"http\", \"tcp\" or \"udp\"");
        }
}

static bool is_method(const char *text) {
        return *text && strlen(text) <= 32 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(text);
}

static void check_method(char *method, Error *reterr) {
        if (!is_method(method))
                (void) error_set(reterr, -EINVAL, "'%.64s' is no method: as in \"GET\"", method);
        else if (strcasecmp(method, "CONNECT") == 0)
                (void) error_set(reterr, -EINVAL, "CONNECT would be a tunnel past the policy: there is no rule that lets it pass");
        for (char *p = method; *p; p++)
                *p = (char) toupper((unsigned char) *p);
}

static void rule_json_check_path(char *path, Error *reterr) {
        (void) egress_path_check(path, reterr);
}

static void rule_json_read_texts(RuleReader *r, const char *position, json_t *v, size_t max, void (*check)(char *text, Error *reterr), char ***ret) {
        char at[EGRESS_POSITION_MAX];
        json_t *item;
        char **list;
        size_t i, n = 0;

        if (!is_list(r, position, v, max))
                return;
        list = calloc(json_array_size(v) + 1, sizeof(char *));
        *ret = list;
        json_array_foreach(v, i, item) {
                const char *text = policy_read_string(r->reader, policy_position(at, "%s[%zu]", position, i), item);
                Error error = { 0 };
                char *copy = text && list ? strdup(text) : NULL;

                if (!copy) {
                        r->bad = true;
                        if (text)
                                r->reader->error = -ENOMEM;
                        continue;
                }
                list[n++] = copy;
                check(copy, &error);
                if (error.code < 0)
                        complain_error(r, at, &error);
        }
}

static void read_methods(RuleReader *r, const char *position, json_t *v) {
        rule_json_read_texts(r, position, v, EGRESS_METHODS_MAX, check_method, &r->rule.methods);
}

static void read_paths(RuleReader *r, const char *position, json_t *v) {
        rule_json_read_texts(r, position, v, EGRESS_PATHS_MAX, rule_json_check_path, &r->rule.paths);
}

static void rule_json_read_inspect(RuleReader *r, const char *position, json_t *v) {
        policy_read_bool(r->reader, position, v, &r->rule.inspect);
}

static const struct {
        const char *name;
        void (*read)(RuleReader *r, const char *position, json_t *v);
        bool target;
} fields[] = {
        { "domain", rule_json_read_domain, true },      { "cidr", read_cidr, true },        { "ports", read_ports, false },
        { "protocols", read_protocols, false }, { "methods", read_methods, false }, { "paths", read_paths, false },
        { "inspect", rule_json_read_inspect, false },
};

static const char *const field_names[] = { "domain", "cidr", "ports", "protocols", "methods", "paths", "inspect", NULL };

static void rule_json_read_field(RuleReader *r, const char *key, json_t *v) {
        char at[EGRESS_POSITION_MAX];

        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                if (strcmp(fields[i].name, key) == 0) {
                        if (fields[i].target && r->has_target) {
                                r->bad = true;
                                policy_complain(r->reader, r->position, "has both \"domain\" and \"cidr\": keep one, and make a second rule of the other");
                                return;
                        }
                        r->has_target |= fields[i].target;
                        fields[i].read(r, policy_position(at, "%s.%s", r->position, key), v);
                        return;
                }
        r->bad = true;
        policy_complain_unknown(r->reader, policy_position(at, "%s.%.64s", r->position, key), key, field_names);
}

static void check_inspect(RuleReader *r) {
        if (!r->rule.inspect || r->bad || egress_rule_is_conditional(&r->rule))
                return;
        if (r->rule.action == EGRESS_DENY)
                (void) policy_complain(r->reader, r->position, "\"inspect\" opens TLS of what is allowed; a deny has nothing to open");
        else if (!(r->rule.protocols & EGRESS_HTTPS))
                (void) policy_complain(r->reader, r->position, "\"inspect\" opens TLS: the rule needs \"https\" among its protocols");
        else
                return;
        r->bad = true;
}

static void rule_json_read_object(RuleReader *r, json_t *v) {
        Error error = { 0 };
        const char *key;
        json_t *item;

        json_object_foreach(v, key, item)
                rule_json_read_field(r, key, item);
        if (!r->has_target) {
                r->bad = true;
                policy_complain(r->reader, r->position, "says neither \"domain\" nor \"cidr\"");
        }
        if (r->bad || r->reader->error < 0)
                return;
        if (egress_rule_defaults(&r->rule, &r->parts, &error) < 0)
                complain_error(r, r->position, &error);
        check_inspect(r);
        if (!r->bad && egress_rule_finish(&r->rule, &error) < 0)
                complain_error(r, r->position, &error);
}

void egress_rule_read(PolicyReader *reader, const char *position, json_t *v, EgressAction action, EgressRule *ret, bool *ret_good) {
        RuleReader r = { .reader = reader, .position = position, .rule.action = action };
        Error error = { 0 };

        if (json_is_object(v))
                rule_json_read_object(&r, v);
        else if (json_is_string(v)) {
                const char *text = policy_read_string(reader, position, v);

                r.bad = !text;
                if (text && egress_rule_parse(text, action, &r.rule, &error) < 0)
                        complain_error(&r, position, &error);
        } else {
                r.bad = true;
                policy_complain_type(reader, position, "a string such as \"example.org\", or an object with \"domain\" or \"cidr\"", v);
        }
        *ret_good = !r.bad && reader->error >= 0;
        if (*ret_good)
                *ret = r.rule;
        else
                egress_rule_done(&r.rule);
}

int egress_rule_from_json(json_t *v, EgressAction action, EgressRule *ret, Error *reterr) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        PolicyReader reader = { .complaints = &c };
        bool good;

        egress_rule_read(&reader, "rule", v, action, ret, &good);
        if (reader.error < 0)
                return error_set(reterr, reader.error, "out of memory");
        if (!good) {
                json_t *first = json_array_get(c.list, 0);

                return error_set(reterr, -EINVAL, "%s: %s", json_string_value(json_object_get(first, "field")),
                                json_string_value(json_object_get(first, "message")));
        }
        return 0;
}
