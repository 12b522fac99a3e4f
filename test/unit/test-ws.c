/* The server's side of a WebSocket, against a client that is made by hand and has bad manners where it likes. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/ws.h"
#include "base/fd.h"

#define TURNS_MAX 100000

/* What http.h gives to the handshake, as a list of headers. */

static const char *const *request_headers;
static char added_header[128];

const char *http_header(const HttpRequest *r, const char *name) {
        for (const char *const *h = request_headers; h && h[0]; h += 2)
                if (strcasecmp(h[0], name) == 0)
                        return h[1];
        return NULL;
}

int http_add_header(HttpRequest *r, const char *name, const char *value) {
        (void) snprintf(added_header, sizeof(added_header), "%s: %s", name, value);
        return 0;
}

int http_answer(HttpRequest *r, unsigned status, const char *type, const void *data, size_t size) {
        return -EIO;
}

int http_answer_upgrade(HttpRequest *r, const char *protocol, HttpUpgrade upgraded, void *userdata) {
        check_string("protocol", protocol, "websocket");
        return 7;
}

/* Both ends of one connection. */

typedef struct Connection {
        sd_event *event;
        Ws *ws;
        int server, client;
        char *messages; /* "T:hello\n" for each */
        size_t n_messages, bytes, n_writable, n_closed;
        bool pause_at_once, echo;
        int close_with; /* when a message comes */
} Connection;

static void on_message(Ws *ws, bool text, const void *data, size_t size, void *userdata) {
        Connection *c = userdata;
        char *longer = NULL;

        c->n_messages++;
        c->bytes += size;
        check_true("asprintf", asprintf(&longer, "%s%c:%.*s\n", c->messages ? c->messages : "", text ? 'T' : 'B',
                        (int) MIN_OF(size, (size_t) 64), (const char *) data) > 0);
        free(c->messages);
        c->messages = longer;
        if (c->echo)
                check_result("ws_send", ws_send(ws, text, data, size), 0);
        if (c->pause_at_once)
                ws_pause(ws, true);
        if (c->close_with)
                ws_close(ws, (WsCode) c->close_with, "as asked");
}

static void on_writable(Ws *ws, void *userdata) {
        ((Connection *) userdata)->n_writable++;
}

static void on_closed(Ws *ws, void *userdata) {
        Connection *c = userdata;

        c->n_closed++;
        c->ws = ws_free(ws);
        c->server = fd_close(c->server);
}

static void connection_open(Connection *c, const void *extra, size_t extra_size) {
        static const WsHandlers handlers = { on_message, on_writable, on_closed };
        int fds[2];

        *c = (Connection) { .server = -EBADF, .client = -EBADF };
        check_int("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        c->server = fds[0];
        c->client = fds[1];
        check_result("sd_event_new", sd_event_new(&c->event), 0);
        check_result("ws_new", ws_new(c->event, c->server, extra, extra_size, &handlers, c, &c->ws), 0);
}

static void connection_done(Connection *c) {
        ws_free(c->ws);
        (void) fd_close(c->server);
        (void) fd_close(c->client);
        sd_event_unref(c->event);
        free(c->messages);
}

static void run(Connection *c) {
        for (int i = 0; sd_event_run(c->event, 0) > 0; i++)
                check_true("comes to rest", i < TURNS_MAX);
}

/* Waits for something that takes time. */
static void run_until_closed(Connection *c) {
        for (int i = 0; c->n_closed == 0; i++) {
                check_true("closes in time", i < 100);
                check_true("sd_event_run", sd_event_run(c->event, 100 * 1000) >= 0);
        }
}

static void send_bytes(Connection *c, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                ssize_t n = send(c->client, p, size, MSG_NOSIGNAL);

                if (n < 0 && errno == EAGAIN) {
                        run(c);
                        continue;
                }
                check_true("send", n > 0);
                p += n;
                size -= (size_t) n;
        }
}

enum { CONTINUATION, TEXT, BINARY, CLOSE = 8, PING, PONG };
#define FINAL  0x80
#define MASKED 0x80

static void send_head(Connection *c, int first, uint64_t size, int masked) {
        uint8_t head[14] = { (uint8_t) first };
        size_t n = 2;

        if (size < 126)
                head[1] = (uint8_t) size;
        else {
                size_t bytes = size < 65536 ? 2 : 8;

                head[1] = size < 65536 ? 126 : 127;
                for (size_t i = 0; i < bytes; i++)
                        head[n++] = (uint8_t) (size >> (8 * (bytes - 1 - i)));
        }
        head[1] |= (uint8_t) masked;
        if (masked)
                n += 4; /* a mask of zeros */
        send_bytes(c, head, n);
}

static void send_frame(Connection *c, int first, const void *data, size_t size) {
        send_head(c, first, size, MASKED);
        send_bytes(c, data, size);
}

static void send_text(Connection *c, const char *text) {
        send_frame(c, FINAL | TEXT, text, strlen(text));
}

/* One frame from the server, which is there already; its first byte, or -1 at the end. */
static int receive_frame(Connection *c, char *buffer, size_t room, size_t *ret_size) {
        uint8_t head[2], longer[8];
        uint64_t size;
        ssize_t n = recv(c->client, head, 2, MSG_WAITALL);

        if (n <= 0)
                return -1;
        check_int("head", n, 2);
        check_true("is not masked", !(head[1] & 0x80));
        size = head[1];
        if (size >= 126) {
                size_t bytes = size == 126 ? 2 : 8;

                check_int("length", recv(c->client, longer, bytes, MSG_WAITALL), (intmax_t) bytes);
                size = 0;
                for (size_t i = 0; i < bytes; i++)
                        size = size << 8 | longer[i];
        }
        check_true("fits", size < room);
        for (size_t got = 0; got < size;) {
                n = recv(c->client, buffer + got, size - got, 0);
                if (n < 0 && errno == EAGAIN) {
                        run(c);
                        continue;
                }
                check_true("payload", n > 0);
                got += (size_t) n;
        }
        buffer[size] = '\0';
        *ret_size = size;
        return head[0];
}

static void check_frame(Connection *c, int first, const char *payload) {
        char buffer[256];
        size_t size;

        check_int("first byte", receive_frame(c, buffer, sizeof(buffer), &size), first);
        check_string("payload", buffer, payload);
}

/* The close frame, then the end of the connection. */
static void check_close(Connection *c, int code) {
        char buffer[256] = "";
        size_t size;

        run(c);
        check_int("first byte", receive_frame(c, buffer, sizeof(buffer), &size), FINAL | CLOSE);
        check_true("has a code", size >= 2);
        check_int("code", (uint8_t) buffer[0] << 8 | (uint8_t) buffer[1], code);
        (void) shutdown(c->client, SHUT_WR);
        run_until_closed(c);
        check_uint("closed once", c->n_closed, 1);
        check_int("end", recv(c->client, buffer, 1, 0), 0);
}

/* The handshake. */

TEST(accept_key) {
        char key[WS_ACCEPT_SIZE + 1];

        ws_accept_key("dGhlIHNhbXBsZSBub25jZQ==", key); /* RFC 6455, section 1.3 */
        check_string("key", key, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#define KEY          "dGhlIHNhbXBsZSBub25jZQ=="
#define UPGRADE      "Upgrade", "websocket", "Connection", "Upgrade"
#define VERSION(v)   "Sec-WebSocket-Version", v
#define HAS_KEY(key) "Sec-WebSocket-Key", key

TEST(handshake) {
        static const struct {
                const char *headers[9];
                int result;
        } cases[] = {
                { { UPGRADE, VERSION("13"), HAS_KEY(KEY) }, 0 },
                { { "upgrade", "WebSocket", "connection", "keep-alive, Upgrade", VERSION("13"), HAS_KEY(KEY) }, 0 },
                { { "Upgrade", "h2c, websocket", "Connection", "upgrade", VERSION("13"), HAS_KEY(KEY) }, 0 },
                { { UPGRADE, "sec-websocket-version", "13", "sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA==" }, 0 },
                { { NULL }, -EPROTONOSUPPORT },
                { { "Upgrade", "websocket" }, -EPROTONOSUPPORT },
                { { "Upgrade", "websockets", "Connection", "Upgrade" }, -EPROTONOSUPPORT },
                { { UPGRADE, HAS_KEY(KEY) }, -EPROTONOSUPPORT },
                { { UPGRADE, VERSION("8"), HAS_KEY(KEY) }, -EPROTONOSUPPORT },
                { { UPGRADE, VERSION("13") }, -EINVAL },
                { { UPGRADE, VERSION("13"), HAS_KEY("") }, -EINVAL },
                { { UPGRADE, VERSION("13"), HAS_KEY("dGhlIHNhbXBsZSBub25jZQ=") }, -EINVAL },
                { { UPGRADE, VERSION("13"), HAS_KEY("dGhlIHNhbXBsZSBub25jZ===") }, -EINVAL },
                { { UPGRADE, VERSION("13"), HAS_KEY("dGhlIHNhbXBsZSBub25j\nQ==") }, -EINVAL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Error error = { 0 };

                request_headers = cases[i].headers;
                check_result("ws_check", ws_check(NULL, &error), cases[i].result);
                check_true("has words", (error.text[0] != '\0') == (cases[i].result < 0));
        }
        request_headers = cases[0].headers;
        check_result("ws_accept", ws_accept(NULL, NULL, NULL), 7);
        check_string("header", added_header, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

/* Messages. */

/* RFC 6455, section 5.7 */
#define HELLO 0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58

TEST(both_kinds_and_back) {
        Connection c;

        connection_open(&c, NULL, 0);
        c.echo = true;
        send_text(&c, "hello");
        send_frame(&c, FINAL | BINARY, "bytes", 5);
        send_text(&c, "");
        run(&c);
        check_string("messages", c.messages, "T:hello\nB:bytes\nT:\n");
        check_frame(&c, FINAL | TEXT, "hello");
        check_frame(&c, FINAL | BINARY, "bytes");
        check_frame(&c, FINAL | TEXT, "");
        connection_done(&c);
}

TEST(masked_as_the_client_likes) {
        static const uint8_t frame[] = { HELLO };
        Connection c;

        connection_open(&c, NULL, 0);
        send_bytes(&c, frame, sizeof(frame));
        run(&c);
        check_string("messages", c.messages, "T:Hello\n");
        connection_done(&c);
}

TEST(in_fragments_with_a_ping_between) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_frame(&c, TEXT, "one ", 4);
        send_frame(&c, CONTINUATION, "two ", 4);
        send_frame(&c, FINAL | PING, "there?", 6);
        send_frame(&c, FINAL | CONTINUATION, "three", 5);
        run(&c);
        check_string("messages", c.messages, "T:one two three\n");
        check_frame(&c, FINAL | PONG, "there?");
        connection_done(&c);
}

TEST(byte_by_byte) {
        static const uint8_t frame[] = { HELLO };
        Connection c;

        connection_open(&c, NULL, 0);
        for (size_t i = 0; i < sizeof(frame); i++) {
                check_uint("not before its last byte", c.n_messages, 0);
                send_bytes(&c, frame + i, 1);
                run(&c);
        }
        check_string("messages", c.messages, "T:Hello\n");
        connection_done(&c);
}

/* What came along with the handshake is read first. */
TEST(extra) {
        static const uint8_t frame[] = { HELLO };
        Connection c;

        connection_open(&c, frame, 6);
        run(&c);
        check_uint("not yet", c.n_messages, 0);
        send_bytes(&c, frame + 6, sizeof(frame) - 6);
        send_text(&c, "next");
        run(&c);
        check_string("messages", c.messages, "T:Hello\nT:next\n");
        connection_done(&c);
}

TEST(largest) {
        _cleanup_free_ char *data = malloc(WS_MESSAGE_MAX + 1);
        Connection c;

        memset(data, 'x', WS_MESSAGE_MAX + 1);
        connection_open(&c, NULL, 0);
        send_frame(&c, FINAL | BINARY, data, WS_MESSAGE_MAX);
        run(&c);
        check_uint("bytes", c.bytes, WS_MESSAGE_MAX);
        connection_done(&c);
}

/* Closing. */

TEST(client_closes) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_frame(&c, FINAL | CLOSE, "\x03\xe8" "bye", 5);
        check_close(&c, 1000);
        connection_done(&c);
}

TEST(server_closes) {
        char buffer[64];
        size_t size;
        Connection c;

        connection_open(&c, NULL, 0);
        check_result("ws_send", ws_send(c.ws, true, "last words", 10), 0);
        ws_close(c.ws, WS_NORMAL, "done");
        check_result("after that nothing is sent", ws_send(c.ws, true, "more", 4), 0);
        run(&c);
        check_frame(&c, FINAL | TEXT, "last words");
        check_int("close", receive_frame(&c, buffer, sizeof(buffer), &size), FINAL | CLOSE);
        check_string("reason", buffer + 2, "done");
        check_uint("waits for the other side", c.n_closed, 0);
        send_text(&c, "I go on");
        run(&c);
        check_uint("which is not heard any more", c.n_messages, 0);
        send_frame(&c, FINAL | CLOSE, "\x03\xe8", 2);
        run(&c);
        check_uint("closed", c.n_closed, 1);
        connection_done(&c);
}

/* What was queued before the close comes before it, however slowly it is taken. */
TEST(server_closes_behind_a_backlog) {
        _cleanup_free_ char *data = malloc(1 << 20), *back = malloc((1 << 20) + 1);
        size_t size;
        Connection c;

        memset(data, 'y', 1 << 20);
        connection_open(&c, NULL, 0);
        for (int i = 0; i < 3; i++)
                check_result("ws_send", ws_send(c.ws, false, data, 1 << 20), 0);
        check_result("ws_send", ws_send(c.ws, true, "the end", 7), 0);
        ws_close(c.ws, WS_NORMAL, "");
        for (int i = 0; i < 3; i++) {
                run(&c);
                check_int("frame", receive_frame(&c, back, (1 << 20) + 1, &size), FINAL | BINARY);
                check_uint("size", size, 1 << 20);
        }
        run(&c);
        check_frame(&c, FINAL | TEXT, "the end");
        check_close(&c, WS_NORMAL);
        connection_done(&c);
}

TEST(server_closes_within_a_message) {
        Connection c;

        connection_open(&c, NULL, 0);
        c.close_with = WS_UNSUPPORTED;
        send_text(&c, "one");
        send_text(&c, "two");
        check_close(&c, WS_UNSUPPORTED);
        check_uint("messages", c.n_messages, 1);
        connection_done(&c);
}

TEST(client_vanishes) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_text(&c, "last words");
        c.client = fd_close(c.client);
        run(&c);
        check_string("messages", c.messages, "T:last words\n");
        check_uint("closed", c.n_closed, 1);
        connection_done(&c);
}

TEST(client_vanishes_while_paused) {
        Connection c;

        connection_open(&c, NULL, 0);
        ws_pause(c.ws, true);
        run(&c);
        c.client = fd_close(c.client);
        run(&c);
        check_uint("closed", c.n_closed, 1);
        connection_done(&c);
}

TEST(client_vanishes_before_a_send) {
        Connection c;

        connection_open(&c, NULL, 0);
        c.client = fd_close(c.client);
        check_result("ws_send", ws_send(c.ws, true, "anybody?", 8), 0);
        check_uint("told from the loop only", c.n_closed, 0);
        run(&c);
        check_uint("closed", c.n_closed, 1);
        connection_done(&c);
}

/* Rubbish. */

TEST(not_masked) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_head(&c, FINAL | TEXT, 2, 0);
        send_bytes(&c, "hi", 2);
        check_close(&c, WS_PROTOCOL_ERROR);
        connection_done(&c);
}

TEST(frames_that_are_none) {
        static const char long_data[126];
        static const struct {
                int first;
                const char *data;
                size_t size;
                int code;
        } cases[] = {
                { FINAL | 3,            "",                  0,   WS_PROTOCOL_ERROR }, /* no such kind */
                { FINAL | 0x40 | TEXT,  "",                  0,   WS_PROTOCOL_ERROR }, /* a reserved bit */
                { FINAL | CONTINUATION, "x",                 1,   WS_PROTOCOL_ERROR }, /* of nothing */
                { PING,                 "",                  0,   WS_PROTOCOL_ERROR }, /* in fragments */
                { FINAL | PING,         long_data,           126, WS_PROTOCOL_ERROR },
                { FINAL | CLOSE,        "x",                 1,   WS_PROTOCOL_ERROR }, /* half a code */
                { FINAL | CLOSE,        "\x00\x01",          2,   WS_PROTOCOL_ERROR }, /* no such code */
                { FINAL | TEXT,         "\xff\xfe",          2,   WS_INVALID_DATA   },
                { FINAL | TEXT,         "\xed\xa0\x80",      3,   WS_INVALID_DATA   }, /* half a surrogate pair */
                { FINAL | TEXT,         "\xc3",              1,   WS_INVALID_DATA   }, /* ends within a character */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Connection c;

                connection_open(&c, NULL, 0);
                send_frame(&c, cases[i].first, cases[i].data, cases[i].size);
                check_close(&c, cases[i].code);
                check_uint("messages", c.n_messages, 0);
                connection_done(&c);
        }
}

TEST(a_character_across_fragments_is_fine) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_frame(&c, TEXT, "\xe2\x82", 2);
        send_frame(&c, FINAL | CONTINUATION, "\xac", 1);
        run(&c);
        check_string("messages", c.messages, "T:€\n");
        connection_done(&c);
}

TEST(too_big) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_head(&c, FINAL | BINARY, WS_MESSAGE_MAX + 1, MASKED);
        send_bytes(&c, "x", 1);
        check_close(&c, WS_TOO_BIG);
        connection_done(&c);

        connection_open(&c, NULL, 0);
        send_head(&c, FINAL | BINARY, UINT64_C(1) << 62, MASKED);
        send_bytes(&c, "x", 1);
        check_close(&c, WS_TOO_BIG);
        connection_done(&c);
}

TEST(too_big_in_sum) {
        _cleanup_free_ char *data = calloc(1, WS_MESSAGE_MAX);
        Connection c;

        connection_open(&c, NULL, 0);
        send_frame(&c, BINARY, data, WS_MESSAGE_MAX);
        send_frame(&c, CONTINUATION, data, 1);
        check_close(&c, WS_TOO_BIG);
        connection_done(&c);
}

TEST(too_many_fragments) {
        Connection c;

        connection_open(&c, NULL, 0);
        send_frame(&c, BINARY, "x", 1);
        for (int i = 0; i < 5000; i++)
                send_frame(&c, CONTINUATION, "x", 1);
        check_close(&c, WS_TOO_BIG);
        connection_done(&c);
}

/* The close frame arrives although the client has sent much that nobody reads. */
TEST(rubbish_and_much_more) {
        _cleanup_free_ char *data = calloc(1, 100000);
        Connection c;

        connection_open(&c, NULL, 0);
        send_head(&c, FINAL | TEXT, 100000, 0);
        send_bytes(&c, data, 100000);
        check_close(&c, WS_PROTOCOL_ERROR);
        connection_done(&c);
}

/* Backpressure. */

TEST(pause_stops_reading) {
        char data[1000] = { 0 };
        ssize_t n;
        size_t sent = 0;
        Connection c;

        connection_open(&c, NULL, 0);
        c.pause_at_once = true;
        send_text(&c, "one");
        run(&c);
        check_uint("messages", c.n_messages, 1);
        while ((n = send(c.client, data, sizeof(data), MSG_NOSIGNAL)) > 0) {
                sent += (size_t) n;
                run(&c);
                check_true("the socket fills", sent < (64u << 20));
        }
        check_uint("no more came", c.n_messages, 1);
        check_uint("and it is open", c.n_closed, 0);
        connection_done(&c);
}

TEST(goes_on_after_a_pause) {
        Connection c;

        connection_open(&c, NULL, 0);
        ws_pause(c.ws, true);
        send_text(&c, "one");
        run(&c);
        check_uint("messages", c.n_messages, 0);
        ws_pause(c.ws, false);
        run(&c);
        check_string("messages", c.messages, "T:one\n");
        connection_done(&c);
}

TEST(backlog_and_wake) {
        _cleanup_free_ char *data = malloc(1 << 20), *back = malloc((1 << 20) + 1);
        size_t size;
        Connection c;

        memset(data, 'y', 1 << 20);
        connection_open(&c, NULL, 0);
        ws_wake(c.ws);
        run(&c);
        check_uint("at once, when nothing waits", c.n_writable, 1);
        for (int i = 0; i < 4; i++)
                check_result("ws_send", ws_send(c.ws, false, data, 1 << 20), 0);
        check_true("a backlog", ws_backlog(c.ws) >= 1 << 20);
        ws_wake(c.ws);
        run(&c);
        check_uint("not while it waits", c.n_writable, 1);
        for (int i = 0; i < 4; i++) {
                check_int("frame", receive_frame(&c, back, (1 << 20) + 1, &size), FINAL | BINARY);
                check_uint("size", size, 1 << 20);
                check_true("bytes", memcmp(back, data, size) == 0);
        }
        run(&c);
        check_uint("writable", c.n_writable, 2);
        check_uint("no backlog", ws_backlog(c.ws), 0);
        connection_done(&c);
}

/* A client that pings and never reads makes us hold some pongs, not all of them. */
TEST(pings_without_end) {
        static const uint8_t ping[] = { FINAL | PING, MASKED, 0, 0, 0, 0 };
        size_t sent = 0;
        Connection c;

        connection_open(&c, NULL, 0);
        for (int idle = 0; idle < 100;) {
                ssize_t n = send(c.client, ping, sizeof(ping), MSG_NOSIGNAL);

                idle = n < 0 ? idle + 1 : 0;
                sent += n > 0 ? (size_t) n : 0;
                run(&c);
                check_true("the socket fills", sent < (16u << 20));
        }
        check_uint("open", c.n_closed, 0);
        connection_done(&c);
}
