#include "gate/tell.h"

#include <stdio.h>

#include "gate/events.h"

#define KEY_MAX 1024

static const struct {
        EgressProtocol protocol;
        const char *name;
} protocol_names[] = {
        { EGRESS_TCP,   "tcp"   },
        { EGRESS_UDP,   "udp"   },
        { EGRESS_HTTP,  "http"  },
        { EGRESS_HTTPS, "https" },
        { EGRESS_DNS,   "dns"   },
};

const char *gate_protocol_to_string(EgressProtocol p) {
        for (size_t i = 0; i < ELEMENTSOF(protocol_names); i++)
                if (protocol_names[i].protocol == p)
                        return protocol_names[i].name;
        return "tcp";
}

/* Explains a verdict. If a grant decided, the grants are explained as if they were the policy. */
static void tell_explain(const GateSandbox *s, EgressVerdict v, const EgressQuestion *q, char text[static EGRESS_TEXT_MAX],
                char cure[static EGRESS_TEXT_MAX]) {
        EgressPolicy p = s->policy;

        if (v.rule >= 0 && (size_t) v.rule >= p.n_rules) {
                v.rule -= (int) p.n_rules;
                p.rules = s->grants.rules;
                p.n_rules = s->grants.n;
        }
        if (v.rule >= 0 && (size_t) v.rule >= p.n_rules)
                v.rule = -1; /* the policy was changed since */
        egress_explain(&p, &v, q, text, cure);
}

static json_t *tell_number_or_null(uint64_t n) {
        return n > 0 ? json_integer((json_int_t) n) : json_null();
}

json_t *gate_event_new(const GateSandbox *s, const char *kind, const EgressVerdict *v, const EgressQuestion *q) {
        char text[EGRESS_TEXT_MAX] = "", cure[EGRESS_TEXT_MAX] = "", address[46] = "";
        const EgressRule *rule = gate_rule(s, v->rule);

        tell_explain(s, *v, q, text, cure);
        if (q->has_address)
                ip_format(&q->address, address);
        return json_pack("{s:s, s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}",
                        "event", kind,
                        "id", s->id,
                        "time", (json_int_t) clock_wall_usec(),
                        "protocol", gate_protocol_to_string(q->protocol),
                        "host", json_text_or_null(q->host),
                        "address", json_text_or_null(q->has_address ? address : NULL),
                        "port", tell_number_or_null(q->port),
                        "method", json_text_or_null(q->method),
                        "path", json_text_or_null(q->path),
                        "rule", json_text_or_null(rule ? egress_rule_name(rule) : NULL),
                        "reason", egress_reason_to_string(v->reason),
                        "text", json_text_or_null(text),
                        "cure", json_text_or_null(*cure ? cure : NULL));
}

void gate_event_send(Gate *g, json_t *event) {
        if (!event)
                return;
        if (g->tell)
                g->tell(g, event, g->tell_userdata);
        else
                json_decref(event);
}

/* Two events with the same key count as one. The address is left out if there is a name: it changes all the
 * time. */
static void tell_make_key(const char *kind, const EgressVerdict *v, const EgressQuestion *q, char ret[static KEY_MAX]) {
        char address[46] = "";

        if (!q->host && q->has_address)
                ip_format(&q->address, address);
        (void) snprintf(ret, KEY_MAX, "%s %s %s%s %u %s %d %.512s", kind, gate_protocol_to_string(q->protocol), q->host ? q->host : "", address,
                        (unsigned) q->port, q->method ? q->method : "", (int) v->reason, q->path ? q->path : "");
}

void gate_tell(GateSandbox *s, const char *kind, const EgressVerdict *v, const EgressQuestion *q) {
        char key[KEY_MAX];
        json_t *event;
        unsigned n;

        tell_make_key(kind, v, q, key);
        n = gate_events_count(s->events, key, clock_usec());
        if (n == 0)
                return;
        event = gate_event_new(s, kind, v, q);
        if (event)
                (void) json_object_set_new(event, "count", json_integer(n));
        gate_event_send(s->gate, event);
}

void gate_tell_denied(GateSandbox *s, const EgressVerdict *v, const EgressQuestion *q) {
        if (v->reason == EGRESS_UPSTREAM)
                return;
        s->usage.denied++;
        if (v->reason != EGRESS_ASK_TIMEOUT) /* ask.c has reported the expiry */
                gate_tell(s, "denied", v, q);
}

void gate_tell_allowed(GateSandbox *s, const EgressVerdict *v, const EgressQuestion *q) {
        if (s->policy.learn)
                gate_tell(s, "allowed", v, q);
}
