/* ws.h: the one door to wslay: the server's side of a WebSocket, in the event loop.
 *
 *      1. ws_check        does the request ask for a WebSocket, as RFC 6455 wants it?
 *      2. ws_accept       answers 101; the socket comes to the caller's HttpUpgrade function
 *      3. ws_new          takes the socket into the loop: messages come in whole, up to WS_MESSAGE_MAX
 *      4. handlers.closed the last thing heard; then ws_free() and http_upgraded_close()
 *
 * Pings are answered here, and sent when it is quiet. Rubbish ends the connection with the code that the RFC has for it:
 * 1002 (protocol), 1007 (text that is not UTF-8), 1009 (too big). Backpressure both ways: ws_backlog() and `writable` for
 * the sender, ws_pause() for the receiver.
 * Must not know: what is said over it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "api/http.h"
#include "base/error.h"

#define WS_MESSAGE_MAX  ((size_t) 1 << 20)
#define WS_REASON_MAX   123 /* bytes of words in a close frame */
#define WS_ACCEPT_SIZE  28  /* characters of an accept key */

typedef enum WsCode {
        WS_NORMAL = 1000,
        WS_GOING_AWAY = 1001,
        WS_PROTOCOL_ERROR = 1002,
        WS_UNSUPPORTED = 1003,
        WS_INVALID_DATA = 1007,
        WS_POLICY = 1008,
        WS_TOO_BIG = 1009,
        WS_INTERNAL = 1011,
} WsCode;

/* For Sec-WebSocket-Accept. */
void ws_accept_key(const char *key, char ret[static WS_ACCEPT_SIZE + 1]);

/* -EINVAL: a broken handshake. -EPROTONOSUPPORT: none at all, or another version; say 426 and give
 * "Upgrade: websocket" and "Sec-WebSocket-Version: 13". */
int ws_check(const HttpRequest *r, Error *reterr);
int ws_accept(HttpRequest *r, HttpUpgrade upgraded, void *userdata);

typedef struct Ws Ws;

/* None of these may free the Ws, but for closed. */
typedef struct WsHandlers {
        void (*message)(Ws *ws, bool text, const void *data, size_t size, void *userdata);
        void (*writable)(Ws *ws, void *userdata); /* asked for by ws_wake(): what was queued is sent */
        void (*closed)(Ws *ws, void *userdata);   /* once; never from within a call of ours */
} WsHandlers;

/* The socket stays the caller's, and open until ws_free(). extra: what has been read from it already. */
int ws_new(sd_event *event, int fd, const void *extra, size_t extra_size, const WsHandlers *handlers, void *userdata,
                Ws **ret);
Ws *ws_free(Ws *ws);

/* Copies. After a close it does nothing. Failures of the connection are told by `closed`. */
int ws_send(Ws *ws, bool text, const void *data, size_t size);
size_t ws_backlog(const Ws *ws); /* bytes that the socket has not taken */
void ws_wake(Ws *ws);            /* `writable`, once, from the loop */

/* Messages that have been read already may still come after a pause, from some 4 KiB of them. */
void ws_pause(Ws *ws, bool pause);

/* After what is queued; `closed` follows when the other side has answered, or has had its time. */
void ws_close(Ws *ws, WsCode code, const char *reason);
