/* A command over a WebSocket: everything over one connection, in order. Binary messages are its output, after
 * a byte that names the stream. Text messages are JSON: its start and its end from the daemon, window sizes
 * and signals from the client. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/http/link.h"
#include "client/http/websocket.h"

#define QUEUE_FULL (256 << 10) /* bytes of input that the daemon has not taken */

typedef struct LinkWebSocket {
        Link link;
        Call call; /* the handshake */
        Answer refusal;
        char *path;
        char key[WEBSOCKET_KEY_SIZE + 1];
        WebSocket *socket;
        bool started;
} LinkWebSocket;

static LinkWebSocket *link_websocket_of(Link *l) {
        return (LinkWebSocket *) l;
}

static int link_websocket_take_text(LinkWebSocket *w, const char *data, size_t size) {
        _cleanup_json_ json_t *j = json_parse(data, size, /* reterr= */ NULL);
        const char *type = json_get_text_or(j, "type", ""), *id = json_get_text(j, "id");

        if (strcmp(type, "exit") == 0 && !w->link.end)
                w->link.end = json_incref(j);
        if (strcmp(type, "start") == 0 && id && !w->link.execution)
                return link_begin(&w->link, id);
        return j ? 0 : -EBADMSG;
}

static int link_websocket_take_message(void *userdata, bool text, const uint8_t *data, size_t size) {
        LinkWebSocket *w = userdata;

        if (text)
                return link_websocket_take_text(w, (const char *) data, size);
        if (size == 0 || data[0] < 1 || data[0] > 2)
                return -EBADMSG;
        return w->link.handlers.output(w->link.handlers.userdata, data[0] - 1U, data + 1, size - 1);
}

static bool link_websocket_is_full(void *userdata) {
        LinkWebSocket *w = userdata;
        return w->link.handlers.is_full(w->link.handlers.userdata);
}

static int link_websocket_begin(LinkWebSocket *w, Error *reterr) {
        char headers[256];
        int r = websocket_make_key(w->key);

        if (r < 0)
                return error_set(reterr, r, "cannot get random bytes: %m");
        (void) snprintf(headers, sizeof(headers),
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n", w->key);
        return call_start(&w->call, w->link.place,
                        &REQUEST(.path = w->path, .headers = headers, .upgrade = true,
                                        .sink = answer_collect, .sink_data = &w->refusal),
                        reterr);
}

static int refused(LinkWebSocket *w, Error *reterr) {
        Answer *a = &w->refusal;

        a->head.status = w->call.answer.status;
        answer_parse(a);
        return link_refuse(&w->link, a, reterr);
}

static int link_websocket_tell(LinkWebSocket *w, int r, Error *reterr) {
        if (w->link.end)
                return 1;
        if (r == 1)
                return error_set(reterr, -ECONNRESET, "the daemon closed the connection (code %u) before the command's end",
                                websocket_close_code(w->socket));
        if (r == -EBADMSG)
                return error_set(reterr, r, "the server is not a cove daemon: its WebSocket messages are malformed");
        if (r == -ECONNRESET)
                return error_set(reterr, r, "the connection to the daemon broke off; the command may go on: `cove ps %s`",
                                w->link.sandbox);
        return error_set(reterr, r, "lost the connection to the daemon: %m");
}

static int step_socket(LinkWebSocket *w, short revents, Error *reterr) {
        int r = websocket_step(w->socket, revents);
        return r == 0 ? (w->link.end ? 1 : 0) : link_websocket_tell(w, r, reterr);
}

/* The handshake has been answered. */
static int upgrade(LinkWebSocket *w, Error *reterr) {
        WebSocketHandlers handlers = { link_websocket_take_message, link_websocket_is_full, w };
        int r;

        if (w->call.answer.status != 101)
                return refused(w, reterr);
        if (!websocket_accepts(w->key, http_reader_header(&w->call.answer, "Sec-WebSocket-Accept")))
                return error_set(reterr, -EBADMSG, "the server refused the WebSocket: it is not a cove daemon, or a proxy does not pass the upgrade on");
        r = websocket_new(w->call.fd, w->call.extra, w->call.extra_size, &handlers, &w->socket);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        w->call.fd = -EBADF; /* the socket has it */
        call_done(&w->call);
        return step_socket(w, /* revents= */ 0, reterr); /* handles bytes that came with the answer: poll(2) does not report them */
}

static int link_websocket_step(Link *l, const struct pollfd polls[static LINK_POLLS], Error *reterr) {
        LinkWebSocket *w = link_websocket_of(l);
        int r;

        if (!w->started) {
                w->started = true;
                return link_websocket_begin(w, reterr);
        }
        if (!w->socket) {
                r = call_step(&w->call, polls, reterr);
                return r > 0 ? upgrade(w, reterr) : r;
        }
        return step_socket(w, polls[0].revents, reterr);
}

static void link_websocket_poll(Link *l, struct pollfd ret[static LINK_POLLS]) {
        LinkWebSocket *w = link_websocket_of(l);

        for (size_t i = 0; i < LINK_POLLS; i++)
                ret[i] = (struct pollfd) { .fd = -1 };
        if (w->socket)
                websocket_poll(w->socket, ret);
        else if (w->started)
                call_poll(&w->call, ret);
}

static int link_websocket_timeout(const Link *l) {
        const LinkWebSocket *w = (const LinkWebSocket *) l;
        return w->started ? -1 : 0;
}

static bool link_websocket_takes_input(const Link *l) {
        const LinkWebSocket *w = (const LinkWebSocket *) l;
        return w->socket && l->execution && websocket_queued(w->socket) < QUEUE_FULL;
}

static int link_websocket_send_text(Link *l, const char *text) {
        LinkWebSocket *w = link_websocket_of(l);
        return w->socket ? websocket_send(w->socket, /* text= */ true, text, strlen(text)) : -ENOTCONN;
}

static int link_websocket_input(Link *l, const void *data, size_t size) {
        static const size_t piece = 64 << 10; /* the daemon refuses large messages */
        int r = 0;

        if (size == 0)
                return link_websocket_send_text(l, "{\"type\":\"eof\"}");
        for (size_t done = 0; done < size && r >= 0; done += piece)
                r = websocket_send(link_websocket_of(l)->socket, /* text= */ false, (const char *) data + done, MIN_OF(piece, size - done));
        return r;
}

static int link_websocket_signal(Link *l, int signal) {
        char text[64];

        (void) snprintf(text, sizeof(text), "{\"type\":\"signal\",\"signal\":%d}", signal);
        return link_websocket_send_text(l, text);
}

static int link_websocket_resize(Link *l, unsigned columns, unsigned rows) {
        char text[96];

        (void) snprintf(text, sizeof(text), "{\"type\":\"resize\",\"cols\":%u,\"rows\":%u}", columns, rows);
        return link_websocket_send_text(l, text);
}

static void link_websocket_done(Link *l) {
        LinkWebSocket *w = link_websocket_of(l);

        call_done(&w->call);
        answer_done(&w->refusal);
        (void) websocket_free(w->socket);
        free(w->path);
}

static const LinkOps link_websocket_ops = LINK_OPS(link_websocket, LinkWebSocket);

Link *link_websocket_new(const Place *place, const char *sandbox, const char *execution, const char *path) {
        LinkWebSocket *w = path ? link_make(&link_websocket_ops, place, sandbox, execution) : NULL;

        if (!w)
                return NULL;
        w->call = (Call) CALL_INIT;
        w->path = strdup(path);
        return w->path ? &w->link : link_free(&w->link);
}
