/* Any bytes as what a WebSocket client sends, whole or in two pieces, with pauses: messages are bounded, texts are UTF-8,
 * the end comes once, and nothing stays behind. The first byte says how. */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/text.h"
#include "api/ws.h"
#include "base/fd.h"

/* For the handshake, which is not looked at here. */
const char *http_header(const HttpRequest *r, const char *name) {
        return NULL;
}
int http_add_header(HttpRequest *r, const char *name, const char *value) {
        return -EIO;
}
int http_answer(HttpRequest *r, unsigned status, const char *type, const void *data, size_t size) {
        return -EIO;
}
int http_answer_upgrade(HttpRequest *r, const char *protocol, HttpUpgrade upgraded, void *userdata) {
        return -EIO;
}

enum {
        HOW_ECHO = 1,
        HOW_PAUSE = 2,
        HOW_CLOSE = 4,
        HOW_EXTRA = 8, /* the first piece comes with the handshake */
        HOW_LEAVE = 16,
};

typedef struct Subject {
        uint8_t how;
        Ws *ws;
        int fd;
        unsigned n_closed;
} Subject;

static void on_message(Ws *ws, bool text, const void *data, size_t size, void *userdata) {
        Subject *s = userdata;
        bool cut;

        MUST(s->n_closed == 0);
        MUST(size <= WS_MESSAGE_MAX);
        MUST(!text || utf8_prefix(data, size, &cut) == size);
        if (s->how & HOW_ECHO)
                MUST(ws_send(ws, text, data, size) == 0);
        if (s->how & HOW_PAUSE)
                ws_pause(ws, true);
        if (s->how & HOW_CLOSE)
                ws_close(ws, WS_UNSUPPORTED, "enough");
}

static void on_writable(Ws *ws, void *userdata) {
}

static void on_closed(Ws *ws, void *userdata) {
        Subject *s = userdata;

        s->n_closed++;
        s->ws = ws_free(ws);
        s->fd = fd_close(s->fd);
}

static void run(sd_event *event) {
        for (int i = 0; sd_event_run(event, 0) > 0; i++)
                MUST(i < 10000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const WsHandlers handlers = { on_message, on_writable, on_closed };
        Subject s = { .fd = -EBADF };
        sd_event *event = NULL;
        size_t first;
        int fds[2];

        if (size < 2 || size > 65536)
                return 0;
        s.how = *data++;
        size--;
        first = s.how & HOW_EXTRA ? size / 2 : 0;

        MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
        s.fd = fds[0];
        MUST(sd_event_new(&event) >= 0);
        MUST(ws_new(event, s.fd, data, first, &handlers, &s, &s.ws) == 0);
        run(event);
        (void) send(fds[1], data + first, size - first, MSG_NOSIGNAL);
        run(event);
        if (s.ws && (s.how & HOW_PAUSE))
                ws_pause(s.ws, false);
        run(event);
        if (s.how & HOW_LEAVE) {
                fds[1] = fd_close(fds[1]);
                run(event);
                MUST(s.n_closed == 1 || (s.how & HOW_PAUSE));
        }
        MUST(s.n_closed <= 1);
        ws_free(s.ws);
        (void) fd_close(s.fd);
        (void) fd_close(fds[1]);
        sd_event_unref(event);
        return 0;
}
