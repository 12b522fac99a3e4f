/* websocket.h: the client's one door to wslay: messages over a connection that was upgraded.
 *
 * Messages come in whole, up to a ceiling; messages that go out are queued, and a caller looks at the queue before it brings more.
 * Must not know: what the messages say. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct WebSocket WebSocket;

#define WEBSOCKET_MESSAGE_MAX (16 << 20)
#define WEBSOCKET_KEY_SIZE    24 /* letters */

typedef struct WebSocketHandlers {
        /* A negative answer breaks the connection off with it. */
        int (*message)(void *userdata, bool text, const uint8_t *data, size_t size);
        /* True: read nothing more for now. */
        bool (*is_full)(void *userdata);
        void *userdata;
} WebSocketHandlers;

/* The handshake: what the request says, and whether the answer fits it. */
int websocket_make_key(char ret[static WEBSOCKET_KEY_SIZE + 1]);
bool websocket_accepts(const char *key, const char *answer);

/* Takes the connected, non-blocking socket on success; extra is what came behind the handshake's answer. */
int websocket_new(int fd, const void *extra, size_t extra_size, const WebSocketHandlers *handlers, WebSocket **ret);
WebSocket *websocket_free(WebSocket *w);

int websocket_send(WebSocket *w, bool text, const void *data, size_t size); /* copies; -EPIPE: it is being closed */
size_t websocket_queued(const WebSocket *w);

void websocket_poll(const WebSocket *w, struct pollfd *ret);

/* 1: closed in order, see websocket_close_code(). 0: goes on. -ECONNRESET: it broke off. -EBADMSG: they do not keep to the
 * protocol. Or what message() said. */
int websocket_step(WebSocket *w, short revents);
unsigned websocket_close_code(const WebSocket *w);
