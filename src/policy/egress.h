/* egress.h: what may leave a sandbox: rules as data, and the decision about one thing that wants out.
 *
 * Pure: text in, decisions out; no clock, no socket, no sandbox. coved reads, checks, explains and stores policies with it, cove-gate
 * decides by it, `cove policy` and `cove run` speak of it: so that all say the same in the same words.
 *
 *      "network": {
 *        "mode": "egress",                      none (default) | isolated | egress | open; "bridge" is another word for open
 *        "group": "build-7",                    isolated: with whom; default: its tenant's own
 *        "allow": ["pypi.org", "*.pythonhosted.org", "203.0.113.0/24:8000-8100", "tcp://db.example.org:5432",
 *                  {"domain": "api.github.com", "ports": [443], "protocols": ["https"], "methods": ["GET"], "paths": ["/repos*"]}],
 *        "deny":  [...],                        the same forms; wins over allow and ask
 *        "ask":   [...],                        waits for somebody to approve it; "*" for everything unknown
 *        "askTimeoutSeconds": 60,
 *        "requireTls": true,                    plain HTTP is denied; a rule with a protocol "tcp" or "udp" says that it knows better
 *        "maxRequestBytes": "10MB", "maxResponseBytes": "10MB", "requestTimeoutSeconds": 30,
 *        "maxRequests": 10,                     per execution; those that run at the same time share them
 *        "mbps": 100 | {"up": 10, "down": 100},
 *        "maxBytes": "1GB",                     both ways together, for the sandbox's life
 *        "inspect": "auto" | "always",          auto: TLS is opened only where a rule needs to see inside (methods, paths, credentials,
 *                                               maxRequests)
 *        "allowEncryptedHello": false,
 *        "learn": false                         lets everything pass that `open` would, and writes down what it was
 *      }
 *
 * Names are compared in lower case, in their ASCII form, without the final dot. "example.org" is that name alone; "*.example.org" every
 * name below it; "*" every name, but no bare address. A CIDR is for connections by address and for the answers of names, see below.
 * Ports of a domain rule are 80 (http) and 443 (https) when none are given, and must be given for tcp and udp; of a CIDR rule, all.
 * Protocols of a domain rule are http and https when none are given; of a CIDR rule, tcp (which carries http and https too). A deny rule
 * is for all ports and protocols that it does not narrow. An empty or missing allow-list lets nothing out. Rules without a mode mean
 * "egress"; requireTls is false in mode open when it is not said.
 *
 * "packages" in allow or ask stands for the registries that programs are installed from: a list of our own, which the operator can change
 * (network.packages in cove.yaml). "network": "packages" is short for {"mode": "egress", "allow": ["packages"]}. A policy keeps the word; what it
 * stands for is looked up when the policy is read. Its rules with http:// hold in spite of requireTls, for GET and HEAD.
 *
 * Special addresses (this machine's own, loopback, private, link-local with cloud metadata, shared, multicast, …) are out of reach for
 * names and numbers alike, unless the operator lists them (network.reachable in cove.yaml): a policy that names one that is not listed is
 * refused when it is set.
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
        EGRESS_TCP = 1 << 0,   /* bytes that nobody looks at */
        EGRESS_UDP = 1 << 1,
        EGRESS_HTTP = 1 << 2,  /* plain */
        EGRESS_HTTPS = 1 << 3, /* TLS with a name in its first message */
        EGRESS_DNS = 1 << 4,   /* of a question only: may this name be looked up? Yes, when anything could then be reached by it */
} EgressProtocol;

typedef struct EgressPorts {
        uint16_t first, last;
} EgressPorts;

#define EGRESS_RULES_MAX   1024 /* of all three lists together, as they are written */
#define EGRESS_PACKAGES_MAX 256 /* that "packages" stands for, in allow and in ask */
#define EGRESS_RULES_ALL   (EGRESS_RULES_MAX + 2 * EGRESS_PACKAGES_MAX)
#define EGRESS_DOMAIN_MAX  254
#define EGRESS_TEXT_MAX    512

typedef enum EgressAction { EGRESS_DENY, EGRESS_ALLOW, EGRESS_ASK } EgressAction;

typedef struct EgressRule {
        EgressAction action;
        char *domain;       /* NULL: by range. "*", "*.x", "x" */
        IpRange range;
        EgressPorts *ports; /* n_ports == 0: all */
        size_t n_ports;
        unsigned protocols; /* EgressProtocol */
        char **methods;     /* NULL: all; upper case */
        char **paths;       /* NULL: all. "*" matches any run of characters, "/" too; compared with the path after normalisation */
        bool inspect;       /* TLS to it is opened */
        bool packages;      /* one of those that "packages" stands for */
        char *text;         /* as it was written, in its short form where there is one */
} EgressRule;

typedef struct EgressPolicy {
        NetworkMode mode;
        char *group;
        EgressRule *rules;
        size_t n_rules;
        bool packages[3];             /* by EgressAction: the list has the word "packages", whose rules come first in it */
        struct PathSet *paths;        /* of the rules, made ready; NULL: none has any */
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

/* What the operator says of the surroundings. NULL: nothing special can be reached, and "packages" is what we ship. */
typedef struct EgressSite {
        const IpRange *reachable; /* special ranges that policies may open */
        size_t n_reachable;
        const Strv *packages;     /* what "packages" stands for, as texts for egress_packages_rule(); NULL: egress_packages_builtin */
} EgressSite;

void egress_policy_init(EgressPolicy *p); /* no network */
void egress_policy_done(EgressPolicy *p);

/* Complaints name the position: network.allow[3].ports[0]. Contradictions (a mode without network that has rules, an allow that a deny
 * makes void, methods for raw TCP, …) are complaints too; none of them is about what "packages" stands for. Returns a negative errno for our own
 * failures only. prefix: what stands before the field names, e.g. "network" or "policy.network". */
int egress_policy_parse(json_t *network, const char *prefix, const EgressSite *site, EgressPolicy *ret, JsonComplaints *c);

/* What is asked of a policy when somebody brings it, and not of one that was stored before it was asked: that one works on as it did.
 * -E2BIG, in words that follow the prefix. */
int egress_policy_check_given(const EgressPolicy *p, Error *reterr);

/* The normalised object, all defaults written out; parsing it again gives the same. */
json_t *egress_policy_to_json(const EgressPolicy *p);

/* packages.c. One rule of what "packages" stands for: as any other in text, but http:// is for GET and HEAD, and a name without a scheme is https. */
#define EGRESS_PACKAGES "packages"
extern const char *const egress_packages_builtin[]; /* NULL-terminated */
int egress_packages_rule(const char *text, EgressAction action, EgressRule *ret, Error *reterr);
size_t egress_packages_size(const EgressSite *site);
const char *egress_packages_text(const EgressSite *site, size_t i);
bool egress_policy_names_packages(const EgressPolicy *p);
bool egress_network_names_packages(const json_t *network); /* the same of the normalised object */

/* One rule in text ("https://pypi.org", "203.0.113.0/24:8000") as in the lists. */
int egress_rule_parse(const char *text, EgressAction action, EgressRule *ret, Error *reterr);
/* One item of the lists: text or object. The first complaint is the error. */
int egress_rule_from_json(json_t *value, EgressAction action, EgressRule *ret, Error *reterr);
json_t *egress_rule_to_json(const EgressRule *r);
void egress_rule_done(EgressRule *r);
const char *egress_rule_name(const EgressRule *r); /* as the policy has it: its text, or "packages" */

typedef struct EgressQuestion {
        EgressProtocol protocol;
        const char *host; /* normalised; NULL: by address only, nobody has looked a name up for it */
        bool has_address;
        IpAddress address;
        uint16_t port;
        const char *method, *path; /* NULL: not to be seen (yet) */
} EgressQuestion;

/* Why. Each has a slug for programs (egress_reason_to_string()) and a sentence for people and models. */
typedef enum EgressReason {
        EGRESS_BY_RULE,        /* rule says which */
        EGRESS_NO_RULE,        /* nothing allows it */
        EGRESS_NO_NETWORK,     /* the mode has no way out */
        EGRESS_RAW_ADDRESS,    /* by number, and no rule for numbers matches */
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
        EGRESS_NOT_APPROVED,   /* asked, and the answer was no */
        EGRESS_ASK_TIMEOUT,    /* asked, and nobody answered */
        EGRESS_UPSTREAM,       /* allowed, but the other side could not be reached: not a denial */
        EGRESS_MEMORY,         /* the gate has no more for this sandbox */
        EGRESS_CREDENTIAL,     /* a placeholder on its way to where it does not belong */
        _EGRESS_REASON_MAX,
} EgressReason;

const char *egress_reason_to_string(EgressReason r); /* "no_rule" */

typedef struct EgressVerdict {
        EgressAction action;
        EgressReason reason;
        int rule;      /* index; -1: none. Denied for the port, protocol, method, path or for want of TLS: the rule that came nearest */
        bool inspect;  /* allowed so far; what is inside must be looked at too: HTTPS is opened and asked about again with method and path;
                        * TCP is asked about again as HTTP or HTTPS, should it turn out to be that */
} EgressVerdict;

/* For a name: an address, where one is given, must not be special. For HTTPS whose inside is not yet seen, a rule with methods or paths
 * says yes with inspect. reachable as above. */
EgressVerdict egress_decide(const EgressPolicy *p, const IpRange *reachable, size_t n_reachable, const EgressQuestion *q);

/* Rules that were added since: what was approved. */
typedef struct EgressGrants {
        EgressRule *rules;
        size_t n;
        struct PathSet *paths; /* as above */
} EgressGrants;

int egress_grants_add(EgressGrants *g, EgressRule *rule); /* takes the rule; -E2BIG: there are EGRESS_RULES_MAX */
int egress_grants_finish(EgressGrants *g);                /* after the last one; on failure `paths` is as it was */
void egress_grants_done(EgressGrants *g);

/* The same with grants; the verdict's rule counts on from the policy's own. Their action counts. */
EgressVerdict egress_decide_with(const EgressPolicy *p, const EgressGrants *grants, const IpRange *reachable, size_t n_reachable, const EgressQuestion *q);

/* "GET http://example.org/ is denied: …" and the JSON line that would allow it: {"allow": ["http://example.org"]} (or a word on why
 * none would). Both end up in 403 bodies, events, `cove policy explain`. */
void egress_explain(const EgressPolicy *p, const EgressVerdict *v, const EgressQuestion *q, char text[static EGRESS_TEXT_MAX],
                char cure[static EGRESS_TEXT_MAX]);

/* A URL as a question: https://, http://, wss://, ws://, tcp://, udp://, dns://HOST; none: https. The question points into it: not to be copied. */
typedef struct EgressUrl {
        EgressQuestion question;
        char host[EGRESS_DOMAIN_MAX], method[32], path[2048];
} EgressUrl;
int egress_url_parse(const char *url, const char *method /* NULL: GET */, EgressUrl *ret, Error *reterr);

/* {allowed, action, reason, rule, text, cure, inspect}: what `cove policy explain` prints and the API answers. */
json_t *egress_explain_json(const EgressPolicy *p, const EgressVerdict *v, const EgressQuestion *q);
/* -EINVAL: no URL. */
int egress_explain_url(const EgressPolicy *p, const IpRange *reachable, size_t n_reachable, const char *url, const char *method, json_t **ret,
                Error *reterr);

/* Helpers that others need too. */
int egress_host_normalise(const char *text, size_t size, char ret[static EGRESS_DOMAIN_MAX]); /* -EINVAL: no host name */
bool egress_rule_names(const EgressRule *r, const char *host); /* domain part only */
/* A path as rules see it: without what stands after "?", "%41" as "A", no "." and "..". -EINVAL: begins with no "/", or there is still a way
 * to read a ".." out of it. -ENOSPC. */
int egress_path_normalise(const char *text, size_t size, char *ret, size_t room);
