/* rule.c: one rule: its parts, its defaults, its short form as text. */

#include "policy/egress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/internal.h"

#define PORT_MAX 65535

static const struct {
        const char *scheme;
        unsigned protocols; /* 0: the defaults apply */
        uint16_t port;      /* 0: none of its own */
} schemes[] = {
        { "",         0,            0   },
        { "https://", EGRESS_HTTPS, 443 },
        { "http://",  EGRESS_HTTP,  80  },
        { "tcp://",   EGRESS_TCP,   0   },
        { "udp://",   EGRESS_UDP,   0   },
};

static void list_free(char **list) {
        for (char **p = list; p && *p; p++)
                free(*p);
        free(list);
}

void egress_rule_done(EgressRule *r) {
        free(r->domain);
        free(r->ports);
        list_free(r->methods);
        list_free(r->paths);
        free(r->text);
        *r = (EgressRule) { 0 };
}

bool egress_rule_is_conditional(const EgressRule *r) {
        return r->methods || r->paths;
}

/* Defaults. A deny applies to everything that it does not narrow. */

static void default_protocols(EgressRule *r) {
        if (egress_rule_is_conditional(r))
                r->protocols = EGRESS_WEB;
        else if (r->action == EGRESS_DENY)
                r->protocols = EGRESS_ALL_PROTOCOLS;
        else
                r->protocols = r->domain ? EGRESS_WEB : EGRESS_TCP;
}

static int default_ports(EgressRule *r, Error *reterr) {
        if (r->action == EGRESS_DENY || !r->domain)
                return 0;
        if (r->protocols & ~EGRESS_WEB)
                return error_set(reterr, -EINVAL, "says tcp or udp and no port, which a name has none of by itself: add it, as in \"tcp://%s:5432\"",
                                r->domain);
        for (size_t i = 0; i < ELEMENTSOF(schemes); i++)
                if (schemes[i].port > 0 && r->protocols & schemes[i].protocols &&
                                egress_rule_add_ports(r, (EgressPorts) { schemes[i].port, schemes[i].port }) < 0)
                        return error_set(reterr, -ENOMEM, "out of memory");
        return 0;
}

int egress_rule_defaults(EgressRule *r, const RuleParts *parts, Error *reterr) {
        if (!parts->has_protocols)
                default_protocols(r);
        if (egress_rule_is_conditional(r) && r->protocols & ~EGRESS_WEB)
                return error_set(reterr, -EINVAL, "methods and paths are for http and https; in tcp and udp they cannot be seen");
        if (!parts->has_ports) {
                int x = default_ports(r, reterr);

                if (x < 0)
                        return x;
        }
        egress_ports_join(r);
        if (egress_rule_is_conditional(r) && r->protocols & EGRESS_HTTPS)
                r->inspect = true;
        return 0;
}

/* Texts. */

static int complain_path(const char *path, const char *why, Error *reterr) {
        return error_set(reterr, -EINVAL, "the path '%.100s' %s", path, why);
}

/* Refuses a path that no normalised path of a request can match. */
int egress_path_check(const char *path, Error *reterr) {
        if (path[0] != '/' && path[0] != '*')
                return complain_path(path, "must begin with '/' or '*'", reterr);
        if (strlen(path) > EGRESS_PATH_MAX)
                return complain_path(path, "is longer than 1024 bytes", reterr);
        if (strpbrk(path, "?#"))
                return complain_path(path, "must have no '?' or '#': it is compared with what stands before them", reterr);
        for (const char *p = path; *p; p++)
                if ((unsigned char) *p <= 0x20 || (unsigned char) *p >= 0x7f || *p == '\\')
                        return complain_path(path, "must be written as in a URL: no spaces, no backslash, other letters as %XX", reterr);
        for (const char *p = path; (p = strstr(p, "/.")); p++)
                if (strchr("/", p[2]) || (p[2] == '.' && strchr("/", p[3])))
                        return complain_path(path, "must have no '.' and '..' in it: paths are compared without them", reterr);
        return 0;
}

static int rule_set_path(EgressRule *r, const char *host, size_t n, const char *path, Error *reterr) {
        int x;

        if (strcmp(path, "/") == 0)
                return error_set(reterr, -EINVAL, "ends in '/': leave it out for the whole host, or write '/*'");
        if (!r->domain && strlen(path) <= 3 && strspn(path + 1, "0123456789") == strlen(path + 1))
                return error_set(reterr, -EINVAL, "'%.*s%s' is a range where a URL has a path: write {\"cidr\": \"%.*s%s\", \"protocols\": [\"https\"]}",
                                (int) n, host, path, (int) n, host, path);
        x = egress_path_check(path, reterr);
        if (x < 0)
                return x;
        r->paths = calloc(2, sizeof(char *));
        if (r->paths)
                r->paths[0] = strdup(path);
        return r->paths && r->paths[0] ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

static int complain_bits(const char *text, Error *reterr) {
        char address[64];
        IpRange range;
        int n = (int) strcspn(text, "/");

        (void) snprintf(address, sizeof(address), "%.*s", n, text);
        if (ip_range_parse(address, &range) < 0)
                return error_set(reterr, -EINVAL, "'%.64s' is no range of addresses", text);
        return error_set(reterr, -EINVAL, "'%.64s' has bits below its mask: for the one address write '%s', for the range its first address", text,
                        address);
}

/* Whether the text looks like an address, and must not be taken for a name. */
static bool is_range_like(const char *text, size_t n) {
        return memchr(text, ':', n) || (strspn(text, "0123456789./") >= n);
}

static int set_target(EgressRule *r, const char *text, size_t n, Error *reterr) {
        char copy[64], name[EGRESS_DOMAIN_MAX];
        int x;

        if (n == 0)
                return error_set(reterr, -EINVAL, "names no host");
        if (is_range_like(text, n)) {
                (void) snprintf(copy, sizeof(copy), "%.*s", (int) MIN_OF(n, sizeof(copy) - 1), text);
                x = ip_range_parse(copy, &r->range);
                if (x == -EDOM)
                        return complain_bits(copy, reterr);
                if (x < 0)
                        return error_set(reterr, -EINVAL, "'%s' is no address and no range: as in 203.0.113.0/24, 203.0.113.7, 2001:db8::/32", copy);
                return 0;
        }
        x = egress_pattern_normalise(text, n, name, reterr);
        if (x < 0)
                return x;
        r->domain = strdup(name);
        return r->domain ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

static int set_ports(EgressRule *r, const char *text, size_t n, Error *reterr) {
        EgressPorts ports;

        if (egress_ports_parse(text, n, &ports) < 0)
                return error_set(reterr, -EINVAL, "'%.*s' is no port: 1 to 65535, or a range as in 8000-8100", (int) MIN_OF(n, 32U), text);
        return egress_rule_add_ports(r, ports) < 0 ? error_set(reterr, -ENOMEM, "out of memory") : 0;
}

/* HOST, HOST:PORTS, [V6], [V6]:PORTS, V6 */
static int rule_parse_authority(EgressRule *r, const char *text, size_t n, bool *ret_has_ports, Error *reterr) {
        const char *host = text, *colon = memchr(text, ':', n), *end = text + n;
        size_t n_host = n;
        int x;

        if (n > 0 && text[0] == '[') {
                const char *close = memchr(text, ']', n);

                if (!close || (close + 1 < end && close[1] != ':'))
                        return error_set(reterr, -EINVAL, "'%.*s' must be [ADDRESS] or [ADDRESS]:PORT", (int) MIN_OF(n, 100U), text);
                host = text + 1;
                n_host = (size_t) (close - host);
                colon = close + 1 < end ? close + 1 : NULL;
                if (!memchr(host, ':', n_host))
                        return error_set(reterr, -EINVAL, "'%.*s': only IPv6 stands in brackets", (int) MIN_OF(n, 100U), text);
        } else if (colon && memchr(colon + 1, ':', (size_t) (end - colon - 1)))
                colon = NULL; /* IPv6 */
        else if (colon)
                n_host = (size_t) (colon - text);
        x = set_target(r, host, n_host, reterr);
        if (x < 0 || !colon)
                return x;
        *ret_has_ports = true;
        return set_ports(r, colon + 1, (size_t) (end - colon - 1), reterr);
}

static int rule_find_scheme(const char *text, size_t *ret, Error *reterr) {
        *ret = 0;
        for (size_t i = 1; i < ELEMENTSOF(schemes); i++)
                if (strncasecmp(text, schemes[i].scheme, strlen(schemes[i].scheme)) == 0) {
                        *ret = i;
                        return 0;
                }
        if (strstr(text, "://"))
                return error_set(reterr, -EINVAL, "'%.100s' has another scheme than https://, http://, tcp:// or udp:// (WebSockets are https or http)",
                                text);
        return 0;
}

/* Finds the beginning of the path, which is not within brackets. */
static const char *rule_find_path(const char *text) {
        const char *close = text[0] == '[' ? strchr(text, ']') : NULL;

        return strchr(close ? close : text, '/');
}

static int parse_plain(const char *text, EgressRule *r, Error *reterr) {
        RuleParts parts = { 0 };
        const char *path = NULL;
        size_t scheme = 0, n;
        int x;

        x = rule_find_scheme(text, &scheme, reterr);
        if (x < 0)
                return x;
        text += strlen(schemes[scheme].scheme);
        if (schemes[scheme].port > 0)
                path = rule_find_path(text);
        n = path ? (size_t) (path - text) : strlen(text);
        x = rule_parse_authority(r, text, n, &parts.has_ports, reterr);
        if (x >= 0 && path)
                x = rule_set_path(r, text, n, path, reterr);
        if (x < 0)
                return x;
        r->protocols = schemes[scheme].protocols;
        parts.has_protocols = scheme > 0;
        if (!parts.has_ports && schemes[scheme].port > 0 && r->action != EGRESS_DENY) {
                parts.has_ports = true;
                if (egress_rule_add_ports(r, (EgressPorts) { schemes[scheme].port, schemes[scheme].port }) < 0)
                        return error_set(reterr, -ENOMEM, "out of memory");
        }
        return egress_rule_defaults(r, &parts, reterr);
}

/* The other direction. */

static bool same_list(char **a, char **b) {
        if (!a || !b)
                return a == b;
        for (; *a && *b; a++, b++)
                if (strcmp(*a, *b) != 0)
                        return false;
        return *a == *b;
}

bool egress_rule_equal(const EgressRule *a, const EgressRule *b) {
        if (a->action != b->action || a->protocols != b->protocols || a->inspect != b->inspect || a->n_ports != b->n_ports)
                return false;
        if (!a->domain != !b->domain || (a->domain && strcmp(a->domain, b->domain) != 0))
                return false;
        if (!a->domain && memcmp(&a->range, &b->range, sizeof(a->range)) != 0)
                return false;
        if (a->n_ports > 0 && memcmp(a->ports, b->ports, a->n_ports * sizeof(*a->ports)) != 0)
                return false;
        return same_list(a->methods, b->methods) && same_list(a->paths, b->paths);
}

static bool reads_as(const char *text, const EgressRule *r) {
        _cleanup_(egress_rule_done) EgressRule again = { .action = r->action };

        return parse_plain(text, &again, /* reterr= */ NULL) >= 0 && egress_rule_equal(&again, r);
}

static void rule_write_host(const EgressRule *r, bool bare, char ret[static EGRESS_DOMAIN_MAX]) {
        char range[64];

        if (r->domain) {
                (void) snprintf(ret, EGRESS_DOMAIN_MAX, "%s", r->domain);
                return;
        }
        ip_range_format(&r->range, range);
        if (strchr(range, ':') && !bare)
                (void) snprintf(ret, EGRESS_DOMAIN_MAX, "[%s]", range);
        else
                (void) snprintf(ret, EGRESS_DOMAIN_MAX, "%s", range);
}

static void write_port(const EgressRule *r, char ret[static 16]) {
        EgressPorts p = r->n_ports > 0 ? r->ports[0] : (EgressPorts) { 1, PORT_MAX };

        if (p.first == p.last)
                (void) snprintf(ret, 16, ":%u", p.first);
        else
                (void) snprintf(ret, 16, ":%u-%u", p.first, p.last);
}

/* Tries every way to write the rule, the shortest first, until one parses to the same rule. */
int egress_rule_short(const EgressRule *r, char *ret, size_t size) {
        char host[EGRESS_DOMAIN_MAX], port[16];
        const char *path = r->paths ? r->paths[0] : "";

        if (r->methods || (r->paths && r->paths[1]))
                return 0;
        for (size_t with_port = 0; with_port < 2; with_port++)
                for (size_t i = 0; i < ELEMENTSOF(schemes); i++) {
                        rule_write_host(r, i == 0 && !with_port, host);
                        write_port(r, port);
                        if ((size_t) snprintf(ret, size, "%s%s%s%s", schemes[i].scheme, host, with_port ? port : "", path) < size &&
                                        reads_as(ret, r))
                                return 1;
                }
        return 0;
}

int egress_rule_finish(EgressRule *r, Error *reterr) {
        char text[EGRESS_PATH_MAX + EGRESS_DOMAIN_MAX + 64];

        if (egress_rule_short(r, text, sizeof(text)) > 0)
                r->text = strdup(text);
        else {
                _cleanup_json_ json_t *object = egress_rule_object(r);

                r->text = object ? json_dumps(object, JSON_COMPACT) : NULL;
        }
        return r->text ? 0 : error_set(reterr, -ENOMEM, "out of memory");
}

int egress_rule_parse(const char *text, EgressAction action, EgressRule *ret, Error *reterr) {
        _cleanup_(egress_rule_done) EgressRule rule = { .action = action };
        int r;

        r = parse_plain(text, &rule, reterr);
        if (r >= 0)
                r = egress_rule_finish(&rule, reterr);
        if (r < 0)
                return r;
        *ret = rule;
        rule = (EgressRule) { 0 };
        return 0;
}
