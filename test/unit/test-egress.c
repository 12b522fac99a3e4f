/* What may leave: rules read and written, questions answered, answers explained. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "policy/egress.h"
#include "policy/path-set.h"

typedef struct Case {
        const char *policy; /* NULL: that of the row above */
        const char *question; /* PROTOCOL HOST|- ADDRESS|- PORT METHOD|- PATH|- */
        const char *verdict;  /* "allow", "allow inspect", "ask", "deny REASON"; then "@N": the rule, or "=NAME": what the policy has for it */
} Case;

static const IpRange reachable_here[] = {
        { { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 0, 0 } }, 112 }, /* 10.1.0.0/16 */
        { { { 0xfd, 0x12 } }, 16 },
};

static const EgressSite site_here = { reachable_here, ELEMENTSOF(reachable_here), NULL };

static const Case cases[] = {
#include "egress-cases.h"
};

static json_t *load(const char *text) {
        json_error_t error;
        json_t *j = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

        if (!j)
                fprintf(stderr, "%s: %s\n", text, error.text);
        check_true("JSON", j != NULL);
        return j;
}

static void read_policy(const char *text, EgressPolicy *ret) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = load(text);

        check_result(text, egress_policy_parse(j, "network", &site_here, ret, &c), 0);
        if (json_has_complaints(&c)) {
                char *complaints = json_dumps(c.list, 0);

                check_string(text, complaints, "");
                free(complaints);
        }
}

typedef struct Asked {
        char protocol[8], host[300], address[64], method[32], path[512];
        EgressQuestion q;
} Asked;

static EgressProtocol protocol_of(const char *name) {
        static const struct {
                const char *name;
                EgressProtocol protocol;
        } names[] = { { "tcp", EGRESS_TCP }, { "udp", EGRESS_UDP }, { "http", EGRESS_HTTP }, { "https", EGRESS_HTTPS }, { "dns", EGRESS_DNS } };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(names[i].name, name) == 0)
                        return names[i].protocol;
        fail_msg("no protocol: %s", name);
        return 0;
}

static void read_question(const char *text, Asked *a) {
        unsigned port = 0;

        *a = (Asked) { .method = "-", .path = "-" };
        check_true(text, sscanf(text, "%7s %299s %63s %u %31s %511s", a->protocol, a->host, a->address, &port, a->method, a->path) >= 4);
        a->q = (EgressQuestion) { .protocol = protocol_of(a->protocol), .port = (uint16_t) port };
        if (strcmp(a->host, "-") != 0)
                a->q.host = a->host;
        if (strcmp(a->address, "-") != 0) {
                a->q.has_address = true;
                check_result(text, ip_parse(a->address, &a->q.address), 0);
        }
        if (strcmp(a->method, "-") != 0)
                a->q.method = a->method;
        if (strcmp(a->path, "-") != 0)
                a->q.path = a->path;
}

static EgressVerdict decide(const EgressPolicy *p, const EgressQuestion *q) {
        return egress_decide(p, reachable_here, ELEMENTSOF(reachable_here), q);
}

static void show(const EgressVerdict *v, char ret[static 64]) {
        static const char *const actions[] = { "deny", "allow", "ask" };
        size_t n = (size_t) snprintf(ret, 64, "%s", actions[v->action]);

        if (v->action == EGRESS_DENY)
                n += (size_t) snprintf(ret + n, 64 - n, " %s", egress_reason_to_string(v->reason));
        if (v->inspect)
                n += (size_t) snprintf(ret + n, 64 - n, " inspect");
        if (v->rule >= 0)
                (void) snprintf(ret + n, 64 - n, " @%d", v->rule);
}

/* The rule by its name, where the row has it so. */
static void show_as(const EgressPolicy *p, const EgressVerdict *v, const char *wanted, char ret[static 64]) {
        show(v, ret);
        if (strchr(wanted, '=') && v->rule >= 0)
                (void) snprintf(strchr(ret, '@'), 32, "=%s", egress_rule_name(p->rules + v->rule));
}

TEST(decisions) {
        EgressPolicy p = { 0 };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char what[1024], found[64];
                EgressVerdict v;
                Asked a;

                if (cases[i].policy) {
                        egress_policy_done(&p);
                        read_policy(cases[i].policy, &p);
                }
                read_question(cases[i].question, &a);
                v = decide(&p, &a.q);
                show_as(&p, &v, cases[i].verdict, found);
                (void) snprintf(what, sizeof(what), "row %zu: %s", i, cases[i].question);
                check_string(what, found, cases[i].verdict);
        }
        check_true("rows", ELEMENTSOF(cases) >= 150);
        egress_policy_done(&p);
}

/* The cure, laid over the policy: lists grow, the rest is replaced. */
static json_t *lay_over(const EgressPolicy *p, const char *cure) {
        _cleanup_json_ json_t *patch = load(cure);
        json_t *whole = egress_policy_to_json(p), *v;
        const char *key;

        json_object_foreach(json_object_get(patch, "network"), key, v)
                if (json_is_array(v))
                        check_int("extend", json_array_extend(json_object_get(whole, key), v), 0);
                else
                        check_int("set", json_object_set(whole, key, v), 0);
        return whole;
}

/* A cure that is JSON really cures: the same question is allowed when it is followed. */
TEST(cures) {
        EgressPolicy p = { 0 };
        unsigned cured = 0;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX], *dump;
                EgressPolicy better;
                EgressVerdict v;
                json_t *whole;
                Asked a;

                if (cases[i].policy) {
                        egress_policy_done(&p);
                        read_policy(cases[i].policy, &p);
                }
                read_question(cases[i].question, &a);
                v = decide(&p, &a.q);
                egress_explain(&p, &v, &a.q, text, cure);
                check_true(text, strlen(text) > 10 && text[strlen(text) - 1] == '.');
                check_true(text, (v.action == EGRESS_DENY) == (cure[0] != '\0'));
                if (!strchr(cure, '{') || v.reason == EGRESS_BY_RULE)
                        continue;
                whole = lay_over(&p, strchr(cure, '{'));
                dump = json_dumps(whole, 0);
                read_policy(dump, &better);
                free(dump);
                json_decref(whole);
                v = decide(&better, &a.q);
                check_true(cure, v.action != EGRESS_DENY); /* an ask stays one */
                egress_policy_done(&better);
                cured++;
        }
        egress_policy_done(&p);
        check_true("many", cured > 30);
}

/* Every reason has its words, also those that only the gate finds. */
TEST(reasons) {
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        Asked a;

        read_policy("{\"allow\":[\"a.example\"],\"maxRequests\":3,\"maxBytes\":\"1MB\",\"maxRequestBytes\":5}", &p);
        read_question("https a.example 203.0.113.7 443 GET /x", &a);
        for (int i = 0; i < _EGRESS_REASON_MAX; i++) {
                char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];
                EgressVerdict v = { EGRESS_DENY, i, -1, false };

                check_true("slug", egress_reason_to_string(i) && strspn(egress_reason_to_string(i), "abcdefghijklmnopqrstuvwxyz_") ==
                                                strlen(egress_reason_to_string(i)));
                egress_explain(&p, &v, &a.q, text, cure);
                check_part("object", text, "GET https://a.example/x ");
                check_true(text, cure[0] != '\0');
                v.rule = 7; /* of a grant */
                egress_explain(&p, &v, &a.q, text, cure);
        }
}

TEST(explanation) {
        static const struct {
                const char *policy, *question, *text, *cure;
        } rows[] = {
                { "{\"mode\":\"egress\",\"requireTls\":false}", "http example.org 203.0.113.7 80 GET /x",
                  "GET http://example.org/x is denied: nothing in the policy allows \"example.org\".",
                  "{\"network\":{\"allow\":[\"http://example.org\"]}}" },
                { "{\"allow\":[\"example.org\"]}", "http example.org - 80 GET /x",
                  "GET http://example.org/x is denied: it is plain HTTP, and the policy requires TLS.",
                  "use https://example.org, or {\"network\":{\"requireTls\":false}}" },
                { "{}", "https example.org - 443",
                  "https://example.org is denied: the sandbox's network mode is \"none\", which has no way out.",
                  "{\"network\":{\"mode\":\"egress\",\"allow\":[\"https://example.org\"]}}" },
                { "{\"mode\":\"egress\"}", "tcp - 169.254.169.254 80",
                  "tcp://169.254.169.254:80 is denied: 169.254.169.254 is link-local, where clouds keep their metadata, which no policy opens by itself.",
                  "only the operator can open it: network.reachable: [\"169.254.169.254\"] in cove.yaml" },
                { "{\"allow\":[\"*\"],\"deny\":[\"*.evil.example\"]}", "https a.evil.example - 443",
                  "https://a.evil.example is denied: deny[0] \"*.evil.example\" says so.",
                  "take deny[0] \"*.evil.example\" out of network.deny: a deny wins over every allow" },
                { "{\"allow\":[\"b.example\",\"a.example\"]}", "https a.example - 8443",
                  "https://a.example:8443 is denied: allow[1] \"a.example\" comes nearest and is not for port 8443.",
                  "{\"network\":{\"allow\":[\"https://a.example:8443\"]}}" },
                { "{\"allow\":[\"https://a.example/x*\"]}", "https a.example - 443 GET /y",
                  "GET https://a.example/y is denied: allow[0] \"https://a.example/x*\" comes nearest and does not have this path.",
                  "{\"network\":{\"allow\":[{\"domain\":\"a.example\",\"protocols\":[\"https\"],\"methods\":[\"GET\"],\"paths\":[\"/y\"]}]}}" },
                { "{\"mode\":\"egress\"}", "dns a.example - 53", "looking up \"a.example\" is denied: nothing in the policy allows \"a.example\".",
                  "{\"network\":{\"allow\":[\"a.example\"]}}" },
                { "{\"allow\":[\"a.example\"]}", "https a.example - 443", "https://a.example is allowed by allow[0] \"a.example\".", "" },
                { "{\"ask\":[\"*\"]}", "https a.example - 443", "https://a.example waits for approval: ask[0] \"*\".", "" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
                char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];
                EgressVerdict v;
                Asked a;

                read_policy(rows[i].policy, &p);
                read_question(rows[i].question, &a);
                v = decide(&p, &a.q);
                egress_explain(&p, &v, &a.q, text, cure);
                check_string(rows[i].question, text, rows[i].text);
                check_string(rows[i].question, cure, rows[i].cure);
        }
}

/* What is too long or cannot be seen is cut and hidden, and the cure stays JSON. */
TEST(explanation_of_rubbish) {
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        char host[254], path[4000], text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];
        EgressQuestion q = { .protocol = EGRESS_HTTPS, .host = host, .port = 65535, .method = "PROP\"\n", .path = path };
        EgressVerdict v = { EGRESS_DENY, EGRESS_PATH, 0, false };

        read_policy("{\"allow\":[\"https://a.example/x*\"]}", &p);
        for (size_t i = 0; i < sizeof(host) - 1; i++)
                host[i] = i % 50 == 49 ? '.' : 'a';
        host[sizeof(host) - 1] = '\0';
        memset(path, 'x', sizeof(path) - 1);
        memcpy(path, "/\"\x01\xff\\", 5);
        path[sizeof(path) - 1] = '\0';
        egress_explain(&p, &v, &q, text, cure);
        for (const char *c = text; *c; c++)
                check_true("visible", (unsigned char) *c >= 0x20);
        json_decref(load(cure));
}

TEST(print_and_read_again) {
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(egress_policy_done) EgressPolicy once = { 0 }, twice = { 0 };
                _cleanup_json_ json_t *first = NULL, *second = NULL;
                _cleanup_free_ char *text = NULL;

                if (!cases[i].policy)
                        continue;
                read_policy(cases[i].policy, &once);
                first = egress_policy_to_json(&once);
                text = json_dumps(first, 0);
                read_policy(text, &twice);
                second = egress_policy_to_json(&twice);
                check_true(text, json_equal(first, second));
                check_uint(text, twice.n_rules, once.n_rules);
                for (size_t k = 0; k < once.n_rules; k++)
                        check_string(text, twice.rules[k].text, once.rules[k].text);
        }
}

/* Short forms, and what they are when written again. */
TEST(short_forms) {
        static const struct {
                const char *text, *again; /* NULL: the same */
        } rows[] = {
                { "example.org", NULL },
                { "Example.ORG.", "example.org" },
                { "bücher.example", "xn--bcher-kva.example" },
                { "*.BÜCHER.example", "*.xn--bcher-kva.example" },
                { "example.org:443", NULL },
                { "example.org:8000-8100", NULL },
                { "example.org:1-65535", NULL },
                { "*.example.org", NULL },
                { "*", NULL },
                { "*:8443", NULL },
                { "https://example.org", NULL },
                { "https://example.org:443", "https://example.org" },
                { "HTTPS://Example.org/Path*", "https://example.org/Path*" },
                { "http://example.org:8080/a/*", NULL },
                { "tcp://db.example.org:5432", NULL },
                { "udp://*.example.org:53", NULL },
                { "tcp://203.0.113.0/24:8000", "203.0.113.0/24:8000" },
                { "udp://203.0.113.0/24", NULL },
                { "203.0.113.0/24", NULL },
                { "203.0.113.7/32", "203.0.113.7" },
                { "203.0.113.7:22", NULL },
                { "2001:db8::/32", NULL },
                { "[2001:DB8::/32]:443", "[2001:db8::/32]:443" },
                { "[2001:db8::1]", "2001:db8::1" },
                { "tcp://[2001:db8::1]:22", "[2001:db8::1]:22" },
                { "https://[2001:db8::1]:8443/x", NULL },
                { "https://203.0.113.7", NULL },
                { "::ffff:203.0.113.7", "203.0.113.7" },
                { "r3---sn-ab.example", NULL },
                { "_dmarc.example.org", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_(egress_rule_done) EgressRule rule = { 0 };
                Error error = { 0 };

                check_result(rows[i].text, egress_rule_parse(rows[i].text, EGRESS_ALLOW, &rule, &error), 0);
                check_string(rows[i].text, rule.text, rows[i].again ? rows[i].again : rows[i].text);
        }
}

TEST(special_addresses) {
        static const char *const special[] = {
                "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
                "172.31.255.255", "192.0.0.8", "192.168.1.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "239.255.255.250", "240.0.0.1",
                "255.255.255.255", "::", "::1", "::10.0.0.1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1",
                "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::", "2001::1", "2001:10::1", "100::1", "fc00::1", "fd00:ec2::254",
                "fd64::2", "fe80::1", "fec0::1", "ff02::1", "5f00::1",
        };
        static const char *const ordinary[] = {
                "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
                "172.15.255.255", "172.32.0.0", "192.0.2.1", "192.0.1.1", "198.51.100.1", "203.0.113.1", "198.17.255.255", "198.20.0.0",
                "223.255.255.255", "2001:db8::1", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8", "2001:200::1",
        };
        IpAddress a;

        for (size_t i = 0; i < ELEMENTSOF(special); i++) {
                check_result(special[i], ip_parse(special[i], &a), 0);
                check_true(special[i], ip_special(&a) != NULL);
        }
        for (size_t i = 0; i < ELEMENTSOF(ordinary); i++) {
                check_result(ordinary[i], ip_parse(ordinary[i], &a), 0);
                check_true(ordinary[i], !ip_special(&a));
        }
}

TEST(hosts) {
        static const char *const bad[] = { "", ".", "a..b", ".a", "-a.example", "a-.example", "a b", "10.0.0.1", "0x7f.1", "0x7f000001", "2130706433",
                "1.2.3.04", "a.127", "a/b", "a:b", "*", "*.a", "a\\b", "a%2eb", "[::1]", "::1", "xn--a-\xc3(.example",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example" };
        static const char *const good[][2] = { { "A.Example", "a.example" }, { "a.example.", "a.example" }, { "localhost", "localhost" },
                { "1a.2b", "1a.2b" }, { "x.1.com", "x.1.com" }, { "straße.example", "xn--strae-oqa.example" }, { "ａ.example", "a.example" },
                { "a。example", "a.example" }, { "XN--BCHER-KVA.example", "xn--bcher-kva.example" } };
        char name[EGRESS_DOMAIN_MAX];

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                check_result(bad[i], egress_host_normalise(bad[i], strlen(bad[i]), name), -EINVAL);
        check_result("NUL", egress_host_normalise("a.example\0.org", 14, name), -EINVAL);
        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                check_result(good[i][0], egress_host_normalise(good[i][0], strlen(good[i][0]), name), 0);
                check_string(good[i][0], name, good[i][1]);
        }
}

TEST(paths) {
        static const char *const rows[][2] = {
                { "/", "/" }, { "/a/b", "/a/b" }, { "/a/./b", "/a/b" }, { "/a/../b", "/b" }, { "/../..", "/" }, { "/a/..", "/" }, { "/a/.", "/a/" },
                { "/%61", "/a" }, { "/%2e%2E/x", "/x" }, { "/a%2fb", "/a%2Fb" }, { "/a?b=/..", "/a" }, { "/@scope%2fpkg", "/@scope%2Fpkg" },
                { "/a//b", "/a//b" }, { "", NULL }, { "a", NULL }, { "*", NULL }, { "/%", NULL }, { "/%2", NULL }, { "/%zz", NULL }, { "/a b", NULL },
                { "/a%2f..%2fb", NULL }, { "/a/..%2fb", NULL }, { "/a\\..\\b", NULL }, { "/..%5cb", NULL }, { "/a#b", NULL }, { "/\xc3\xa4", NULL },
                { "/..a", "/..a" }, { "/a..", "/a.." }, { "/%00", NULL },
                { "/a/..;x/b", NULL }, { "/..%3bx", NULL }, { "/...", "/..." }, { "/a;x/b", "/a;x/b" }, { "/a%2f..", NULL },
                { "/a/%252e%252e/b", NULL }, { "/a/.%25252E%252fb", NULL }, { "/a/..%253bx", NULL }, { "/a%252f..", NULL }, { "/%2520b", "/%2520b" },
                { "/a/%252e/b", NULL }, { "/a//../b", NULL }, { "/.%2fb", NULL }, { "/%25", "/%25" }, { "/%2525", "/%2525" },
        };
        char path[64];

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                check_result(rows[i][0], egress_path_normalise(rows[i][0], strlen(rows[i][0]), path, sizeof(path)), rows[i][1] ? 0 : -EINVAL);
                if (rows[i][1])
                        check_string(rows[i][0], path, rows[i][1]);
        }
        check_result("no room", egress_path_normalise("/aaaaaaaa", 9, path, 8), -ENOSPC);
}

/* Complaints: all at once, each at its place. */
TEST(complaints) {
        static const struct {
                const char *policy, *field, *part;
        } rows[] = {
                { "[]", "network", "must be an object" },
                { "\"opne\"", "network", "did you mean" },
                { "{\"mode\":\"host\"}", "network.mode", "cove run" },
                { "{\"mode\":\"egres\"}", "network.mode", "did you mean 'egress'?" },
                { "{\"alow\":[]}", "network.alow", "did you mean 'allow'?" },
                { "{\"zzzzzz\":1}", "network.zzzzzz", "there are: mode, group, allow" },
                { "{\"allow\":{}}", "network.allow", "must be a list of rules, not an object" },
                { "{\"allow\":[\"a.example\",5]}", "network.allow[1]", "must be a string" },
                { "{\"allow\":[\"a b\"]}", "network.allow[0]", "no name of a host" },
                { "{\"allow\":[\"a.*.example\"]}", "network.allow[0]", "wildcard" },
                { "{\"allow\":[\"\"]}", "network.allow[0]", "names no host" },
                { "{\"allow\":[\"localhost:80\"]}", "network.allow[0]", "the sandbox itself" },
                { "{\"allow\":[\"a.example:0\"]}", "network.allow[0]", "no port" },
                { "{\"allow\":[\"a.example:70000\"]}", "network.allow[0]", "no port" },
                { "{\"allow\":[\"a.example:9-8\"]}", "network.allow[0]", "no port" },
                { "{\"allow\":[\"a.example/x\"]}", "network.allow[0]", "begins with https://" },
                { "{\"allow\":[\"ftp://a.example\"]}", "network.allow[0]", "another scheme" },
                { "{\"allow\":[\"tcp://a.example\"]}", "network.allow[0]", "no port" },
                { "{\"allow\":[\"https://a.example/\"]}", "network.allow[0]", "ends in '/'" },
                { "{\"allow\":[\"https://a.example/a?b\"]}", "network.allow[0]", "no '?'" },
                { "{\"allow\":[\"https://a.example/../b\"]}", "network.allow[0]", "'..'" },
                { "{\"allow\":[\"https://203.0.113.0/24\"]}", "network.allow[0]", "\"cidr\": \"203.0.113.0/24\"" },
                { "{\"allow\":[\"203.0.113.5/24\"]}", "network.allow[0]", "bits below its mask" },
                { "{\"allow\":[\"203.0.113.0/33\"]}", "network.allow[0]", "no address and no range" },
                { "{\"allow\":[\"300.0.113.0\"]}", "network.allow[0]", "no address and no range" },
                { "{\"allow\":[\"[203.0.113.0]:80\"]}", "network.allow[0]", "only IPv6" },
                { "{\"allow\":[\"[2001:db8::1:80\"]}", "network.allow[0]", "[ADDRESS]" },
                { "{\"allow\":[\"192.168.1.0/24\"]}", "network.allow[0]", "network.reachable: [\"192.168.1.0/24\"]" },
                { "{\"ask\":[\"169.254.169.254\"]}", "network.ask[0]", "out of reach" },
                { "{\"allow\":[\"64:ff9b::7f00:0/104\"]}", "network.allow[0]", "loopback" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"port\":[1]}]}", "network.allow[0].port", "did you mean 'ports'?" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"ports\":[443,\"x\"]}]}", "network.allow[0].ports[1]", "no port" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"ports\":[0.5]}]}", "network.allow[0].ports[0]", "no port" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"ports\":[]}]}", "network.allow[0].ports", "must not be empty" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"protocols\":[\"ws\"]}]}", "network.allow[0].protocols[0]", "no protocol" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"protocols\":[\"dns\"]}]}", "network.allow[0].protocols[0]", "take \"dns\" away" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"methods\":[\"G T\"]}]}", "network.allow[0].methods[0]", "no method" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"methods\":[\"CONNECT\"]}]}", "network.allow[0].methods[0]", "tunnel" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"paths\":[\"x\"]}]}", "network.allow[0].paths[0]", "must begin with '/'" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"paths\":\"/x\"}]}", "network.allow[0].paths", "must be a list" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"protocols\":[\"tcp\"],\"ports\":[1],\"methods\":[\"GET\"]}]}", "network.allow[0]",
                  "methods and paths are for http and https" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"cidr\":\"203.0.113.0/24\"}]}", "network.allow[0]", "both" },
                { "{\"allow\":[{\"ports\":[1]}]}", "network.allow[0]", "neither" },
                { "{\"allow\":[{\"domain\":\"203.0.113.1\"}]}", "network.allow[0].domain", "\"cidr\"" },
                { "{\"allow\":[{\"cidr\":\"a.example\"}]}", "network.allow[0].cidr", "no address" },
                { "{\"deny\":[{\"domain\":\"a.example\",\"inspect\":true}]}", "network.deny[0]", "nothing to open" },
                { "{\"allow\":[{\"domain\":\"a.example\",\"protocols\":[\"tcp\"],\"ports\":[1],\"inspect\":true}]}", "network.allow[0]", "opens TLS" },
                { "{\"mode\":\"none\",\"allow\":[\"a.example\"]}", "network.mode", "'none' has no way out" },
                { "{\"mode\":\"isolated\",\"deny\":[\"a.example\"]}", "network.mode", "'isolated' has no way out" },
                { "{\"mode\":\"open\",\"allow\":[\"a.example\"]}", "network.mode", "'open' lets everything out" },
                { "{\"mode\":\"none\",\"allow\":[\"packages\"]}", "network.mode", "'none' has no way out" },
                { "{\"mode\":\"open\",\"ask\":[\"packages\"]}", "network.mode", "'open' lets everything out" },
                { "{\"mode\":\"package\"}", "network.mode", "did you mean 'packages'?" },
                { "{\"allow\":[\"a.example\"],\"deny\":[\"b.example\",\"packages\"]}", "network.deny[1]", "is for allow and ask" },
                { "{\"allow\":[\"packages\",\"http://a.example\"]}", "network.allow[1]", "requireTls" },
                { "{\"group\":\"x\"}", "network.group", "isolated" },
                { "{\"mode\":\"isolated\",\"group\":\"a/b\"}", "network.group", "no name of a group" },
                { "{\"mode\":\"open\",\"learn\":true}", "network.learn", "the mode is 'open'" },
                { "{\"allow\":[\"http://a.example\"]}", "network.allow[0]", "requireTls" },
                { "{\"allow\":[\"b.example\",\"a.example\"],\"deny\":[\"a.example\"]}", "network.allow[1]", "is void: network.deny[0]" },
                { "{\"allow\":[\"x.a.example\"],\"deny\":[\"*.a.example\"]}", "network.allow[0]", "is void" },
                { "{\"allow\":[\"203.0.113.0/25:80\"],\"deny\":[\"203.0.113.0/24\"]}", "network.allow[0]", "is void" },
                { "{\"ask\":[\"a.example\"],\"allow\":[\"*\"]}", "network.ask[0]", "never asked" },
                { "{\"askTimeoutSeconds\":0}", "network.askTimeoutSeconds", "out of range" },
                { "{\"maxRequestBytes\":\"10 apples\"}", "network.maxRequestBytes", "is no size" },
                { "{\"maxRequestBytes\":-1}", "network.maxRequestBytes", "out of range" },
                { "{\"maxRequests\":1.5}", "network.maxRequests", "whole" },
                { "{\"mbps\":-1}", "network.mbps", "out of range" },
                { "{\"mbps\":{\"upp\":1}}", "network.mbps.upp", "did you mean 'up'?" },
                { "{\"mbps\":0.0001}", "network.mbps", "less than" },
                { "{\"requireTls\":\"yes\"}", "network.requireTls", "true or false" },
                { "{\"inspect\":\"never\"}", "network.inspect", "\"auto\" or \"always\"" },
                { "{\"allow\":[\"a\\u0000b\"]}", "network.allow[0]", "NUL" },
        };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
                json_error_t e;
                _cleanup_json_ json_t *j = json_loads(rows[i].policy, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
                _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
                json_t *first;

                check_true(rows[i].policy, j != NULL);
                check_result(rows[i].policy, egress_policy_parse(j, "network", &site_here, &p, &c), 0);
                first = json_array_get(c.list, 0);
                check_string(rows[i].policy, json_string_value(json_object_get(first, "field")), rows[i].field);
                check_part(rows[i].policy, json_string_value(json_object_get(first, "message")), rows[i].part);
        }
}

TEST(all_complaints_at_once) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = load("{\"allow\":[\"a b\",\"ok.example\",{\"domain\":\"x..y\",\"ports\":[0,\"z\"]},\"10.0.0.5\"],\"deny\":[7],\"nope\":1}");
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        static const char *const fields[] = { "network.allow[0]", "network.allow[2].domain", "network.allow[2].ports[0]", "network.allow[2].ports[1]",
                "network.deny[0]", "network.nope", "network.allow[3]" };

        check_result("parse", egress_policy_parse(j, "network", NULL, &p, &c), 0);
        check_uint("complaints", json_array_size(c.list), ELEMENTSOF(fields));
        for (size_t i = 0; i < ELEMENTSOF(fields); i++)
                check_string("field", json_string_value(json_object_get(json_array_get(c.list, i), "field")), fields[i]);
}

/* The word stays, and stands for what the operator says at the moment. */
TEST(packages_of_an_operator) {
        static const char *const rules[] = { "mirror.example", "http://plain.example:8080", "tcp://proxy.example:3128", NULL };
        static const struct {
                const char *question, *verdict;
        } rows[] = {
                { "https mirror.example - 443 PUT /x", "allow =packages" },
                { "http mirror.example - 80 GET /x", "deny tls_required =packages" },
                { "http plain.example - 8080 GET /x", "allow =packages" },
                { "http plain.example - 8080 POST /x", "deny method =packages" },
                { "tcp proxy.example - 3128", "allow =packages" },
                { "https pypi.org - 443", "deny no_rule" },
                { "https own.example - 443", "allow =own.example" },
        };
        _cleanup_(strv_done) Strv list = STRV_INIT(8), empty = STRV_INIT(8);
        const EgressSite site = { .packages = &list }, none = { .packages = &empty };
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = load("{\"allow\":[\"own.example\",\"packages\",\"packages\"],\"deny\":[\"plain.example\",\"deb.debian.org\"]}"), *again = NULL, *third = NULL;
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 }, q = { 0 };

        check_result("rules", strv_push_all(&list, rules), 0);
        json_object_del(j, "deny");
        check_result("read", egress_policy_parse(j, "network", &site, &p, &c), 0);
        check_true("fine", !json_has_complaints(&c));
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char found[64];
                EgressVerdict v;
                Asked a;

                read_question(rows[i].question, &a);
                v = decide(&p, &a.q);
                show_as(&p, &v, rows[i].verdict, found);
                check_string(rows[i].question, found, rows[i].verdict);
        }
        again = egress_policy_to_json(&p);
        check_string("first", json_string_value(json_array_get(json_object_get(again, "allow"), 0)), "packages");
        check_uint("once", json_array_size(json_object_get(again, "allow")), 2);
        check_true("named", egress_network_names_packages(again));
        check_result("of nothing", egress_policy_parse(again, "network", &none, &q, &c), 0);
        check_uint("rules", q.n_rules, 1);
        third = egress_policy_to_json(&q);
        check_true("the same", json_equal(again, third));
}

/* Whoever denies a part of what the word stands for has said nothing void. */
TEST(packages_without_some) {
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        _cleanup_json_ json_t *j = NULL;
        char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];
        EgressVerdict v;
        Asked a;

        read_policy("{\"allow\":[\"packages\",\"own.example\"],\"deny\":[\"deb.debian.org\",\"*.archive.ubuntu.com\"],\"ask\":[\"github.com\"]}", &p);
        read_question("https own.example - 443", &a);
        v = decide(&p, &a.q);
        egress_explain(&p, &v, &a.q, text, cure);
        check_string("own", text, "https://own.example is allowed by allow[1] \"own.example\".");
        read_question("https pypi.org - 443", &a);
        v = decide(&p, &a.q);
        egress_explain(&p, &v, &a.q, text, cure);
        check_string("word", text, "https://pypi.org is allowed by allow[0] \"packages\", which has https://pypi.org.");
        j = egress_explain_json(&p, &v, &a.q);
        check_string("rule", json_string_value(json_object_get(j, "rule")), "packages");
}

/* Nothing that is broader than it looks: names of one owner, no wildcard but one, plain HTTP where packages are signed. */
TEST(packages_that_we_ship) {
        static const char *const all[] = { "*", "https://*", "http://*", "*:443", "tcp://*:22", "0.0.0.0/0", "::/0", "tcp://0.0.0.0/0:443" };

        for (const char *const *text = egress_packages_builtin; *text; text++) {
                _cleanup_(egress_rule_done) EgressRule rule = { 0 };

                check_result(*text, egress_packages_rule(*text, EGRESS_ALLOW, &rule, NULL), 0);
                check_true(*text, rule.packages && rule.domain && (rule.protocols == EGRESS_HTTP || rule.protocols == EGRESS_HTTPS) && !rule.paths);
                check_true(*text, rule.domain[0] != '*' || strcmp(rule.domain, "*.archive.ubuntu.com") == 0);
                check_true(*text, (rule.protocols == EGRESS_HTTP) == (rule.methods != NULL));
        }
        for (size_t i = 0; egress_packages_builtin[i]; i++)
                for (size_t k = 0; k < i; k++)
                        check_true(egress_packages_builtin[i], strcmp(egress_packages_builtin[i], egress_packages_builtin[k]) != 0);
        for (size_t i = 0; i < ELEMENTSOF(all); i++)
                check_result(all[i], egress_packages_rule(all[i], EGRESS_ALLOW, &(EgressRule) { 0 }, NULL), -EINVAL);
        check_result("itself", egress_packages_rule("packages", EGRESS_ALLOW, &(EgressRule) { 0 }, NULL), -EINVAL);
}

TEST(too_many_rules) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_json_ json_t *j = json_object(), *again = NULL;
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        json_t *list = json_array();

        for (unsigned i = 0; i < EGRESS_RULES_MAX; i++)
                (void) json_array_append_new(list, json_sprintf("h%u.example", i));
        (void) json_object_set_new(j, "allow", list);
        check_result("most", egress_policy_parse(j, "network", NULL, &p, &c), 0);
        check_true("fine", !json_has_complaints(&c));
        check_uint("rules", p.n_rules, EGRESS_RULES_MAX);
        egress_policy_done(&p);
        (void) json_object_set_new(j, "mode", json_string("packages"));
        check_result("with packages", egress_policy_parse(j, "network", NULL, &p, &c), 0);
        check_true("fine too", !json_has_complaints(&c));
        again = egress_policy_to_json(&p);
        egress_policy_done(&p);
        check_result("as it is stored", egress_policy_parse(again, "network", NULL, &p, &c), 0);
        check_true("fine again", !json_has_complaints(&c));
        egress_policy_done(&p);
        (void) json_array_append_new(list, json_string("one.more.example"));
        check_result("too many", egress_policy_parse(j, "network", NULL, &p, &c), 0);
        check_true("complained", json_has_complaints(&c));
}

/* An approval of a registry's plain HTTP counts on as others do, for what the list permits. */
TEST(packages_that_were_granted) {
        static const struct {
                const char *question, *verdict;
        } rows[] = {
                { "http deb.debian.org - 80", "allow" },
                { "http deb.debian.org - 80 GET /debian", "allow" },
                { "http deb.debian.org - 80 POST /debian", "deny tls_required" },
                { "http deb.debian.org - 8080 GET /debian", "deny tls_required" },
                { "http security.debian.org - 80 GET /debian", "ask" },
                { "http own.example - 80 GET /", "deny tls_required" },
        };
        static const char *const granted[] = { "http://deb.debian.org:80", "http://own.example:80" };
        _cleanup_(egress_grants_done) EgressGrants grants = { 0 };
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };

        read_policy("{\"ask\":[\"packages\"]}", &p);
        for (size_t i = 0; i < ELEMENTSOF(granted); i++) {
                EgressRule grant;

                check_result("grant", egress_rule_parse(granted[i], EGRESS_ALLOW, &grant, NULL), 0);
                check_result("taken", egress_grants_add(&grants, &grant), 0);
        }
        check_result("finished", egress_grants_finish(&grants), 0);
        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                char found[64];
                EgressVerdict v;
                Asked a;

                read_question(rows[i].question, &a);
                v = egress_decide_with(&p, &grants, NULL, 0, &a.q);
                v.rule = -1;
                v.inspect = false;
                show(&v, found);
                check_string(rows[i].question, found, rows[i].verdict);
        }
}

TEST(grants_count_on) {
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        _cleanup_(egress_grants_done) EgressGrants grants = { 0 };
        EgressRule grant;
        EgressVerdict v;
        Error error;
        Asked a;

        read_policy("{\"ask\":[\"*\"],\"deny\":[\"bad.example\"]}", &p);
        check_result("grant", egress_rule_parse("https://a.example", EGRESS_ALLOW, &grant, &error), 0);
        check_result("taken", egress_grants_add(&grants, &grant), 0);
        check_result("finished", egress_grants_finish(&grants), 0);
        read_question("https a.example - 443", &a);
        check_int("asks", decide(&p, &a.q).action, EGRESS_ASK);
        v = egress_decide_with(&p, &grants, NULL, 0, &a.q);
        check_int("allowed", v.action, EGRESS_ALLOW);
        check_int("rule", v.rule, 2);
        read_question("https bad.example - 443", &a);
        check_int("deny wins", egress_decide_with(&p, &grants, NULL, 0, &a.q).action, EGRESS_DENY);
}

/* Stars as everybody understands them, by trying everything. */
static bool glob_plainly(const char *pattern, const char *text) {
        if (*pattern == '*')
                return glob_plainly(pattern + 1, text) || (*text && glob_plainly(pattern, text + 1));
        return *pattern == *text && (!*pattern || glob_plainly(pattern + 1, text + 1));
}

static void random_text(uint64_t *seed, const char *alphabet, size_t n, char *ret) {
        for (size_t i = 0; i < n; i++) {
                *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                ret[i] = alphabet[(*seed >> 33) % strlen(alphabet)];
        }
        ret[n] = '\0';
}

TEST(a_set_of_paths_finds_what_each_of_them_does) {
        uint64_t seed = 1;
        size_t hits = 0, misses = 0;

        for (int round = 0; round < 3000; round++) {
                EgressRule rules[6] = { 0 };
                char patterns[6][3][16], path[40];
                char *lists[6][4] = { 0 };
                PathHits found;
                PathSet *set;

                for (size_t i = 0; i < 6; i++) {
                        for (size_t k = 0; k < 3; k++) {
                                random_text(&seed, "ab**", (size_t) round % 9, patterns[i][k]);
                                lists[i][k] = patterns[i][k];
                        }
                        rules[i] = (EgressRule) { .action = EGRESS_ALLOW, .paths = lists[i] };
                }
                check_result("made", path_set_new(rules, 6, &set), 0);
                for (size_t n = 0; n < 24; n += 1 + n / 4) {
                        random_text(&seed, "aab", n, path);
                        path_set_find(set, path, &found);
                        for (size_t i = 0; i < 6; i++) {
                                bool wanted = glob_plainly(patterns[i][0], path) || glob_plainly(patterns[i][1], path) || glob_plainly(patterns[i][2], path);

                                check_int(path, path_hits_has(&found, i), wanted);
                                *(wanted ? &hits : &misses) += 1;
                        }
                }
                path_set_free(set);
        }
        check_true("both", hits > 10000 && misses > 10000);
}

TEST(a_set_of_paths_has_limits) {
        char texts[17][32], *list[18] = { 0 };
        EgressRule rule = { .action = EGRESS_DENY, .paths = list };
        Error error = { 0 };
        PathHits hits;
        PathSet *set;

        for (size_t i = 0; i < 17; i++) {
                (void) snprintf(texts[i], sizeof(texts[i]), "/*%.*s*", (int) (i % 13 + 1), "aaaaaaaaaaaaa");
                list[i] = texts[i];
        }
        check_result("made", path_set_new(&rule, 1, &set), 0);
        check_result("thirteen within each other", path_set_check(&rule, 1, set, &error), 0);
        path_set_free(set);
        for (size_t i = 0; i < 17; i++)
                (void) snprintf(texts[i], sizeof(texts[i]), "*%.*s*", (int) i + 1, "aaaaaaaaaaaaaaaaaaaa");
        check_result("one that was stored before", path_set_new(&rule, 1, &set), 0);
        check_result("seventeen", path_set_check(&rule, 1, set, &error), -E2BIG);
        check_true("words", strstr(error.text, "17") != NULL);
        path_set_find(set, "/x/aaaaaaaaaaaaaaaaaaaaaaa", &hits);
        check_true("works on", path_hits_has(&hits, 0));
        path_set_find(set, "/x/b", &hits);
        check_true("for what it says", !path_hits_has(&hits, 0));
        path_set_free(set);
}

#define PATH_LONG 1024

TEST(paths_have_a_limit_of_bytes_and_of_number) {
        static char *list[PATH_PATTERNS_MAX + 2];
        EgressRule rule = { .action = EGRESS_ALLOW, .paths = list };
        char longer[PATH_LONG + 1], slash[] = "/";
        Error error = { 0 };

        memset(longer, 'x', PATH_LONG);
        longer[PATH_LONG] = '\0';
        for (size_t i = 0; i < PATH_BYTES_MAX / PATH_LONG; i++)
                list[i] = longer;
        check_result("32 KB", path_set_check(&rule, 1, /* s= */ NULL, &error), 0);
        list[PATH_BYTES_MAX / PATH_LONG] = slash;
        check_result("and a byte", path_set_check(&rule, 1, /* s= */ NULL, &error), -E2BIG);
        for (size_t i = 0; i < PATH_PATTERNS_MAX; i++)
                list[i] = slash;
        check_result("1024", path_set_check(&rule, 1, /* s= */ NULL, &error), 0);
        list[PATH_PATTERNS_MAX] = slash;
        check_result("and one", path_set_check(&rule, 1, /* s= */ NULL, &error), -E2BIG);
}

/* Patterns whose bytes are chosen so that a table of hashes, as sets once had, keeps all of them side by side. */
static void hostile_patterns(char *patterns[33], size_t size) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~!$&'()+,=:@";
        const uint32_t mask = 65535, start = ('z' * UINT32_C(2246822519)) >> 7 & 65535;
        bool *used = calloc(mask + 1, sizeof(bool));
        uint32_t end = 0, node = 1; /* of what is side by side, from start */

        for (size_t i = 0; i < 32; i++)
                for (uint32_t k = 0, from = 0; k < size; k++, from = node++) {
                        uint32_t best = 0, slot = 0;
                        char letter = letters[i];

                        for (const char *c = letters; k > 0 && *c; c++) {
                                slot = ((from * UINT32_C(2654435761) ^ (uint8_t) *c * UINT32_C(2246822519)) >> 7) - start;
                                if ((slot & mask) <= end + 8 && (slot & mask) >= best) {
                                        best = slot & mask;
                                        letter = *c;
                                }
                        }
                        slot = ((from * UINT32_C(2654435761) ^ (uint8_t) letter * UINT32_C(2246822519)) >> 7) - start;
                        while (used[slot & mask])
                                slot++;
                        used[slot & mask] = true;
                        while (used[end])
                                end++;
                        patterns[i][2 + k] = letter;
                }
        free(used);
}

/* What a set of them costs along a path in which no part begins. */
static double cost_of_patterns(char *patterns[33], size_t size) {
        EgressRule rule = { .action = EGRESS_ALLOW, .paths = patterns };
        char path[8192];
        clock_t begun;
        PathHits hits;
        PathSet *set;

        for (size_t i = 0; i < 32; i++) {
                memcpy(patterns[i], "/*", 2);
                strcpy(patterns[i] + 2 + size, "*");
        }
        memset(path, 'z', sizeof(path) - 1);
        path[0] = '/';
        path[sizeof(path) - 1] = '\0';
        check_result("made", path_set_new(&rule, 1, &set), 0);
        begun = clock();
        for (size_t i = 0; i < 20; i++)
                path_set_find(set, path, &hits);
        begun = clock() - begun;
        path_set_free(set);
        return (double) MAX_OF(begun, 1);
}

TEST(no_patterns_make_a_walk_slow) {
        enum { SIZE = 1000 };
        char *patterns[33] = { 0 };
        double usual, hostile, wide;
        uint64_t seed = 1;

        for (size_t i = 0; i < 32; i++) {
                patterns[i] = calloc(1, SIZE + 4);
                random_text(&seed, "abcdefghij", SIZE, patterns[i] + 2);
        }
        usual = cost_of_patterns(patterns, SIZE);
        hostile_patterns(patterns, SIZE);
        hostile = cost_of_patterns(patterns, SIZE);
        for (size_t i = 0; i < 32; i++) /* one beginning for each letter */
                patterns[i][2] = (char) ('A' + i);
        wide = cost_of_patterns(patterns, SIZE);
        check_true("those that stand side by side", hostile < 20 * usual);
        check_true("those that begin differently", wide < 20 * usual);
        for (size_t i = 0; i < 32; i++)
                free(patterns[i]);
}

TEST(a_limit_of_nobody_in_particular) {
        _cleanup_(egress_policy_done) EgressPolicy p = { 0 };
        EgressVerdict v = { EGRESS_DENY, EGRESS_TOTAL, -1, false };
        char text[EGRESS_TEXT_MAX], cure[EGRESS_TEXT_MAX];

        read_policy("{\"allow\":[\"a.example\"],\"maxBytes\":\"1KB\"}", &p);
        egress_explain(&p, &v, &(EgressQuestion) { .protocol = EGRESS_TCP }, text, cure);
        check_string("text", text, "what goes out and comes in is denied: the sandbox has used up its bytes (maxBytes: 1024).");
        check_string("cure", cure, "{\"network\":{\"maxBytes\":2048}}");
}
