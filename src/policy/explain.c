/* explain.c: explains a verdict in words that a person can act on, with the line that would change it. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/internal.h"

#define OBJECT_MAX 400
#define SHOWN_MAX  160 /* of a path that is only shown */

typedef struct Explanation {
        const EgressPolicy *policy;
        const EgressVerdict *verdict;
        const EgressQuestion *question;
        const EgressRule *rule; /* NULL: none, or one that was granted later */
        char host[EGRESS_DOMAIN_MAX]; /* or the address */
        char object[OBJECT_MAX];      /* "GET https://example.org/x" */
        char line[OBJECT_MAX];        /* "https://example.org": the rule for it */
        char rule_words[OBJECT_MAX];  /* allow[2] "example.org" */
        char *text, *cure;
} Explanation;

static void explain_say(char *ret, const char *format, ...) _printf_(2, 3);

/* Both answers have the same size limit. */
static void explain_say(char *ret, const char *format, ...) {
        size_t n = strlen(ret);
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(ret + n, EGRESS_TEXT_MAX - n, format, ap);
        va_end(ap);
}

static uint16_t usual_port(EgressProtocol protocol) {
        return protocol == EGRESS_HTTPS ? 443 : protocol == EGRESS_HTTP ? 80 : 0;
}

static void explain_write_host(const EgressQuestion *q, char ret[static EGRESS_DOMAIN_MAX]) {
        char address[46];

        if (q->host) {
                (void) snprintf(ret, EGRESS_DOMAIN_MAX, "%s", q->host);
                return;
        }
        ip_format(&q->address, address);
        (void) snprintf(ret, EGRESS_DOMAIN_MAX, strchr(address, ':') ? "[%s]" : "%s", q->has_address ? address : "?");
}

static void explain_write_line(Explanation *e) {
        const EgressQuestion *q = e->question;

        if (q->protocol == EGRESS_DNS)
                (void) snprintf(e->line, sizeof(e->line), "%s", e->host);
        else if (q->port == usual_port(q->protocol))
                (void) snprintf(e->line, sizeof(e->line), "%s://%s", egress_protocol_to_string(q->protocol), e->host);
        else
                (void) snprintf(e->line, sizeof(e->line), "%s://%s:%u", egress_protocol_to_string(q->protocol), e->host, q->port);
}

/* A guest may have sent any bytes: only printable ones are shown. */
static void put_visible(char *ret, size_t size, const char *text, size_t most) {
        size_t n = strlen(ret);

        for (size_t i = 0; text[i] && n + 4 < size; i++) {
                if (i == most) {
                        memcpy(ret + n, "…", sizeof("…"));
                        return;
                }
                ret[n++] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
        }
        ret[n] = '\0';
}

static void write_object(Explanation *e) {
        const EgressQuestion *q = e->question;

        if (!q->host && !q->has_address) { /* a limit that concerns no host in particular */
                (void) snprintf(e->object, sizeof(e->object), "what goes out and comes in");
                return;
        }
        if (q->protocol == EGRESS_DNS) {
                (void) snprintf(e->object, sizeof(e->object), "looking up \"%s\"", e->host);
                return;
        }
        if (q->method) {
                put_visible(e->object, sizeof(e->object), q->method, 16);
                (void) strcat(e->object, " ");
        }
        put_visible(e->object, sizeof(e->object), e->line, sizeof(e->line));
        if (q->path)
                put_visible(e->object, sizeof(e->object), q->path, SHOWN_MAX);
}

static void write_rule(Explanation *e) {
        int i = e->verdict->rule;

        if (i >= 0 && (size_t) i < e->policy->n_rules) {
                e->rule = e->policy->rules + i;
                if (e->rule->packages) {
                        (void) snprintf(e->rule_words, sizeof(e->rule_words), "%s[0] \"" EGRESS_PACKAGES "\", which has %.200s", egress_action_list(e->rule->action), e->rule->text);
                        return;
                }
                (void) snprintf(e->rule_words, sizeof(e->rule_words), "%s[%zu] %s%.200s%s", egress_action_list(e->rule->action),
                                egress_rule_place(e->policy, (size_t) i), e->rule->text[0] == '{' ? "" : "\"", e->rule->text,
                                e->rule->text[0] == '{' ? "" : "\"");
        } else
                (void) snprintf(e->rule_words, sizeof(e->rule_words), i < 0 ? "no rule" : "what was approved");
}

static bool needs_tls_word(const Explanation *e) {
        return e->question->protocol == EGRESS_HTTP && e->policy->require_tls;
}

/* The smallest policy that lets it out. */
static void cure_line(Explanation *e) {
        bool has_way_out = e->policy->mode == NETWORK_EGRESS || e->policy->mode == NETWORK_OPEN;

        explain_say(e->cure, "{\"network\":{%s%s\"allow\":[\"%s\"]%s}}", has_way_out ? "" : "\"mode\":\"egress\",",
                        e->policy->group ? "\"group\":null," : "", e->line,
                        needs_tls_word(e) ? ",\"requireTls\":false" : "");
}

static bool explain_is_plain(const char *text) {
        return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.~%:@!$&'()+,;=-") == strlen(text);
}

/* The cure is as narrow as the question: one method, one path. */
static void cure_request(Explanation *e) {
        const EgressQuestion *q = e->question;
        const char *address = e->host;
        char bare[EGRESS_DOMAIN_MAX], port[32] = "";

        if (!q->method || !q->path || strlen(q->path) > SHOWN_MAX || strlen(e->host) > 100 || !explain_is_plain(q->method) || !explain_is_plain(q->path)) {
                cure_line(e);
                return;
        }
        if (!q->host && e->host[0] == '[') {
                (void) snprintf(bare, sizeof(bare), "%.*s", (int) strlen(e->host) - 2, e->host + 1);
                address = bare;
        }
        if (!q->host || q->port != usual_port(q->protocol))
                (void) snprintf(port, sizeof(port), ",\"ports\":[%u]", q->port);
        explain_say(e->cure, "{\"network\":{\"allow\":[{\"%s\":\"%s\",\"protocols\":[\"%s\"]%s,\"methods\":[\"%s\"],\"paths\":[\"%s\"]}]%s}}",
                        q->host ? "domain" : "cidr", address, egress_protocol_to_string(q->protocol), port, q->method, q->path,
                        needs_tls_word(e) ? ",\"requireTls\":false" : "");
}

static void cure_special(Explanation *e) {
        char address[46];

        ip_format(&e->question->address, address);
        explain_say(e->cure, "only the operator can open it: network.reachable: [\"%s\"] in cove.yaml", address);
}

static void by_rule(Explanation *e) {
        explain_say(e->text, "%s says so", e->rule_words);
        if (e->rule)
                explain_say(e->cure, "take %s out of network.deny: a deny wins over every allow", e->rule_words);
        else
                explain_say(e->cure, "a deny wins over every allow");
}

static void no_rule(Explanation *e) {
        explain_say(e->text, "nothing in the policy allows \"%s\"", e->host);
        cure_line(e);
}

static void no_network(Explanation *e) {
        explain_say(e->text, "the sandbox's network mode is \"%s\", which has no way out", network_mode_to_string(e->policy->mode));
        if (e->question->has_address && ip_special(&e->question->address))
                cure_special(e);
        else
                cure_line(e);
}

static void raw_address(Explanation *e) {
        explain_say(e->text, "it goes to a bare address, and no rule for addresses has it. Use the host's name, so that a rule for the name counts");
        cure_line(e);
}

static void special_address(Explanation *e) {
        char address[46];
        const char *words = ip_special(&e->question->address);

        ip_format(&e->question->address, address);
        explain_say(e->text, "%s is %s, which no policy opens by itself", address, words ? words : "this machine's own");
        cure_special(e);
}

static void wrong_port(Explanation *e) {
        explain_say(e->text, "%s comes nearest and is not for port %u", e->rule_words, e->question->port);
        cure_line(e);
}

static void wrong_protocol(Explanation *e) {
        explain_say(e->text, "%s comes nearest and is not for %s", e->rule_words, egress_protocol_to_string(e->question->protocol));
        cure_line(e);
}

static void wrong_method(Explanation *e) {
        explain_say(e->text, "%s comes nearest and does not have this method", e->rule_words);
        cure_request(e);
}

static void wrong_path(Explanation *e) {
        explain_say(e->text, "%s comes nearest and does not have this path", e->rule_words);
        cure_request(e);
}

static void tls_required(Explanation *e) {
        bool is_allowed = !e->rule ? e->policy->mode == NETWORK_OPEN
                                   : e->rule->protocols & EGRESS_HTTP && egress_rule_has_port(e->rule, e->question->port);

        explain_say(e->text, "it is plain HTTP, and the policy requires TLS");
        explain_say(e->cure, "use https://%s, or ", e->host);
        if (is_allowed)
                explain_say(e->cure, "{\"network\":{\"requireTls\":false}}");
        else
                cure_line(e);
}

static void no_name(Explanation *e) {
        explain_say(e->text, "it does not say to which host it goes (SNI of TLS, Host of HTTP), so that no rule for a name can be for it");
        explain_say(e->cure, "send the name, or allow the address: {\"network\":{\"allow\":[\"");
        if (e->question->has_address) {
                IpRange range = { e->question->address, 128 };
                char text[64];

                ip_range_format(&range, text);
                explain_say(e->cure, strchr(text, ':') ? "tcp://[%s]:%u" : "tcp://%s:%u", text, e->question->port);
        } else
                explain_say(e->cure, "%s", e->line);
        explain_say(e->cure, "\"]}}");
}

static void not_approved(Explanation *e) {
        explain_say(e->text, "its approval was refused");
        cure_line(e);
}

static void ask_timeout(Explanation *e) {
        explain_say(e->text, "its approval was not given within %" PRIu64 " s", e->policy->ask_timeout_usec / USEC_PER_SEC);
        cure_line(e);
}

/* Each reason has a function, two constant sentences, or a limit. */
static const struct {
        void (*explain)(Explanation *e);
        const char *text, *cure;
        const char *field; /* of the policy */
        size_t offset;     /* of its value there */
        uint64_t unit;     /* 0: as it is */
} reasons[_EGRESS_REASON_MAX] = {
        [EGRESS_BY_RULE]         = { by_rule         },
        [EGRESS_NO_RULE]         = { no_rule         },
        [EGRESS_NO_NETWORK]      = { no_network      },
        [EGRESS_RAW_ADDRESS]     = { raw_address     },
        [EGRESS_SPECIAL_ADDRESS] = { special_address },
        [EGRESS_PORT]            = { wrong_port      },
        [EGRESS_PROTOCOL]        = { wrong_protocol  },
        [EGRESS_METHOD]          = { wrong_method    },
        [EGRESS_PATH]            = { wrong_path      },
        [EGRESS_TLS_REQUIRED]    = { tls_required    },
        [EGRESS_NO_NAME]         = { no_name         },
        [EGRESS_NOT_APPROVED]    = { not_approved    },
        [EGRESS_ASK_TIMEOUT]     = { ask_timeout     },
        [EGRESS_NAME_MISMATCH] = { NULL, "the name in Host or SNI is not one that was looked up for this address",
                                   "no rule allows it: look the name up, and connect to the address that it has" },
        [EGRESS_ENCRYPTED_HELLO] = { NULL, "its TLS hello is encrypted, which hides its destination",
                                     "switch it off in the client, or {\"network\":{\"allowEncryptedHello\":true}}" },
        [EGRESS_MALFORMED] = { NULL, "it is malformed, or could be read in more than one way", "no rule allows it: the client has to send it properly" },
        [EGRESS_CONNECT] = { NULL, "CONNECT is a tunnel, in which nothing could be checked",
                             "no rule allows it, and none is needed: connect directly, without a proxy" },
        [EGRESS_UPSTREAM] = { NULL, "it is allowed; the other side could not be reached",
                              "no rule is missing: try again later, or look whether the host is up" },
        [EGRESS_MEMORY] = { NULL, "the gate's memory for this sandbox is used up",
                            "no rule is missing: open fewer connections at once and read what comes back, use fewer and shorter credentials, or let the operator raise network.gateMemory" },
        [EGRESS_CREDENTIAL] = { NULL, "it carries the placeholder of a credential that is not for this host",
                                "send it to the credential's own domain over https, or change policy.credentials" },
        [EGRESS_REQUESTS]      = { NULL, "the execution has used up its requests", NULL, "maxRequests", offsetof(EgressPolicy, requests_max) },
        [EGRESS_REQUEST_SIZE]  = { NULL, "the request is too large", NULL, "maxRequestBytes", offsetof(EgressPolicy, request_bytes_max) },
        [EGRESS_RESPONSE_SIZE] = { NULL, "the response is too large", NULL, "maxResponseBytes", offsetof(EgressPolicy, response_bytes_max) },
        [EGRESS_TIMEOUT]       = { NULL, "it took too long", NULL, "requestTimeoutSeconds", offsetof(EgressPolicy, request_timeout_usec), USEC_PER_SEC },
        [EGRESS_TOTAL]         = { NULL, "the sandbox has used up its bytes", NULL, "maxBytes", offsetof(EgressPolicy, total_bytes_max) },
};

/* The cure for a limit proposes twice as much, which is plainly a guess. */
static void explain_reason(Explanation *e) {
        const EgressReason i = e->verdict->reason;
        uint64_t now;

        if (reasons[i].explain) {
                reasons[i].explain(e);
                return;
        }
        explain_say(e->text, "%s", reasons[i].text);
        if (!reasons[i].field) {
                explain_say(e->cure, "%s", reasons[i].cure);
                return;
        }
        memcpy(&now, (const char *) e->policy + reasons[i].offset, sizeof(now));
        if (reasons[i].unit > 0)
                now = (now + reasons[i].unit - 1) / reasons[i].unit;
        explain_say(e->text, " (%s: %" PRIu64 ")", reasons[i].field, now);
        explain_say(e->cure, "{\"network\":{\"%s\":%" PRIu64 "}}", reasons[i].field, now * 2);
}

static void explain_yes(Explanation *e) {
        static const char *const inside = ", as far as can be seen from outside: what is inside decides";

        if (e->verdict->action == EGRESS_ASK)
                explain_say(e->text, "%s waits for approval: %s", e->object, e->rule_words);
        else if (e->verdict->rule < 0)
                explain_say(e->text, "%s is allowed: %s", e->object, e->policy->learn ? "the policy is learning, and no rule is for it" : "mode open allows it");
        else
                explain_say(e->text, "%s is allowed by %s", e->object, e->rule_words);
        if (e->verdict->inspect && !e->question->method)
                explain_say(e->text, "%s", inside);
        explain_say(e->text, ".");
}

void egress_explain(const EgressPolicy *p, const EgressVerdict *v, const EgressQuestion *q, char text[static EGRESS_TEXT_MAX],
                char cure[static EGRESS_TEXT_MAX]) {
        Explanation e = { .policy = p, .verdict = v, .question = q, .text = text, .cure = cure };

        text[0] = cure[0] = '\0';
        explain_write_host(q, e.host);
        explain_write_line(&e);
        write_object(&e);
        write_rule(&e);
        if (v->action != EGRESS_DENY) {
                explain_yes(&e);
                return;
        }
        explain_say(text, "%s %s: ", e.object, v->reason == EGRESS_UPSTREAM ? "failed" : "is denied");
        explain_reason(&e);
        explain_say(text, ".");
}
