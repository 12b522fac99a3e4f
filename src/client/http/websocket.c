#include "client/http/websocket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "base/fd.h"
#include "client/http/digest.h"

#define KEY_BYTES 16
#define KEY_SALT  "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, section 1.3 */

struct WebSocket {
        int fd;
        wslay_event_context_ptr context;
        WebSocketHandlers handlers;
        uint8_t *extra;
        size_t extra_start, extra_size;
        int error;  /* of the socket, or from message() */
        bool ended; /* the peer has hung up */
};

int websocket_make_key(char ret[static WEBSOCKET_KEY_SIZE + 1]) {
        uint8_t random[KEY_BYTES];

        if (getrandom(random, sizeof(random), 0) != sizeof(random))
                return -errno;
        client_base64_encode(random, sizeof(random), ret);
        ret[WEBSOCKET_KEY_SIZE] = '\0';
        return 0;
}

bool websocket_accepts(const char *key, const char *answer) {
        char salted[WEBSOCKET_KEY_SIZE + sizeof(KEY_SALT)], expected[BASE64_SIZE(SHA1_SIZE) + 1];
        uint8_t hash[SHA1_SIZE];
        int n = snprintf(salted, sizeof(salted), "%s%s", key, KEY_SALT);

        if (!answer || n < 0 || (size_t) n >= sizeof(salted))
                return false;
        sha1(salted, (size_t) n, hash);
        client_base64_encode(hash, sizeof(hash), expected);
        expected[BASE64_SIZE(SHA1_SIZE)] = '\0';
        return strcmp(answer, expected) == 0;
}

static ssize_t websocket_would_block(wslay_event_context_ptr context) {
        wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
        return -1;
}

static ssize_t websocket_broken(WebSocket *w, wslay_event_context_ptr context, int error) {
        w->error = error;
        wslay_event_set_error(context, WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
}

static ssize_t websocket_take_extra(WebSocket *w, uint8_t *buffer, size_t size) {
        size_t n = MIN_OF(size, w->extra_size - w->extra_start);

        memcpy(buffer, w->extra + w->extra_start, n);
        w->extra_start += n;
        return (ssize_t) n;
}

static ssize_t on_receive(wslay_event_context_ptr context, uint8_t *buffer, size_t size, int flags, void *userdata) {
        WebSocket *w = userdata;
        ssize_t n;

        if (w->handlers.is_full(w->handlers.userdata))
                return websocket_would_block(context);
        if (w->extra_start < w->extra_size)
                return websocket_take_extra(w, buffer, size);
        do
                n = recv(w->fd, buffer, size, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EAGAIN)
                return websocket_would_block(context);
        if (n <= 0) {
                w->ended = true;
                return websocket_broken(w, context, n < 0 ? -errno : -ECONNRESET);
        }
        return n;
}

static ssize_t websocket_on_send(wslay_event_context_ptr context, const uint8_t *data, size_t size, int flags, void *userdata) {
        WebSocket *w = userdata;
        ssize_t n;

        do
                n = send(w->fd, data, size, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EAGAIN)
                return websocket_would_block(context);
        return n < 0 ? websocket_broken(w, context, -errno) : n;
}

static int on_mask(wslay_event_context_ptr context, uint8_t *buffer, size_t size, void *userdata) {
        return getrandom(buffer, size, 0) == (ssize_t) size ? 0 : -1;
}

static void websocket_on_message(wslay_event_context_ptr context, const struct wslay_event_on_msg_recv_arg *m, void *userdata) {
        WebSocket *w = userdata;
        int r;

        if (wslay_is_ctrl_frame(m->opcode) || w->error < 0)
                return;
        r = w->handlers.message(w->handlers.userdata, m->opcode == WSLAY_TEXT_FRAME, m->msg, m->msg_length);
        if (r < 0)
                w->error = r;
}

static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_receive,
        .send_callback = websocket_on_send,
        .genmask_callback = on_mask,
        .on_msg_recv_callback = websocket_on_message,
};

int websocket_new(int fd, const void *extra, size_t extra_size, const WebSocketHandlers *handlers, WebSocket **ret) {
        WebSocket *w = calloc(1, sizeof(WebSocket));

        if (!w)
                return -ENOMEM;
        w->fd = -EBADF;
        w->handlers = *handlers;
        if (extra_size > 0) {
                w->extra = malloc(extra_size);
                if (w->extra)
                        memcpy(w->extra, extra, extra_size);
                w->extra_size = extra_size;
        }
        if ((extra_size > 0 && !w->extra) || wslay_event_context_client_init(&w->context, &callbacks, w) != 0) {
                (void) websocket_free(w);
                return -ENOMEM;
        }
        wslay_event_config_set_max_recv_msg_length(w->context, WEBSOCKET_MESSAGE_MAX);
        w->fd = fd;
        *ret = w;
        return 0;
}

WebSocket *websocket_free(WebSocket *w) {
        if (!w)
                return NULL;
        if (w->context)
                wslay_event_context_free(w->context);
        (void) fd_close(w->fd);
        free(w->extra);
        free(w);
        return NULL;
}

int websocket_send(WebSocket *w, bool text, const void *data, size_t size) {
        struct wslay_event_msg m = { text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME, data, size };
        int r = wslay_event_queue_msg(w->context, &m);

        return r == WSLAY_ERR_NOMEM ? -ENOMEM : r < 0 ? -EPIPE : 0;
}

size_t websocket_queued(const WebSocket *w) {
        return wslay_event_get_queued_msg_length(w->context);
}

void websocket_poll(const WebSocket *w, struct pollfd *ret) {
        bool reads = wslay_event_want_read(w->context) && !w->handlers.is_full(w->handlers.userdata);

        *ret = (struct pollfd) {
                .fd = w->fd,
                .events = (short) ((reads ? POLLIN : 0) | (wslay_event_want_write(w->context) ? POLLOUT : 0)),
        };
        if (ret->events == 0)
                ret->fd = -1;
}

static int websocket_fail(const WebSocket *w) {
        if (w->ended && wslay_event_get_close_received(w->context))
                return 1;
        return w->error < 0 ? w->error : -EBADMSG;
}

int websocket_step(WebSocket *w, short revents) {
        bool waits = w->extra_start < w->extra_size; /* bytes that poll(2) does not report */

        if ((revents || waits) && wslay_event_want_read(w->context) && wslay_event_recv(w->context) != 0)
                return websocket_fail(w);
        if (w->error < 0)
                return w->error;
        if (wslay_event_want_write(w->context) && wslay_event_send(w->context) != 0)
                return websocket_fail(w);
        /* wslay answers a breach of the protocol, and a message that is too large, by closing. */
        if (wslay_event_get_close_sent(w->context) && !wslay_event_get_close_received(w->context))
                return -EBADMSG;
        return wslay_event_want_read(w->context) || wslay_event_want_write(w->context) ? 0 : 1;
}

unsigned websocket_close_code(const WebSocket *w) {
        return wslay_event_get_status_code_received(w->context);
}
