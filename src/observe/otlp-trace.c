/* otlp-trace.c: turns steps into spans, and sends spans in batches. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "core/secret.h"
#include "json/json.h"
#include "observe/otlp-internal.h"

#define BATCH          512
#define BATCH_INTERVAL (5 * USEC_PER_SEC)
#define PAUSE_FIRST    (1 * USEC_PER_SEC)
#define PAUSE_MAX      (60 * USEC_PER_SEC)
#define ATTRIBUTES_MAX ((size_t) 64 << 10)
#define PARENTS_MAX    100000

struct Span {
        char sandbox[SANDBOX_ID_LENGTH + 1]; /* "": a failed wait in the queue, without a sandbox */
        LifeStep step;
        usec_t start, duration;
        bool failed;
        char *message;    /* of a failure; may be NULL */
        char *attributes; /* JSON, without the brackets */
        Span *prev, *next;
};

/* The parent trace of a sandbox, if a caller gave one. */
struct OtlpParent {
        char sandbox[SANDBOX_ID_LENGTH + 1];
        char trace_id[OTLP_TRACE_ID + 1], span_id[OTLP_SPAN_ID + 1];
        bool sampled;
        UT_hash_handle hh;
};

/* Traces. */

/* Derives an id from one that is random already. */
static void otlp_trace_derive(const char *purpose, const char *id, char *ret, size_t digits) {
        char text[64], hex[2 * SECRET_SHA256_SIZE + 1];
        uint8_t sum[SECRET_SHA256_SIZE];
        int n = snprintf(text, sizeof(text), "%s:%s", purpose, id);

        secret_sha256(text, (size_t) n, sum);
        secret_hex(sum, sizeof(sum), hex);
        memcpy(ret, hex, digits);
        ret[digits] = '\0';
}

static const OtlpParent *otlp_trace_find_parent(const Otlp *o, const char *sandbox) {
        OtlpParent *p = NULL;

        HASH_FIND_STR(o->parents, sandbox, p);
        return p;
}

static bool is_sampled(const Otlp *o, const char *sandbox) {
        const OtlpParent *p = otlp_trace_find_parent(o, sandbox);
        char digits[OTLP_SPAN_ID + 1];
        double share = otlp_config(o)->sampling;

        if (p)
                return p->sampled;
        if (share >= 1)
                return true;
        otlp_trace_derive("trace", sandbox, digits, 13); /* 52 bits: what a double can tell apart */
        return (double) strtoull(digits, NULL, 16) / (double) (UINT64_C(1) << 52) < share;
}

static bool is_hex(const char *text, size_t n) {
        return strspn(text, "0123456789abcdef") >= n && strspn(text, "0") < n;
}

/* "00-<32 digits>-<16 digits>-<2 digits>" */
void otlp_set_parent(Otlp *o, const char *sandbox_id, const char *header) {
        OtlpParent *p;

        if (!o || !header || !otlp_config(o)->endpoint || !otlp_config(o)->traces || HASH_COUNT(o->parents) >= PARENTS_MAX)
                return;
        if (strlen(header) < 55 || strncmp(header, "ff", 2) == 0 || header[2] != '-' || header[35] != '-' || header[52] != '-' ||
                        !is_hex(header + 3, OTLP_TRACE_ID) || !is_hex(header + 36, OTLP_SPAN_ID) ||
                        (strncmp(header, "00", 2) == 0 && header[55]) || strspn(header + 53, "0123456789abcdef") < 2)
                return;
        if (otlp_trace_find_parent(o, sandbox_id))
                return;
        p = calloc(1, sizeof(*p));
        if (!p)
                return;
        (void) snprintf(p->sandbox, sizeof(p->sandbox), "%s", sandbox_id);
        memcpy(p->trace_id, header + 3, OTLP_TRACE_ID);
        memcpy(p->span_id, header + 36, OTLP_SPAN_ID);
        p->sampled = strtoul(header + 53, NULL, 16) & 1;
        HASH_ADD_STR(o->parents, sandbox, p);
}

static void forget_parent(Otlp *o, const char *sandbox) {
        OtlpParent *p = NULL;

        HASH_FIND_STR(o->parents, sandbox, p);
        if (p) {
                HASH_DEL(o->parents, p);
                free(p);
        }
}

/* Spans. */

static void span_free(Span *s) {
        free(s->message);
        free(s->attributes);
        free(s);
}

static void drop_first(Otlp *o) {
        Span *s = o->spans;

        DL_DELETE(o->spans, s);
        o->n_spans--;
        if (s->step == STEP_LIFETIME)
                forget_parent(o, s->sandbox); /* this is the last span of its trace */
        span_free(s);
}

static void put_attributes(Text *t, const Sandbox *sb, const Execution *x, LifeStep step) {
        bool first = true;

        otlp_put_attribute(t, &first, "sandbox.id", sb->id);
        otlp_put_attribute(t, &first, "sandbox.name", sb->spec.name);
        otlp_put_attribute(t, &first, "sandbox.template", sb->spec.template_name);
        otlp_put_attribute(t, &first, "sandbox.profile", sb->spec.profile);
        otlp_put_attribute(t, &first, "agent.type", sb->spec.agent_type);
        otlp_put_attribute(t, &first, "task.id", sb->spec.task_id);
        otlp_put_attribute(t, &first, "tenant", sb->spec.tenant);
        if (x) {
                otlp_put_attribute(t, &first, "execution.id", x->id);
                otlp_put_attribute(t, &first, "execution.reason", execution_reason_name(x->reason));
                otlp_put_integer(t, &first, "process.exit.code", x->exit_code);
                otlp_put_integer(t, &first, "execution.max_rss", (int64_t) x->max_rss_bytes);
        }
        if (step == STEP_LIFETIME) {
                otlp_put_attribute(t, &first, "sandbox.status", sandbox_status_name(sb->status));
                otlp_put_attribute(t, &first, "sandbox.reason", sb->reason);
        }
}

static bool has_failed(const Sandbox *sb, const Execution *x, LifeStep step) {
        if (x)
                return x->reason != EXECUTION_REASON_EXITED || x->exit_code != 0;
        return step == STEP_LIFETIME && sb->status == SANDBOX_FAILED;
}

static int span_fill(Span *s, const Sandbox *sb, const Execution *x) {
        Text t = TEXT_INIT(ATTRIBUTES_MAX);
        const char *message;

        memcpy(s->sandbox, sb->id, sizeof(s->sandbox));
        put_attributes(&t, sb, x, s->step);
        text_put(&t, "", 1);
        if (t.error < 0) {
                text_done(&t);
                return t.error;
        }
        s->attributes = t.data;
        s->failed = has_failed(sb, x, s->step);
        message = x ? (x->message ? x->message : execution_reason_name(x->reason)) : sb->reason;
        if (s->failed && message)
                s->message = strdup(message);
        return 0;
}

static void otlp_trace_arm(Otlp *o, usec_t usec) {
        (void) sd_event_source_set_time_relative(o->trace_timer, usec);
        (void) sd_event_source_set_enabled(o->trace_timer, SD_EVENT_ONESHOT);
}

static void otlp_trace_enqueue(Otlp *o, Span *s) {
        DL_APPEND(o->spans, s);
        o->n_spans++;
        if (o->trace_request || o->pause_usec > 0)
                return; /* the end of the request or of the pause sends the next batch */
        if (o->n_spans == 1)
                otlp_trace_arm(o, BATCH_INTERVAL);
        else if (o->n_spans == BATCH)
                otlp_trace_arm(o, 0);
}

static void otlp_trace_on_step(LifeStep step, Sandbox *sb, const Execution *x, usec_t start, usec_t duration, void *userdata) {
        Otlp *o = userdata;
        const OtlpConfig *c = otlp_config(o);
        Span *s;

        if (!c->endpoint || !c->traces || !o->outbound || (sb && !is_sampled(o, sb->id)))
                return;
        s = o->n_spans < c->queue_max ? calloc(1, sizeof(*s)) : NULL;
        if (s) {
                s->step = step;
                s->start = start;
                s->duration = duration;
                s->failed = !sb; /* the wait failed */
        }
        if (!s || (sb && span_fill(s, sb, x) < 0)) {
                o->stats.spans_dropped++;
                if (sb && step == STEP_LIFETIME)
                        forget_parent(o, sb->id);
                if (s)
                        span_free(s);
                return;
        }
        otlp_trace_enqueue(o, s);
}

/* A batch. */

static void put_ids(Text *t, const Otlp *o, const Span *s) {
        const OtlpParent *parent = otlp_trace_find_parent(o, s->sandbox);
        char trace[OTLP_TRACE_ID + 1], span[OTLP_SPAN_ID + 1], root[OTLP_SPAN_ID + 1];
        bool is_root = s->step == STEP_LIFETIME;

        secret_random_hex(span, OTLP_SPAN_ID);
        if (!s->sandbox[0]) {
                secret_random_hex(trace, OTLP_TRACE_ID);
                text_format(t, "\"traceId\":\"%s\",\"spanId\":\"%s\"", trace, span);
                return;
        }
        otlp_trace_derive("trace", s->sandbox, trace, OTLP_TRACE_ID);
        otlp_trace_derive("root", s->sandbox, root, OTLP_SPAN_ID);
        text_format(t, "\"traceId\":\"%s\",\"spanId\":\"%s\"", parent ? parent->trace_id : trace, is_root ? root : span);
        if (!is_root)
                text_format(t, ",\"parentSpanId\":\"%s\"", root);
        else if (parent)
                text_format(t, ",\"parentSpanId\":\"%s\"", parent->span_id);
}

static void put_span(Text *t, const Otlp *o, const Span *s) {
        text_put_string(t, "{");
        put_ids(t, o, s);
        text_format(t, ",\"name\":\"sandbox%s%s\",\"kind\":1,\"startTimeUnixNano\":\"%" PRIu64 "000\",\"endTimeUnixNano\":\"%" PRIu64
                       "000\",\"attributes\":[",
                        s->step == STEP_LIFETIME ? "" : ".", s->step == STEP_LIFETIME ? "" : life_step_name(s->step), s->start,
                        s->start + s->duration);
        if (s->attributes)
                text_put_string(t, s->attributes);
        text_format(t, "],\"status\":{\"code\":%d", s->failed ? 2 : 1);
        if (s->message) {
                text_put_string(t, ",\"message\":");
                text_quote_string(t, s->message);
        }
        text_put_string(t, "}}");
}

static unsigned put_batch(Text *t, const Otlp *o) {
        const Span *s;
        unsigned n = 0;

        text_put_string(t, "{\"resourceSpans\":[{");
        otlp_put_resource(t);
        text_put_string(t, "\"scopeSpans\":[{");
        otlp_put_scope(t);
        text_put_string(t, "\"spans\":[");
        for (s = o->spans; s && n < BATCH; s = s->next) {
                text_put_string(t, n++ > 0 ? "," : "");
                put_span(t, o, s);
        }
        text_put_string(t, "]}]}]}");
        return n;
}

/* {"partialSuccess":{"rejectedSpans":"3","errorMessage":"…"}} */
static uint64_t count_rejected(Otlp *o, const OutboundResult *result) {
        _cleanup_json_ json_t *answer = json_loadb(result->body, result->size, 0, NULL);
        const json_t *partial = json_object_get(answer, "partialSuccess"), *n = json_object_get(partial, "rejectedSpans");
        const char *text = json_string_value(json_object_get(partial, "errorMessage"));
        uint64_t rejected = json_is_string(n) ? strtoull(json_string_value(n), NULL, 10) : (uint64_t) json_integer_value(n);

        if (rejected > 0)
                otlp_note_error(o, "spans", text ? text : "the collector has rejected some");
        return MIN_OF(rejected, (uint64_t) o->n_sending);
}

static void otlp_trace_flush(Otlp *o);

static void otlp_trace_on_sent(const OutboundResult *result, void *userdata) {
        Otlp *o = userdata;
        uint64_t rejected;
        int r = otlp_check(o, "spans", result);

        o->trace_request = NULL;
        if (r == -EAGAIN) {
                o->n_sending = 0;
                o->pause_usec = o->pause_usec == 0 ? PAUSE_FIRST : MIN_OF(2 * o->pause_usec, PAUSE_MAX);
                otlp_trace_arm(o, o->pause_usec);
                return;
        }
        o->pause_usec = 0;
        rejected = r < 0 ? 0 : count_rejected(o, result);
        o->stats.spans_rejected += rejected;
        *(r < 0 ? &o->stats.spans_dropped : &o->stats.spans_sent) += o->n_sending - rejected;
        for (; o->n_sending > 0; o->n_sending--)
                drop_first(o);
        if (o->n_spans >= BATCH)
                otlp_trace_flush(o);
        else if (o->n_spans > 0)
                otlp_trace_arm(o, BATCH_INTERVAL);
}

static void discard_all(Otlp *o) {
        o->stats.spans_dropped += o->n_spans;
        while (o->spans)
                drop_first(o);
}

static void otlp_trace_flush(Otlp *o) {
        _cleanup_text_ Text t = TEXT_INIT(OTLP_BODY_MAX);
        Error error = { 0 };

        if (!o->spans || o->trace_request)
                return;
        if (!otlp_config(o)->endpoint) { /* the endpoint was removed from the configuration */
                discard_all(o);
                return;
        }
        o->n_sending = put_batch(&t, o);
        if (otlp_send(o, "/v1/traces", &t, otlp_trace_on_sent, &o->trace_request, &error) < 0) {
                otlp_note_error(o, "spans", error.text);
                o->n_sending = 0;
                discard_all(o);
        }
}

static int otlp_trace_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        otlp_trace_flush(userdata);
        return 0;
}

int traces_start(Otlp *o, Error *reterr) {
        int r = sd_event_add_time(o->manager->event, &o->trace_timer, CLOCK_MONOTONIC, 0, 0, otlp_trace_on_timer, o);

        if (r >= 0)
                r = sd_event_source_set_enabled(o->trace_timer, SD_EVENT_OFF);
        if (r < 0)
                return error_set(reterr, r, "cannot add the export of traces to the loop: %s", strerror(-r));
        o->observer = (CoreObserver) { .step = otlp_trace_on_step, .userdata = o };
        manager_observe(o->manager, &o->observer);
        return 0;
}

void traces_free(Otlp *o) {
        OtlpParent *p, *next;

        outbound_cancel(o->trace_request);
        sd_event_source_disable_unref(o->trace_timer);
        while (o->spans)
                drop_first(o);
        HASH_ITER(hh, o->parents, p, next) {
                HASH_DEL(o->parents, p);
                free(p);
        }
}
