/* connect.c: receives a call: reads messages from its body and passes them to its method. */

#include "api/e2b/connect/connect-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void connect_on_closed(ApiRequest *q, bool answered) {
        ConnectCall *c = q->state;

        q->state = NULL;
        if (c->destroy)
                c->destroy(c, c->state);
        connect_answer_done(c);
        connect_frame_done(&c->in);
        free(c->user);
        free(c);
}

void connect_handle(ApiRequest *q) {
        ConnectCall *c = calloc(1, sizeof(*c));

        if (!c) {
                (void) api_errno(q, -ENOMEM, NULL);
                return;
        }
        c->q = q;
        c->out = c->ping = (Text) TEXT_INIT((size_t) 64 << 20);
        connect_frame_init(&c->in, CONNECT_MESSAGE_MAX);
        q->state = c;
        q->destroy = connect_on_closed;
        (void) connect_read_head(c);
}

/* The sandbox may have ended while the body was received. */
static int connect_find_sandbox(ConnectCall *c) {
        c->q->sandbox = sandbox_unless_gone(c->q->about);
        return c->q->sandbox ? 0 : connect_error(c, CONNECT_UNAVAILABLE, "The sandbox was not found");
}

static void connect_hand_over(ConnectCall *c) {
        ProtobufCMessage *m = NULL;
        Error error = { 0 };
        int r = connect_decode(c->method, c->json, c->in.message.data ? c->in.message.data : "", c->in.message.size, &m, &error);

        if (c->method->kind == CONNECT_CLIENT_STREAM)
                connect_frame_next(&c->in);
        else
                text_done(&c->in.message);
        if (r < 0) {
                (void) connect_error(c, connect_code_from_errno(r), "unmarshal message: %s", error.text[0] ? error.text : strerror(-r));
                return;
        }
        if (connect_find_sandbox(c) >= 0 && !c->q->answered)
                c->method->handle(c, m);
        protobuf_c_message_free_unpacked(m, NULL);
}

static int refuse_envelope(ConnectCall *c, int r) {
        if (r == -EFBIG)
                (void) connect_error(c, CONNECT_RESOURCE_EXHAUSTED, "message is larger than configured max %zu", CONNECT_MESSAGE_MAX);
        else if (r == -EOPNOTSUPP)
                (void) connect_error(c, CONNECT_INTERNAL, "protocol error: sent compressed message without compression support");
        else if (r == -EBADMSG)
                (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "protocol error: invalid envelope flags %u", c->in.head[0]);
        else
                (void) connect_errno(c, r, NULL);
        return -ECANCELED;
}

static ssize_t unary_data(ConnectCall *c, const void *data, size_t size) {
        text_put(&c->in.message, data, size);
        return c->in.message.error < 0 ? refuse_envelope(c, c->in.message.error) : (ssize_t) size;
}

/* Reads exactly one message. */
static ssize_t single_data(ConnectCall *c, const void *data, size_t size) {
        ssize_t n = c->has_message ? 0 : connect_frame_take(&c->in, data, size);

        if (n < 0)
                return refuse_envelope(c, (int) n);
        c->has_message = connect_frame_complete(&c->in);
        if ((size_t) n < size) {
                (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "protocol error: there is more after the request's only message");
                return -ECANCELED;
        }
        return n;
}

static ssize_t many_data(ConnectCall *c, const uint8_t *data, size_t size) {
        size_t taken = 0;

        while (taken < size && !c->held) {
                ssize_t n = connect_frame_take(&c->in, data + taken, size - taken);

                if (n < 0)
                        return refuse_envelope(c, (int) n);
                taken += (size_t) n;
                if (connect_frame_complete(&c->in))
                        connect_hand_over(c);
                if (c->q->answered)
                        return -ECANCELED;
        }
        return (ssize_t) taken;
}

static void stream_ended(ConnectCall *c) {
        if (!connect_frame_empty(&c->in))
                (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "protocol error: incomplete envelope: unexpected EOF");
        else if (connect_find_sandbox(c) >= 0 && !c->q->answered)
                c->method->handle(c, NULL);
}

static void connect_on_end(ConnectCall *c) {
        c->body_ended = true;
        if (c->method->kind == CONNECT_CLIENT_STREAM) {
                if (!c->held)
                        stream_ended(c);
        } else if (c->method->kind == CONNECT_UNARY)
                connect_hand_over(c);
        else if (!c->has_message)
                (void) connect_error(c, CONNECT_INVALID_ARGUMENT, "protocol error: incomplete envelope: unexpected EOF");
        else if (connect_bound(c) >= 0)
                connect_hand_over(c);
}

ssize_t connect_data(ApiRequest *q, const void *data, size_t size) {
        ConnectCall *c = q->state;

        if (size == 0) {
                connect_on_end(c);
                return 0;
        }
        switch (c->method->kind) {
        case CONNECT_UNARY:
                return unary_data(c, data, size);
        case CONNECT_SERVER_STREAM:
                return single_data(c, data, size);
        default:
                return many_data(c, data, size);
        }
}

void connect_hold(ConnectCall *c, bool held) {
        bool before = c->held;

        c->held = held;
        if (!before || held)
                return;
        if (c->body_ended && !c->q->answered)
                stream_ended(c);
        else
                http_request_continue(c->q->http);
}

ApiRequest *connect_request(const ConnectCall *c) {
        return c->q;
}

const char *connect_user(const ConnectCall *c) {
        return c->user;
}

bool connect_deadline(const ConnectCall *c, usec_t *ret_usec) {
        if (c->has_deadline)
                *ret_usec = c->deadline_usec;
        return c->has_deadline;
}

void connect_set_state(ConnectCall *c, void *state, void (*destroy)(ConnectCall *c, void *state)) {
        c->state = state;
        c->destroy = destroy;
}

void *connect_state(const ConnectCall *c) {
        return c->state;
}
