/* http-send.c: the request as sent to upstream: written anew, with credentials filled in. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gate/http/http-internal.h"
#include "gate/relay/proxy.h"

#define HEAD_SENT_MAX (4 * HEAD_MAX)
#define HTTP_PORT     80

/* Headers that concern one connection only, or are written anew for the next one. */
static const char *const hops[] = { "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "TE", "Trailer",
        "Transfer-Encoding", "Upgrade", "HTTP2-Settings", "Content-Length", "Host" };

/* Headers that are dropped for a host with credentials: its responses must be whole and uncompressed,
 * otherwise a value could come back in pieces. */
static const char *const veils[] = { "Accept-Encoding", "Range", "If-Range", "Sec-WebSocket-Extensions" };

bool http_is_hop(const HttpHead *h, const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(hops); i++)
                if (strcasecmp(hops[i], name) == 0)
                        return true;
        return http_head_has_word(h, "Connection", name);
}

static bool is_veil(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(veils); i++)
                if (strcasecmp(veils[i], name) == 0)
                        return true;
        return false;
}

bool http_must_collect(const HttpExchange *x) {
        return x->asked.fill && x->asked.head.framing == FRAMING_LENGTH && x->asked.head.length <= HTTP_COLLECT_MAX &&
                        x->sandbox->n_collecting < HTTP_COLLECTS_MAX;
}

static int write_query(const HttpExchange *x, Text *t) {
        CredentialFilter *f = NULL;
        const char *query = x->asked.target.query;
        int r;

        if (!query)
                return 0;
        text_put_string(t, "?");
        if (!x->tls || !credentials_want_in(x->credentials, x->host, CREDENTIAL_QUERY)) {
                text_put_string(t, query);
                return 0;
        }
        r = credential_filter_new_fill(x->credentials, x->host, CREDENTIAL_QUERY, CREDENTIAL_PERCENT, &f);
        if (r >= 0)
                r = credential_filter_feed(f, query, strlen(query), /* last= */ true, t);
        credential_filter_free(f);
        return r;
}

/* fill: NULL if the host has no credentials. */
static int http_send_write_fields(const HttpHead *h, CredentialFilter *fill, bool collected, Text *t) {
        for (size_t i = 0; i < h->n_fields; i++) {
                const HttpField *f = h->fields + i;
                int r;

                if (http_is_hop(h, f->name) || (fill && is_veil(f->name)) || (collected && strcasecmp(f->name, "Expect") == 0))
                        continue;
                text_put_string(t, f->name);
                text_put_string(t, ": ");
                if (fill) {
                        r = credential_fill_field(fill, f, t);
                        if (r < 0)
                                return r;
                } else
                        text_put_string(t, f->value);
                text_put_string(t, "\r\n");
        }
        if (fill)
                text_put_string(t, "Accept-Encoding: identity\r\n");
        return 0;
}

static int write_own_fields(const HttpExchange *x, bool collected, Text *t) {
        CredentialFilter *fill = NULL;
        int r;

        if (!x->tls || !credentials_want(x->credentials, x->host))
                return http_send_write_fields(&x->asked.head, NULL, collected, t);
        r = credential_filter_new_fill(x->credentials, x->host, CREDENTIAL_HEADER, CREDENTIAL_PLAIN, &fill);
        if (r >= 0)
                r = http_send_write_fields(&x->asked.head, fill, collected, t);
        credential_filter_free(fill);
        return r;
}

/* body: the whole body; NULL: it is sent piece by piece. */
static void http_send_write_framing(HttpExchange *x, const Text *body, Text *t) {
        HttpAsked *a = &x->asked;

        a->chunked = !body && (a->head.framing == FRAMING_CHUNKED || (a->head.framing == FRAMING_LENGTH && a->fill));
        if (a->chunked)
                text_put_string(t, "Transfer-Encoding: chunked\r\n");
        else if (body || a->head.has_length)
                text_format(t, "Content-Length: %" PRIu64 "\r\n", body ? (uint64_t) body->size : a->head.length);
        if (a->websocket)
                text_put_string(t, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
        else if (x->by_proxy || (!a->head.persistent && a->head.minor > 0))
                text_put_string(t, "Connection: close\r\n");
}

/* For a proxy: with the port that was judged, also where the guest's Host has none. */
static void http_send_write_place(const HttpExchange *x, Text *t) {
        text_format(t, "http://%s", x->asked.host);
        if (x->port != HTTP_PORT)
                text_format(t, ":%u", (unsigned) x->port);
}

/* The proxy may have changed since the connection was made: then there may be no authorization to send. */
static void http_send_write_proxy(HttpExchange *x, Text *t) {
        const ProxyServer *proxy = gate_proxy_for(x->sandbox, &x->asked.question);

        x->asked.authorized = proxy && proxy->authorization;
        if (x->asked.authorized)
                text_format(t, "Proxy-Authorization: %s\r\n", proxy->authorization);
}

static int http_send_write_head(HttpExchange *x, const Text *body, Text *t) {
        const HttpAsked *a = &x->asked;
        int r;

        text_put_string(t, a->head.method);
        text_put_string(t, " ");
        if (x->by_proxy)
                http_send_write_place(x, t);
        if (!x->by_proxy || strcmp(a->target.path, "*") != 0) /* OPTIONS of the whole server */
                text_put_string(t, a->target.path);
        r = write_query(x, t);
        if (r < 0)
                return r;
        text_format(t, " HTTP/1.%u\r\n", a->head.minor);
        if (*a->authority) {
                text_put_string(t, "Host: ");
                text_put_string(t, a->authority);
                text_put_string(t, "\r\n");
        }
        if (x->by_proxy)
                http_send_write_proxy(x, t);
        r = write_own_fields(x, body != NULL, t);
        if (r < 0)
                return r;
        http_send_write_framing(x, body, t);
        text_put_string(t, "\r\n");
        return t->error;
}

int http_send_head(HttpExchange *x, const Text *body) {
        Text t = TEXT_INIT(HEAD_SENT_MAX);
        int r = http_send_write_head(x, body, &t);

        if (r < 0) /* a value that cannot stand in a header, or too many of them */
                (void) http_deny_because(x, EGRESS_CREDENTIAL);
        else if (http_count_up(x, t.size))
                stream_put(x->upstream, t.data, t.size);
        text_wipe(&t);
        return 1;
}

/* Bodies. */

static void put_chunk(Stream *s, const void *data, size_t size) {
        char head[24];

        if (size == 0)
                return;
        stream_put(s, head, (size_t) snprintf(head, sizeof(head), "%zx\r\n", size));
        stream_put(s, data, size);
        stream_put(s, "\r\n", 2);
}

void http_put_body(Stream *s, bool chunked, const void *data, size_t size) {
        if (chunked)
                put_chunk(s, data, size);
        else
                stream_put(s, data, size);
}

/* Returns what is wrong with this piece; EGRESS_BY_RULE: nothing. */
static EgressReason check_piece(HttpExchange *x, const void *data, size_t size, bool last) {
        uint64_t max = x->sandbox->policy.request_bytes_max;
        Text ignored = TEXT_INIT(HTTP_SENT_MAX);
        HttpAsked *a = &x->asked;
        EgressReason reason = EGRESS_BY_RULE;

        if (max > 0 && a->frame.total > max)
                return EGRESS_REQUEST_SIZE;
        if (!a->find || credential_filter_is_idle(a->find))
                return EGRESS_BY_RULE;
        if (credential_filter_feed(a->find, data, size, last, &ignored) < 0 || credential_filter_hit(a->find))
                reason = EGRESS_CREDENTIAL;
        text_done(&ignored);
        return reason;
}

static int http_send_piece(HttpExchange *x, const void *data, size_t size, bool last) {
        EgressReason reason = check_piece(x, data, size, last);
        Text filled = TEXT_INIT(HTTP_SENT_MAX);
        HttpAsked *a = &x->asked;

        if (reason == EGRESS_BY_RULE && a->fill && credential_filter_feed(a->fill, data, size, last, &filled) < 0)
                reason = EGRESS_REQUEST_SIZE;
        if (reason != EGRESS_BY_RULE) {
                text_wipe(&filled);
                return http_deny_because(x, reason);
        }
        if (a->fill) {
                data = filled.data;
                size = filled.size;
        }
        if (size == 0 || http_count_up(x, size))
                http_put_body(x->upstream, a->chunked, data, size);
        text_wipe(&filled);
        return 1;
}

static int http_send_end_body(HttpExchange *x) {
        int r = http_send_piece(x, "", 0, /* last= */ true);

        if (x->step != HTTP_STEP_PASS)
                return r;
        if (x->asked.chunked)
                stream_put(x->upstream, "0\r\n\r\n", 5);
        x->asked.sent = true;
        return 1;
}

int http_send_body(HttpExchange *x) {
        HttpAsked *a = &x->asked;
        int moved = 0;

        while (x->step == HTTP_STEP_PASS && !a->sent && stream_has_room(x->upstream)) {
                const uint8_t *piece;
                size_t size;
                ssize_t n;

                if (http_frame_is_over(&a->frame))
                        return http_send_end_body(x);
                n = http_frame_next(&a->frame, stream_data(x->guest), stream_size(x->guest), &piece, &size);
                if (n < 0)
                        return http_deny_because(x, EGRESS_MALFORMED);
                if (n == 0) {
                        if (!x->guest->ended)
                                break;
                        http_over(x); /* cut off in the middle */
                        return 1;
                }
                if (size > 0)
                        (void) http_send_piece(x, piece, size, /* last= */ false);
                stream_use(x->guest, (size_t) n);
                moved = 1;
        }
        return moved;
}

/* A small body whose length will change is read whole before the head is sent. */

static int send_collected(HttpExchange *x) {
        Text filled = TEXT_INIT(HTTP_SENT_MAX);
        HttpAsked *a = &x->asked;
        EgressReason reason = check_piece(x, a->body.data, a->body.size, /* last= */ true);

        if (reason == EGRESS_BY_RULE && credential_filter_feed(a->fill, a->body.data, a->body.size, /* last= */ true, &filled) < 0)
                reason = EGRESS_REQUEST_SIZE;
        if (reason != EGRESS_BY_RULE)
                (void) http_deny_because(x, reason);
        else {
                http_go(x, HTTP_STEP_PASS);
                (void) http_send_head(x, &filled);
        }
        if (x->step == HTTP_STEP_PASS && http_count_up(x, filled.size)) {
                stream_put(x->upstream, filled.data, filled.size);
                a->sent = true;
        }
        text_wipe(&filled);
        return 1;
}

int http_step_collect(HttpExchange *x) {
        HttpAsked *a = &x->asked;
        const uint8_t *piece;
        size_t size;
        ssize_t n;

        a->body.max = HTTP_COLLECT_MAX;
        n = http_frame_next(&a->frame, stream_data(x->guest), stream_size(x->guest), &piece, &size);
        if (n < 0)
                return http_deny_because(x, EGRESS_MALFORMED);
        text_put(&a->body, piece, size);
        stream_use(x->guest, (size_t) n);
        if (http_frame_is_over(&a->frame) && a->body.error >= 0)
                return send_collected(x);
        if (a->body.error < 0 || (n == 0 && x->guest->ended)) {
                http_over(x);
                return 1;
        }
        return n > 0;
}
