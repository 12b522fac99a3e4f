/* connect-answer.c: answers of a call: a single one, or a stream of envelopes with its deadline and
 * keepalive. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/connect/connect-internal.h"

#define SHIFT_BYTES ((size_t) 256 << 10) /* sent bytes are dropped once they are this many */
#define MESSAGE_MAX ((size_t) 16 << 10)  /* of an error */

static bool is_stream(const ConnectCall *c) {
        return c->method && c->method->kind != CONNECT_UNARY;
}

static const char *stream_type(const ConnectCall *c) {
        return c->json ? "application/connect+json" : "application/connect+proto";
}

/* Takes over the text's bytes. */
static int connect_answer_whole(ConnectCall *c, unsigned status, const char *type, Text *t) {
        char *data = t->data;

        c->q->answered = true;
        if (t->error < 0)
                return http_answer(c->q->http, 500, "application/json", "{\"code\":\"internal\",\"message\":\"out of memory\"}",
                                strlen("{\"code\":\"internal\",\"message\":\"out of memory\"}"));
        t->data = NULL;
        return http_answer_take(c->q->http, status, type, data, t->size);
}

int connect_answer(ConnectCall *c, const ProtobufCMessage *response) {
        _cleanup_text_ Text t = TEXT_INIT((size_t) 64 << 20);

        if (c->q->answered)
                return -EALREADY;
        if (is_stream(c)) {
                (void) connect_encode_envelope(&t, c->json, response);
                (void) connect_encode_end(&t, 0, NULL);
                return connect_answer_whole(c, 200, stream_type(c), &t);
        }
        (void) connect_encode(&t, c->json, response);
        if (t.error == 0 && !t.data)
                return c->q->answered = true, http_answer(c->q->http, 200, "application/proto", NULL, 0); /* an empty message is no bytes */
        return connect_answer_whole(c, 200, c->json ? "application/json" : "application/proto", &t);
}

static int unary_error(ConnectCall *c, ConnectCode code, const char *message) {
        _cleanup_text_ Text t = TEXT_INIT(MESSAGE_MAX * 8);

        text_format(&t, "{\"code\":\"%s\",\"message\":", connect_code_name(code));
        text_quote_string(&t, message);
        text_put_string(&t, "}");
        return connect_answer_whole(c, connect_code_status(code), "application/json", &t);
}

static void connect_answer_flush(ConnectCall *c) {
        if (!c->begin)
                http_request_continue(c->q->http);
}

static int stream_error(ConnectCall *c, ConnectCode code, const char *message) {
        _cleanup_text_ Text t = TEXT_INIT(MESSAGE_MAX * 8);

        if (c->started) {
                (void) connect_encode_end(&c->out, code, message);
                c->ended = true;
                connect_answer_flush(c);
                return c->out.error;
        }
        c->ended = true;
        (void) connect_encode_end(&t, code, message);
        return connect_answer_whole(c, 200, stream_type(c), &t);
}

int connect_error(ConnectCall *c, ConnectCode code, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;
        int n;

        if (c->started ? c->ended || c->broken : c->q->answered)
                return -EALREADY;
        va_start(ap, format);
        message = string_vformat(format, ap);
        va_end(ap);
        if (message && strlen(message) > MESSAGE_MAX)
                message[MESSAGE_MAX] = '\0';
        n = is_stream(c) ? stream_error(c, code, message ? message : "out of memory") : unary_error(c, code, message ? message : "out of memory");
        return n < 0 ? n : -ECANCELED;
}

int connect_errno(ConnectCall *c, int r, const char *text) {
        return connect_error(c, connect_code_from_errno(r), "%s", text && *text ? text : strerror(-r));
}

/* Streams. */

size_t connect_backlog(const ConnectCall *c) {
        return c->out.size - c->sent;
}

static void sent_some(ConnectCall *c, size_t n) {
        c->sent += n;
        if (c->sent == c->out.size) {
                c->out.size = c->sent = 0;
                if (c->out.room > SHIFT_BYTES)
                        text_done(&c->out); /* frees memory: many calls may wait for long */
        } else if (c->sent >= SHIFT_BYTES) {
                text_consume(&c->out, c->sent);
                c->sent = 0;
        }
        if (c->was_high && connect_backlog(c) < CONNECT_LOW) {
                c->was_high = false;
                if (c->drained)
                        c->drained(c, c->state);
        }
}

static ssize_t connect_answer_stream_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        ConnectCall *c = userdata;
        size_t n = MIN_OF(size, connect_backlog(c));

        if (c->broken || c->out.error < 0)
                return -ECONNRESET;
        if (n == 0)
                return c->ended ? HTTP_STREAM_END : 0;
        memcpy(buffer, c->out.data + c->sent, n);
        sent_some(c, n);
        return (ssize_t) n;
}

static int stream_begin(ConnectCall *c) {
        int r;

        if (!c->ended || c->broken || c->out.error < 0)
                return http_answer_stream(c->q->http, 200, stream_type(c), UINT64_MAX, connect_answer_stream_next, c);
        r = connect_answer_whole(c, 200, stream_type(c), &c->out);
        c->out.size = c->out.room = 0; /* the answer owns the bytes */
        return r;
}

static int on_begin(sd_event_source *source, void *userdata) {
        ConnectCall *c = userdata;

        c->begin = sd_event_source_disable_unref(c->begin);
        (void) stream_begin(c);
        return 0;
}

/* Starts the answer after this turn of the loop. Start, output and end of a short command then form one
 * answer of known length, in one packet instead of three. */
static int connect_answer_stream_start(ConnectCall *c) {
        if (c->started)
                return 0;
        if (c->q->answered)
                return -EALREADY;
        c->started = c->q->answered = true;
        return sd_event_add_defer(c->q->manager->event, &c->begin, on_begin, c) < 0 ? stream_begin(c) : 0;
}

static void restart_keepalive(ConnectCall *c) {
        if (!c->keepalive)
                return;
        (void) sd_event_source_set_time_relative(c->keepalive, c->ping_usec);
        (void) sd_event_source_set_enabled(c->keepalive, SD_EVENT_ONESHOT);
}

int connect_send(ConnectCall *c, const ProtobufCMessage *message) {
        int r;

        if (c->ended || c->broken)
                return -ESHUTDOWN;
        r = connect_encode_envelope(&c->out, c->json, message);
        if (r >= 0)
                r = connect_answer_stream_start(c);
        if (r < 0)
                return r;
        c->was_high |= connect_backlog(c) > CONNECT_HIGH;
        restart_keepalive(c);
        connect_answer_flush(c);
        return 0;
}

void connect_on_drained(ConnectCall *c, void (*drained)(ConnectCall *c, void *state)) {
        c->drained = drained;
}

int connect_end(ConnectCall *c) {
        int r;

        if (c->ended || c->broken)
                return -ESHUTDOWN;
        (void) connect_encode_end(&c->out, 0, NULL);
        c->ended = true;
        r = connect_answer_stream_start(c);
        connect_answer_flush(c);
        return r < 0 ? r : c->out.error;
}

/* A call that has sent nothing yet reports an error, for which the protocol has a place before the first
 * byte. Only a started stream is broken off. */
void connect_break(ConnectCall *c) {
        if (c->ended || c->broken)
                return;
        if (!is_stream(c) || !c->started) {
                (void) connect_error(c, CONNECT_UNAVAILABLE, "The sandbox was not found");
                return;
        }
        c->broken = true;
        connect_answer_flush(c);
}

/* Timers. */

static int connect_answer_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        (void) connect_error(userdata, CONNECT_DEADLINE_EXCEEDED, "context deadline exceeded");
        return 0;
}

int connect_bound(ConnectCall *c) {
        int r;

        if (!c->has_deadline)
                return 0;
        r = sd_event_add_time_relative(c->q->manager->event, &c->deadline, CLOCK_MONOTONIC, c->deadline_usec, USEC_PER_MSEC, connect_answer_on_deadline, c);
        return r < 0 ? connect_errno(c, r, NULL) : 0;
}

void connect_unbound(ConnectCall *c) {
        c->deadline = sd_event_source_disable_unref(c->deadline);
}

static int connect_answer_on_keepalive(sd_event_source *source, uint64_t usec, void *userdata) {
        ConnectCall *c = userdata;

        if (c->started && !c->ended && !c->broken && connect_backlog(c) == 0) {
                text_put(&c->out, c->ping.data, c->ping.size);
                connect_answer_flush(c);
        }
        restart_keepalive(c);
        return 0;
}

int connect_keepalive(ConnectCall *c, const ProtobufCMessage *message) {
        int r;

        c->ping.size = 0;
        r = connect_encode_envelope(&c->ping, c->json, message);
        if (r < 0 || c->keepalive)
                return r;
        return sd_event_add_time_relative(c->q->manager->event, &c->keepalive, CLOCK_MONOTONIC, c->ping_usec, USEC_PER_MSEC * 100, connect_answer_on_keepalive, c);
}

void connect_answer_done(ConnectCall *c) {
        c->keepalive = sd_event_source_disable_unref(c->keepalive);
        c->begin = sd_event_source_disable_unref(c->begin);
        connect_unbound(c);
        text_done(&c->out);
        text_done(&c->ping);
}
