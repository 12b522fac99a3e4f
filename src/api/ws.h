/* ws.h: WebSockets, the server's side, in the event loop. The one door to wslay.
 *
 *      1. ws_check        checks for a valid WebSocket handshake (RFC 6455)
 *      2. ws_accept       answers 101; the caller's HttpUpgrade function gets the socket
 *      3. ws_new          adds the socket to the loop; messages arrive whole, up to WS_MESSAGE_MAX
 *      4. handlers.closed the last callback; then call ws_free() and http_upgraded_close()
 *
 * Pings are answered here, and sent on idle connections. Invalid input ends the connection with the code of
 * the RFC: 1002 (protocol), 1007 (text that is not UTF-8), 1009 (too big). Backpressure: ws_backlog() and
 * `writable` for sending, ws_pause() for receiving.
 * Must not know: what is said over it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "api/http.h"
#include "base/error.h"

#define WS_MESSAGE_MAX  ((size_t) 1 << 20)
#define WS_REASON_MAX   123 /* bytes of text in a close frame */
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

/* Computes Sec-WebSocket-Accept. */
void ws_accept_key(const char *key, char ret[static WS_ACCEPT_SIZE + 1]);

/* -EINVAL: a broken handshake. -EPROTONOSUPPORT: no handshake, or another version; answer 426 with "Upgrade:
 * websocket" and "Sec-WebSocket-Version: 13". */
int ws_check(const HttpRequest *r, Error *reterr);
int ws_accept(HttpRequest *r, HttpUpgrade upgraded, void *userdata);

typedef struct Ws Ws;

/* Only `closed` may free the Ws. */
typedef struct WsHandlers {
        void (*message)(Ws *ws, bool text, const void *data, size_t size, void *userdata);
        void (*writable)(Ws *ws, void *userdata); /* after ws_wake(): the queue has been sent */
        void (*closed)(Ws *ws, void *userdata);   /* called once; never from within ws_*() */
} WsHandlers;

/* The caller keeps the socket, and must leave it open until ws_free(). extra: bytes that were already read
 * from it. */
int ws_new(sd_event *event, int fd, const void *extra, size_t extra_size, const WsHandlers *handlers, void *userdata,
                Ws **ret);
Ws *ws_free(Ws *ws);

/* Copies. Does nothing after a close. Connection failures are reported by `closed`. */
int ws_send(Ws *ws, bool text, const void *data, size_t size);
size_t ws_backlog(const Ws *ws); /* bytes not yet sent */
void ws_wake(Ws *ws);            /* calls `writable` once, from the loop */

/* Messages that were already read, some 4 KiB of data, may still arrive after a pause. */
void ws_pause(Ws *ws, bool pause);

/* Closes after the queue has been sent. `closed` follows the peer's answer, or a timeout. */
void ws_close(Ws *ws, WsCode code, const char *reason);
