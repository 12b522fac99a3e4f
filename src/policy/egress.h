/* egress.h: what may leave a sandbox: rules as data, and the decision on one attempt to get out.
 *
 * Pure: text in, decisions out; no clock, no socket, no sandbox. coved uses it to read, check, explain and
 * store policies, cove-gate to decide, `cove policy` and `cove run` to explain. So all give the same answers
 * in the same words.
 *
 *      "network": {
 *        "mode": "egress",                      none (default) | isolated | egress | open; "bridge" is an alias of open
 *        "group": "build-7",                    isolated: the group; default: the tenant's own group
 *        "allow": ["pypi.org", "*.pythonhosted.org", "203.0.113.0/24:8000-8100", "tcp://db.example.org:5432",
 *                  {"domain": "api.github.com", "ports": [443], "protocols": ["https"], "methods": ["GET"], "paths": ["/repos*"]}],
 *        "deny":  [...],                        the same forms; wins over allow and ask
 *        "ask":   [...],                        waits for a person's approval; "*" for everything unknown
 *        "askTimeoutSeconds": 60,
 *        "requireTls": true,                    denies plain HTTP; a rule with protocol "tcp" or "udp" overrides it
 *        "maxRequestBytes": "10MB", "maxResponseBytes": "10MB", "requestTimeoutSeconds": 30,
 *        "maxRequests": 10,                     per execution; concurrent executions share the limit
 *        "mbps": 100 | {"up": 10, "down": 100},
 *        "maxBytes": "1GB",                     both directions together, for the sandbox's life
 *        "inspect": "auto" | "always",          auto: TLS is opened only if a rule needs to see inside (methods, paths, credentials,
 *                                               maxRequests)
 *        "allowEncryptedHello": false,
 *        "learn": false                         lets everything pass that `open` would, and records it
 *      }
 *
 * Names are compared in lower case, in their ASCII form, without the final dot. "example.org" is that name
 * alone; "*.example.org" is every name below it; "*" is every name, but no bare address. A CIDR rule compares
 * the address of a connection, whether or not a name was looked up for it. Without ports, a domain rule has
 * 80 (http) and 443 (https), and a CIDR rule all; for tcp and udp, a domain rule must name them. Without
 * protocols, a domain rule has http and https, and a CIDR rule tcp (which carries http and https, too). A
 * deny rule covers all ports and protocols that it does not narrow. An empty or missing allow list lets
 * nothing out. Rules without a mode imply "egress"; requireTls defaults to false in mode open.
 *
 * "packages" in allow or ask stands for the package registries: a built-in list, which the operator can
 * change (network.packages in cove.yaml). "network": "packages" is short for {"mode": "egress", "allow":
 * ["packages"]}. A policy keeps the word; its rules are looked up when the policy is read. Rules of the list
 * with http:// apply in spite of requireTls, for GET and HEAD.
 *
 * Special addresses (this machine's own, loopback, private, link-local with cloud metadata, shared,
 * multicast, …) are denied, by name and by address, unless the operator lists them (network.reachable in
 * cove.yaml). A policy that names a special address that is not listed is refused when it is set.
 * Must not know: sandboxes, HTTP messages, sockets, the store. Uses json/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/ip.h"
#include "base/strv.h"
#include "json/json.h"

typedef enum NetworkMode {
        NETWORK_NONE,
        NETWORK_ISOLATED,
        NETWORK_EGRESS,
        NETWORK_OPEN,
        NETWORK_HOST, /* cove run only */
        _NETWORK_MODE_MAX,
} NetworkMode;

const char *network_mode_to_string(NetworkMode m);
int network_mode_from_string(const char *text); /* -EINVAL */

typedef enum EgressProtocol {
        EGRESS_TCP = 1 << 0,   /* uninspected bytes */
        EGRESS_UDP = 1 << 1,
        EGRESS_HTTP = 1 << 2,  /* plain */
        EGRESS_HTTPS = 1 << 3, /* TLS with a name in its ClientHello */
        EGRESS_DNS = 1 << 4,   /* in questions only: may this name be looked up? Yes, if any rule could allow a connection to it */
} EgressProtocol;

typedef struct EgressPorts {
        uint16_t first, last;
} EgressPorts;

#define EGRESS_RULES_MAX   1024 /* of all three lists together, as written */
#define EGRESS_PACKAGES_MAX 256 /* rules of "packages", in each of allow and ask */
#define EGRESS_RULES_ALL   (EGRESS_RULES_MAX + 2 * EGRESS_PACKAGES_MAX)
#define EGRESS_DOMAIN_MAX  254
#define EGRESS_TEXT_MAX    512

typedef enum EgressAction { EGRESS_DENY, EGRESS_ALLOW, EGRESS_ASK } EgressAction;

typedef struct EgressRule {
        EgressAction action;
        char *domain;       /* "*", "*.x", "x"; NULL: see range */
        IpRange range;
        EgressPorts *ports; /* n_ports == 0: all */
        size_t n_ports;
        unsigned protocols; /* EgressProtocol */
        char **methods;     /* NULL: all; upper case */
        char **paths;       /* NULL: all. "*" matches any characters, "/" included; compared with the normalised path */
        bool inspect;       /* TLS to it is opened for inspection */
        bool packages;      /* a rule of "packages" */
        char *text;         /* as written, in its short form if it has one */
} EgressRule;

typedef struct EgressPolicy {
        NetworkMode mode;
        char *group;
        EgressRule *rules;
        size_t n_rules;
        bool packages[3];             /* by EgressAction: the list contains "packages", whose rules come first in it */
        struct PathSet *paths;        /* compiled paths of the rules; NULL: no rule has paths */
        usec_t ask_timeout_usec;      /* 60 s */
        bool require_tls;             /* true */
        bool inspect_all;
        bool allow_encrypted_hello;
        bool learn;
        uint64_t request_bytes_max, response_bytes_max; /* 0: no limit; default 0. D4's NetworkIsolation (10 MB each) is a preset */
        usec_t request_timeout_usec;  /* 0: none */
        uint64_t requests_max;        /* 0: no limit */
        uint64_t up_bytes_per_sec, down_bytes_per_sec; /* 0: no limit */
        uint64_t total_bytes_max;     /* 0: no limit */
} EgressPolicy;

/* The operator's settings. NULL: no special address is reachable, and "packages" is the built-in list. */
typedef struct EgressSite {
        const IpRange *reachable; /* special ranges that policies may open */
        size_t n_reachable;
        const Strv *packages;     /* rules of "packages", as texts for egress_packages_rule(); NULL: egress_packages_builtin */
} EgressSite;

void egress_policy_init(EgressPolicy *p); /* no network */
void egress_policy_done(EgressPolicy *p);

/* Complaints name the position: network.allow[3].ports[0]. Contradictions (a mode without network that has
 * rules, an allow rule that a deny rule voids, methods for raw TCP, …) are complaints, too, except for the
 * rules of "packages". Returns a negative errno for internal failures only. prefix: text before the field
 * names, e.g. "network" or "policy.network". */
int egress_policy_parse(json_t *network, const char *prefix, const EgressSite *site, EgressPolicy *ret, JsonComplaints *c);

/* Checks limits that apply only to newly set policies: a policy stored before these limits existed still
 * applies. -E2BIG, with a message that follows the prefix. */
int egress_policy_check_given(const EgressPolicy *p, Error *reterr);

/* The normalised object, with all defaults; parsing it again gives the same policy. */
json_t *egress_policy_to_json(const EgressPolicy *p);

/* packages.c. Parses a rule of "packages": like other rules in text, but http:// means GET and HEAD only, and
 * a name without a scheme means https. */
#define EGRESS_PACKAGES "packages"
extern const char *const egress_packages_builtin[]; /* NULL-terminated */
int egress_packages_rule(const char *text, EgressAction action, EgressRule *ret, Error *reterr);
size_t egress_packages_size(const EgressSite *site);
const char *egress_packages_text(const EgressSite *site, size_t i);
bool egress_policy_names_packages(const EgressPolicy *p);
bool egress_network_names_packages(const json_t *network); /* likewise, for the normalised object */

/* Parses one rule as text ("https://pypi.org", "203.0.113.0/24:8000"), as in the lists. */
int egress_rule_parse(const char *text, EgressAction action, EgressRule *ret, Error *reterr);
/* Parses one item of the lists, text or object. The first complaint becomes the error. */
int egress_rule_from_json(json_t *value, EgressAction action, EgressRule *ret, Error *reterr);
json_t *egress_rule_to_json(const EgressRule *r);
void egress_rule_done(EgressRule *r);
const char *egress_rule_name(const EgressRule *r); /* as written in the policy: its text, or "packages" */

typedef struct EgressQuestion {
        EgressProtocol protocol;
        const char *host; /* normalised; NULL: by address only, no name was looked up for it */
        bool has_address;
        IpAddress address;
        uint16_t port;
        const char *method, *path; /* NULL: not visible (yet) */
} EgressQuestion;

/* The reason of a verdict. Each has a slug for programs (egress_reason_to_string()) and a sentence for people
 * and models. */
typedef enum EgressReason {
        EGRESS_BY_RULE,        /* `rule` is the index */
        EGRESS_NO_RULE,        /* nothing allows it */
        EGRESS_NO_NETWORK,     /* the mode has no way out */
        EGRESS_RAW_ADDRESS,    /* by address, and no rule for addresses matches */
        EGRESS_SPECIAL_ADDRESS, /* this machine, private networks, cloud metadata */
        EGRESS_PORT,           /* the name is allowed, the port is not */
        EGRESS_PROTOCOL,
        EGRESS_METHOD,
        EGRESS_PATH,
        EGRESS_TLS_REQUIRED,
        EGRESS_NAME_MISMATCH,  /* Host or SNI is not the name that was looked up */
        EGRESS_ENCRYPTED_HELLO,
        EGRESS_NO_NAME,        /* TLS without SNI, HTTP without Host */
        EGRESS_MALFORMED,
        EGRESS_CONNECT,        /* HTTP CONNECT: a tunnel */
        EGRESS_REQUESTS,       /* limits: */
        EGRESS_REQUEST_SIZE,
        EGRESS_RESPONSE_SIZE,
        EGRESS_TIMEOUT,
        EGRESS_TOTAL,
        EGRESS_NOT_APPROVED,   /* asked, and denied */
        EGRESS_ASK_TIMEOUT,    /* asked, and not answered in time */
        EGRESS_UPSTREAM,       /* allowed, but upstream could not be reached: not a denial */
        EGRESS_MEMORY,         /* the gate's memory limit for this sandbox is reached */
        EGRESS_CREDENTIAL,     /* a placeholder is sent to a host that it does not belong to */
        _EGRESS_REASON_MAX,
} EgressReason;

const char *egress_reason_to_string(EgressReason r); /* "no_rule" */

typedef struct EgressVerdict {
        EgressAction action;
        EgressReason reason;
        int rule;      /* index; -1: none. If denied for port, protocol, method, path or lack of TLS: the nearest rule */
        bool inspect;  /* allowed so far, but must be inspected: decided again with method and path, or as HTTP(S) */
} EgressVerdict;

/* If the question has a name and an address, the address must not be special. For HTTPS that is not opened
 * yet, a rule with methods or paths allows with inspect. reachable: as in EgressSite. */
EgressVerdict egress_decide(const EgressPolicy *p, const IpRange *reachable, size_t n_reachable, const EgressQuestion *q);

/* Rules that were approved later. */
typedef struct EgressGrants {
        EgressRule *rules;
        size_t n;
        struct PathSet *paths; /* as above */
} EgressGrants;

int egress_grants_add(EgressGrants *g, EgressRule *rule); /* takes ownership of the rule; -E2BIG: EGRESS_RULES_MAX reached */
int egress_grants_finish(EgressGrants *g);                /* call after the last one; on failure `paths` is unchanged */
void egress_grants_done(EgressGrants *g);

/* The same with grants, by their action. The verdict's rule index continues after the policy's own rules. */
EgressVerdict egress_decide_with(const EgressPolicy *p, const EgressGrants *grants, const IpRange *reachable, size_t n_reachable, const EgressQuestion *q);

/* text: "GET http://example.org/ is denied: …". cure: the JSON line that would allow it: {"allow":
 * ["http://example.org"]} (or why no rule would). Both are used in 403 bodies, events and `cove policy
 * explain`. */
void egress_explain(const EgressPolicy *p, const EgressVerdict *v, const EgressQuestion *q, char text[static EGRESS_TEXT_MAX],
                char cure[static EGRESS_TEXT_MAX]);

/* A URL as a question: https://, http://, wss://, ws://, tcp://, udp://, dns://HOST; no scheme means https.
 * The question points into the struct: do not copy it. */
typedef struct EgressUrl {
        EgressQuestion question;
        char host[EGRESS_DOMAIN_MAX], method[32], path[2048];
} EgressUrl;
int egress_url_parse(const char *url, const char *method /* NULL: GET */, EgressUrl *ret, Error *reterr);

/* {allowed, action, reason, rule, text, cure, inspect}: the output of `cove policy explain` and the API. */
json_t *egress_explain_json(const EgressPolicy *p, const EgressVerdict *v, const EgressQuestion *q);
/* -EINVAL: not a URL. */
int egress_explain_url(const EgressPolicy *p, const IpRange *reachable, size_t n_reachable, const char *url, const char *method, json_t **ret,
                Error *reterr);

int egress_host_normalise(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX]); /* -EINVAL: not a host name */
bool egress_rule_names(const EgressRule *r, const char *host); /* compares the domain only */
/* Normalises a path for comparison with rules: removes everything after "?", decodes "%41" to "A", resolves
 * "." and "..". -EINVAL: does not begin with "/", contains "#", or could still be read as containing "..".
 * -ENOSPC. */
int egress_path_normalise(const char *text, size_t size, char *ret, size_t room);
