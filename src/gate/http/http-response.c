/* http-response.c: upstream's response, as the guest gets it: framed anew, credentials masked. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gate/events.h"
#include "gate/http/http-internal.h"
#include "gate/tell.h"

#define HEAD_ANSWER_MAX (4 * HEAD_MAX)

/* Credentials of this host may come back from it. */
static bool must_mask(const HttpExchange *x) {
        return x->tls && credentials_want(x->credentials, x->host);
}

static void tell_masked(HttpExchange *x, const char *name) {
        const EgressVerdict v = { .action = EGRESS_ALLOW, .reason = EGRESS_CREDENTIAL, .rule = -1 };
        char key[EGRESS_DOMAIN_MAX + 160];
        json_t *event;
        unsigned n;

        if (x->answered.told)
                return;
        x->answered.told = true;
        (void) snprintf(key, sizeof(key), "masked %s %s", x->host, name);
        n = gate_events_count(x->sandbox->events, key, clock_usec());
        event = n > 0 ? gate_event_new(x->sandbox, "masked", &v, &x->asked.question) : NULL;
        if (!event)
                return;
        (void) json_object_set_new(event, "text", json_sprintf("%s sent the value of the credential \"%s\" back; the sandbox sees its placeholder", x->host, name));
        (void) json_object_set_new(event, "cure", json_null());
        (void) json_object_set_new(event, "count", json_integer(n));
        gate_event_send(x->sandbox->gate, event);
}

/* mask: NULL if nothing has to be masked. */
static void http_response_put_text(CredentialFilter *mask, const char *text, Text *t) {
        if (mask)
                (void) credential_filter_feed(mask, text, strlen(text), /* last= */ true, t); /* a failure sticks to the text */
        else
                text_put_string(t, text);
}

static void http_response_write_fields(const HttpHead *h, CredentialFilter *mask, Text *t) {
        text_format(t, "HTTP/1.1 %03u ", h->status);
        http_response_put_text(mask, h->phrase, t);
        text_put_string(t, "\r\n");
        for (size_t i = 0; i < h->n_fields; i++) {
                if (http_is_hop(h, h->fields[i].name))
                        continue;
                http_response_put_text(mask, h->fields[i].name, t);
                text_put_string(t, ": ");
                http_response_put_text(mask, h->fields[i].value, t);
                text_put_string(t, "\r\n");
        }
}

static int http_response_write_head(HttpExchange *x, const HttpHead *h, Text *t) {
        CredentialFilter *mask = NULL;
        int r = 0;

        if (must_mask(x))
                r = credential_filter_new_mask(x->credentials, x->host, /* same_length= */ false, &mask);
        if (r < 0)
                return r;
        http_response_write_fields(h, mask, t);
        if (mask && credential_filter_hit(mask))
                tell_masked(x, credential_filter_hit(mask));
        credential_filter_free(mask);
        return t->error;
}

/* The guest gets the body with its length if that does not change, else in chunks, or, with HTTP/1.0, until
 * the connection ends. */
static void http_response_write_framing(HttpExchange *x, const HttpHead *h, Text *t) {
        HttpAnswered *a = &x->answered;
        bool changes = a->mask && h->framing != FRAMING_NONE, old = x->asked.head.minor == 0;

        a->chunked = !old && (h->framing == FRAMING_CHUNKED || (h->framing == FRAMING_LENGTH && changes));
        a->last = old || !x->asked.head.persistent || (!h->persistent && !x->by_proxy) || h->framing == FRAMING_CLOSE;
        if (a->chunked)
                text_put_string(t, "Transfer-Encoding: chunked\r\n");
        else if (h->has_length && h->status != 204 && (h->framing == FRAMING_NONE || (h->framing == FRAMING_LENGTH && !changes)))
                text_format(t, "Content-Length: %" PRIu64 "\r\n", h->length);
        if (a->last)
                text_put_string(t, "Connection: close\r\n");
        text_put_string(t, "\r\n");
}

static int pass_interim(HttpExchange *x, const HttpHead *h) {
        Text t = TEXT_INIT(HEAD_ANSWER_MAX);

        if (++x->answered.n_interim > HTTP_INTERIM_MAX)
                return http_fail(x, "it sends too many interim responses");
        if (x->asked.head.minor == 0 || (h->status == 100 && !x->asked.expects))
                return 1; /* a guest that has not asked for it cannot handle it */
        if (http_response_write_head(x, h, &t) >= 0) {
                text_put_string(&t, "\r\n");
                stream_put(x->guest, t.data, t.size);
        }
        text_wipe(&t);
        return 1;
}

static int pass_switch(HttpExchange *x, const HttpHead *h) {
        Text t = TEXT_INIT(HEAD_ANSWER_MAX);
        int r;

        if (!x->asked.websocket || !http_head_field(h, "Upgrade") || strcasecmp(http_head_field(h, "Upgrade"), "websocket") != 0)
                return http_fail(x, "it switches to a protocol that was not requested");
        r = http_response_write_head(x, h, &t);
        if (r >= 0) {
                text_put_string(&t, "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
                stream_put(x->guest, t.data, t.size);
        }
        text_wipe(&t);
        return r < 0 ? http_fail(x, strerror(-r)) : http_start_tunnel(x);
}

static bool is_compressed(const HttpHead *h) {
        for (size_t i = 0; h->framing != FRAMING_NONE && i < h->n_fields; i++) {
                const char *coding = h->fields[i].value;

                if (strcasecmp(h->fields[i].name, "Content-Encoding") == 0 && *coding && strcasecmp(coding, "identity") != 0)
                        return true;
        }
        return false;
}

static int pass_head(HttpExchange *x, const HttpHead *h) {
        uint64_t max = x->sandbox->policy.response_bytes_max;
        HttpAnswered *a = &x->answered;
        Text t = TEXT_INIT(HEAD_ANSWER_MAX);
        int r = 0;

        if (max > 0 && h->framing == FRAMING_LENGTH && h->length > max)
                return http_deny_because(x, EGRESS_RESPONSE_SIZE);
        if (must_mask(x) && is_compressed(h))
                return http_fail(x, "its answer is compressed although that was not requested, and cannot be searched for credentials");
        if (must_mask(x))
                r = credential_filter_new_mask(x->credentials, x->host, /* same_length= */ false, &a->mask);
        if (r >= 0)
                r = http_response_write_head(x, h, &t);
        if (r < 0)
                (void) http_fail(x, strerror(-r));
        else {
                http_frame_init(&a->frame, h->framing, h->length);
                a->frame.piece_max = a->mask ? HTTP_MASK_MAX : 0;
                http_response_write_framing(x, h, &t);
                stream_put(x->guest, t.data, t.size);
                a->begun = true;
                a->over = http_frame_is_over(&a->frame);
        }
        text_wipe(&t);
        return 1;
}

/* Leaves the status alone: in pages about errors, some proxies repeat the request, with their password in it (Squid
 * before 7.2). */
static void http_response_drop_page(HttpHead *h) {
        h->n_fields = 0;
        h->framing = FRAMING_NONE;
        h->has_length = true;
        h->length = 0;
}

static int receive_head(HttpExchange *x) {
        Stream *s = x->upstream;
        HttpHead h = { 0 };
        int r = http_head_read_response(stream_data(s), stream_size(s), &x->answered.scanned, strcmp(x->asked.head.method, "HEAD") == 0, &h);

        if (r == 0) {
                if (x->reused && stream_size(s) == 0 && (s->error < 0 || s->ended)) { /* closed while the request was on its way: clients try again */
                        http_cut(x);
                        return 1;
                }
                if (s->error < 0)
                        return http_fail(x, strerror(-s->error));
                return s->ended ? http_fail(x, "it closed the connection without an answer") : 0;
        }
        x->answered.scanned = 0;
        if (r < 0)
                return http_fail(x, "its answer is malformed HTTP");
        stream_use(s, h.size);
        if (x->asked.authorized && h.status >= 400)
                http_response_drop_page(&h);
        if (must_mask(x))
                x->masked += h.size;
        if (must_mask(x) && h.size > HTTP_MASK_HEAD)
                r = http_fail(x, "its answer's head is larger than 16384 bytes, too large to be searched for credentials");
        else if (h.status == 101)
                r = pass_switch(x, &h);
        else if (h.status < 200)
                r = pass_interim(x, &h);
        else
                r = pass_head(x, &h);
        http_head_done(&h);
        return r;
}

/* Bodies. */

static int http_response_put_piece(HttpExchange *x, const void *data, size_t size, bool last) {
        Text masked = TEXT_INIT(HTTP_SENT_MAX);
        HttpAnswered *a = &x->answered;

        if (!a->mask) {
                http_put_body(x->guest, a->chunked, data, size);
                return 1;
        }
        x->masked += size + HTTP_MASK_PIECE;
        if (credential_filter_feed(a->mask, data, size, last, &masked) < 0)
                http_cut(x);
        else
                http_put_body(x->guest, a->chunked, masked.data, masked.size);
        if (credential_filter_hit(a->mask))
                tell_masked(x, credential_filter_hit(a->mask));
        text_wipe(&masked);
        return 1;
}

static int http_response_end_body(HttpExchange *x) {
        (void) http_response_put_piece(x, "", 0, /* last= */ true);
        if (x->step == HTTP_STEP_PASS && x->answered.chunked)
                stream_put(x->guest, "0\r\n\r\n", 5);
        x->answered.over = true;
        return 1;
}

/* There are no more bytes now: waits, ends the body, or cuts it if upstream ended too early. */
static int receive_end(HttpExchange *x) {
        if (x->upstream->error >= 0 && !x->upstream->ended)
                return 0;
        if (x->upstream->error < 0 || http_frame_end(&x->answered.frame) < 0) {
                http_cut(x); /* so that the guest does not take it for the whole */
                return 1;
        }
        return http_response_end_body(x);
}

static int receive_body(HttpExchange *x) {
        uint64_t max = x->sandbox->policy.response_bytes_max;
        HttpAnswered *a = &x->answered;
        int moved = 0;

        while (x->step == HTTP_STEP_PASS && stream_has_room(x->guest) && x->masked < HTTP_MASK_MAX) {
                const uint8_t *piece;
                size_t size;
                ssize_t n = http_frame_next(&a->frame, stream_data(x->upstream), stream_size(x->upstream), &piece, &size);

                if (n < 0) {
                        http_cut(x);
                        return 1;
                }
                if (n == 0)
                        return receive_end(x) > 0 || moved;
                if (max > 0 && a->frame.total > max)
                        return http_deny_because(x, EGRESS_RESPONSE_SIZE);
                if (size > 0)
                        (void) http_response_put_piece(x, piece, size, /* last= */ false);
                stream_use(x->upstream, (size_t) n);
                moved = 1;
                if (http_frame_is_over(&a->frame))
                        return http_response_end_body(x);
        }
        return moved;
}

/* Request and response are complete: goes to the next request, or to the end. */
static int http_response_finish(HttpExchange *x) {
        if (x->answered.last || !x->asked.sent) {
                x->upstream = stream_free(x->upstream);
                http_go(x, HTTP_STEP_DRAIN);
                return 1;
        }
        x->reused = true;
        if (x->by_proxy) /* one connection per request: proxies differ too much in when they close */
                x->upstream = stream_free(x->upstream);
        return http_next_request(x);
}

int http_step_pass(HttpExchange *x) {
        int moved = 0;

        if (!x->asked.sent)
                moved |= http_send_body(x);
        if (x->step == HTTP_STEP_PASS)
                moved |= x->answered.begun ? receive_body(x) : receive_head(x);
        if (x->step == HTTP_STEP_PASS && x->answered.over)
                moved |= http_response_finish(x);
        return moved;
}
