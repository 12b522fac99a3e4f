/* websocket.h: wraps wslay for the client: messages over an upgraded connection.
 *
 * Messages are received whole, up to a limit. Outgoing messages are queued; a caller checks the queue before
 * it adds more.
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
        /* A negative result breaks the connection off, and is returned. */
        int (*message)(void *userdata, bool text, const uint8_t *data, size_t size);
        /* True: read no more for now. */
        bool (*is_full)(void *userdata);
        void *userdata;
} WebSocketHandlers;

/* The handshake: the key for the request, and a check of the answer to it. */
int websocket_make_key(char ret[static WEBSOCKET_KEY_SIZE + 1]);
bool websocket_accepts(const char *key, const char *answer);

/* Takes ownership of the connected, non-blocking socket, on success only. extra: bytes after the handshake's
 * answer. */
int websocket_new(int fd, const void *extra, size_t extra_size, const WebSocketHandlers *handlers, WebSocket **ret);
WebSocket *websocket_free(WebSocket *w);

int websocket_send(WebSocket *w, bool text, const void *data, size_t size); /* copies data; -EPIPE: the connection is being closed */
size_t websocket_queued(const WebSocket *w);

void websocket_poll(const WebSocket *w, struct pollfd *ret);

/* 1: closed properly, see websocket_close_code(). 0: continue. -ECONNRESET: connection lost. -EBADMSG: the
 * peer violates the protocol. Or the result of message(). */
int websocket_step(WebSocket *w, short revents);
unsigned websocket_close_code(const WebSocket *w);
