#include "observe/otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config.h"
#include "observe/otlp-internal.h"

#define HEADERS_MAX 66

DEFINE_CLEANUP(Otlp, otlp_free)

int otlp_new(Manager *m, Outbound *outbound, Observe *observe, Otlp **ret, Error *reterr) {
        _cleanup_(otlp_freep) Otlp *o = calloc(1, sizeof(*o));
        int r;

        if (!o)
                return error_set(reterr, -ENOMEM, "out of memory");
        *o = (Otlp) { .manager = m, .outbound = outbound, .observe = observe };
        r = traces_start(o, reterr);
        if (r >= 0)
                r = metrics_start(o, reterr);
        if (r >= 0)
                *ret = TAKE_PTR(o);
        return r;
}

Otlp *otlp_free(Otlp *o) {
        if (!o)
                return NULL;
        manager_unobserve(o->manager, &o->observer);
        traces_free(o);
        metrics_free(o);
        free(o);
        return NULL;
}

void otlp_stats(const Otlp *o, OtlpStats *ret) {
        *ret = o->stats;
        ret->spans_queued = o->n_spans;
}

/* Parts of a body. */

void otlp_put_attribute(Text *t, bool *first, const char *key, const char *value) {
        if (!value || !*value)
                return;
        text_format(t, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", *first ? "" : ",", key);
        text_quote_string(t, value);
        text_put_string(t, "}}");
        *first = false;
}

void otlp_put_integer(Text *t, bool *first, const char *key, int64_t value) {
        text_format(t, "%s{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIi64 "\"}}", *first ? "" : ",", key, value);
        *first = false;
}

void otlp_put_resource(Text *t) {
        char host[256] = "";
        bool first = true;

        (void) gethostname(host, sizeof(host) - 1);
        text_put_string(t, "\"resource\":{\"attributes\":[");
        otlp_put_attribute(t, &first, "service.name", "cove");
        otlp_put_attribute(t, &first, "service.version", COVE_VERSION);
        otlp_put_attribute(t, &first, "host.name", host);
        otlp_put_integer(t, &first, "process.pid", getpid());
        text_put_string(t, "]},");
}

void otlp_put_scope(Text *t) {
        text_put_string(t, "\"scope\":{\"name\":\"cove\",\"version\":\"" COVE_VERSION "\"},");
}

/* Sending. */

void otlp_note_error(Otlp *o, const char *what, const char *text) {
        if (!o->stats.last_error[0])
                log_warning("otlp: %s cannot be sent: %s; retrying, without further messages", what, text);
        (void) snprintf(o->stats.last_error, sizeof(o->stats.last_error), "%s: %s", what, text);
        o->stats.last_error_at = clock_wall_usec();
}

static char *otlp_make_url(const char *endpoint, const char *path) {
        size_t n = strlen(endpoint);
        char *url;

        return asprintf(&url, "%.*s%s", (int) (n > 0 && endpoint[n - 1] == '/' ? n - 1 : n), endpoint, path) < 0 ? NULL : url;
}

int otlp_send(Otlp *o, const char *path, const Text *body, OutboundDone done, OutboundRequest **ret, Error *reterr) {
        const OtlpConfig *c = otlp_config(o);
        const char *headers[HEADERS_MAX + 1] = { "Content-Type: application/json" };
        OutboundSpec spec = OUTBOUND_SPEC(IP_REACH_ALL);
        _cleanup_free_ char *url = otlp_make_url(c->endpoint, path);

        if (!url || body->error < 0)
                return error_set(reterr, body->error < 0 ? body->error : -ENOMEM, "the body cannot be made");
        for (size_t i = 0; i < c->headers.n && i + 1 < HEADERS_MAX; i++)
                headers[i + 1] = c->headers.items[i];
        spec.url = url;
        spec.headers = headers;
        spec.body = body->data;
        spec.size = body->size;
        return outbound_send(o->outbound, &spec, done, o, ret, reterr);
}

/* Decides by the OTLP specification which failures are retried. */
int otlp_check(Otlp *o, const char *what, const OutboundResult *result) {
        char text[160];

        if (result->error >= 0 && result->status >= 200 && result->status < 300)
                return 0;
        if (result->error < 0) {
                otlp_note_error(o, what, result->text[0] ? result->text : strerror(-result->error));
                return -EAGAIN;
        }
        (void) snprintf(text, sizeof(text), "the collector answered %u: %.*s", result->status, (int) MIN_OF(result->size, (size_t) 100),
                        result->body);
        otlp_note_error(o, what, text);
        return result->status == 429 || (result->status >= 502 && result->status <= 504) ? -EAGAIN : -EIO;
}
