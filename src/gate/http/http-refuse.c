/* http-refuse.c: the gate's own responses: denials and failures. */

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "gate/http/http-internal.h"

typedef struct Refusal {
        unsigned status;
        const char *phrase, *code;
} Refusal;

static const Refusal refusals[_EGRESS_REASON_MAX] = {
        [EGRESS_MALFORMED] = { 400, "Bad Request", "egress_denied" },
        [EGRESS_TIMEOUT] = { 504, "Gateway Timeout", "egress_denied" },
        [EGRESS_UPSTREAM] = { 502, "Bad Gateway", "upstream_failed" },
};
static const Refusal forbidden = { 403, "Forbidden", "egress_denied" };

void http_cut(HttpExchange *x) {
        /* Makes the close a reset: the guest must not take a partial response for a whole one. */
        (void) setsockopt(x->guest->fd, SOL_SOCKET, SO_LINGER, &(struct linger) { .l_onoff = 1 }, sizeof(struct linger));
        http_over(x);
}

/* Whether the guest's next request can be read: the end of this one is known, and it was read to its end. */
static bool can_go_on(const HttpExchange *x) {
        const HttpAsked *a = &x->asked;

        return a->head.method && a->head.minor > 0 && a->head.persistent && http_frame_is_over(&a->frame) && !x->guest->ended &&
                        strcmp(a->head.method, "CONNECT") != 0;
}

static json_t *write_error(const Refusal *refusal, const EgressVerdict *v, const char *rule, const char *text, const char *cure) {
        return json_pack("{s:{s:s, s:s, s:s, s:o, s:o}}", "error",
                        "code", refusal->code,
                        "reason", egress_reason_to_string(v->reason),
                        "message", text,
                        "rule", json_text_or_null(rule),
                        "allow", json_text_or_null(cure && *cure ? cure : NULL));
}

static void send_answer(HttpExchange *x, const Refusal *refusal, json_t *error, bool goes_on) {
        bool bodyless = x->asked.head.method && strcmp(x->asked.head.method, "HEAD") == 0;
        _cleanup_json_ json_t *owned = error;
        _cleanup_free_ char *body = NULL;
        Text t = TEXT_INIT(HEAD_MAX);
        size_t size = 0;

        body = owned ? json_print(owned, &size) : NULL;
        text_format(&t, "HTTP/1.1 %u %s\r\n", refusal->status, refusal->phrase);
        text_format(&t, "Content-Type: application/json\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n%s\r\n", size,
                        goes_on ? "" : "Connection: close\r\n");
        if (body && !bodyless)
                text_put(&t, body, size);
        stream_put(x->guest, t.data, t.size);
        text_done(&t);
}

static int gate_http_refuse(HttpExchange *x, const EgressVerdict *v, const char *text, const char *cure) {
        const Refusal *refusal = refusals[v->reason].status ? refusals + v->reason : &forbidden;
        const EgressRule *rule = gate_rule(x->sandbox, v->rule);
        bool goes_on = can_go_on(x);

        x->ask = ask_cancel(x->ask);
        x->dial = dial_free(x->dial);
        if (x->step == HTTP_STEP_OVER || x->step == HTTP_STEP_DRAIN)
                return 1;
        if (x->answered.begun || x->step == HTTP_STEP_TUNNEL || x->step == HTTP_STEP_GREET) {
                http_cut(x);
                return 1;
        }
        if (x->step == HTTP_STEP_PASS || v->reason == EGRESS_UPSTREAM) /* what it may still send must not answer the next request */
                x->upstream = stream_free(x->upstream);
        send_answer(x, refusal, write_error(refusal, v, rule ? egress_rule_name(rule) : NULL, text, cure), goes_on);
        if (goes_on)
                return http_next_request(x);
        http_go(x, HTTP_STEP_DRAIN);
        return 1;
}

static int explain_and_refuse(HttpExchange *x, const EgressVerdict *v) {
        char text[EGRESS_TEXT_MAX] = "", cure[EGRESS_TEXT_MAX] = "";

        egress_explain(&x->sandbox->policy, v, &x->asked.question, text, cure);
        return gate_http_refuse(x, v, text, cure);
}

int http_deny(HttpExchange *x, const EgressVerdict *v) {
        gate_tell_denied(x->sandbox, v, &x->asked.question);
        return explain_and_refuse(x, v);
}

int http_deny_because(HttpExchange *x, EgressReason reason) {
        return http_deny(x, &(EgressVerdict) { .action = EGRESS_DENY, .reason = reason, .rule = -1 });
}

int http_deny_told(HttpExchange *x, EgressReason reason) {
        return explain_and_refuse(x, &(EgressVerdict) { .action = EGRESS_DENY, .reason = reason, .rule = -1 });
}

int http_fail(HttpExchange *x, const char *why) {
        const EgressVerdict v = { .action = EGRESS_DENY, .reason = EGRESS_UPSTREAM, .rule = -1 };
        const char *host = x->asked.question.host;
        char text[EGRESS_TEXT_MAX], number[46];

        ip_format(&x->address, number);
        (void) snprintf(text, sizeof(text), "%s port %u is allowed, but it failed: %s", host ? host : number, (unsigned) x->port, why);
        log_sandbox("debug", x->sandbox->id, "%s", text);
        return gate_http_refuse(x, &v, text, NULL);
}

/* Sends the last response, and discards what the guest still sends. Closing at once would lose the response:
 * a reset overtakes it. */
int http_step_drain(HttpExchange *x) {
        size_t n = stream_size(x->guest);

        if (!x->guest->ending)
                stream_end(x->guest);
        if (!x->drain_sent && stream_is_sent(x->guest)) {
                x->drain_sent = true;
                http_go(x, HTTP_STEP_DRAIN);
        }
        stream_use(x->guest, n);
        x->drained += n;
        if (x->drain_sent && (x->guest->ended || x->drained > HTTP_DRAIN_MAX)) {
                http_over(x);
                return 1;
        }
        return n > 0;
}
