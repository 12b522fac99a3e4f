/* attach.c: an execution over a WebSocket.
 *
 *      to the client    binary: 1 (stdout) or 2 (stderr), then bytes · text: {"type":"exit", …}, then the close
 *      from the client  binary: bytes for stdin · text: {"type":"resize","cols","rows"}, {"type":"signal","signal"},
 *                       {"type":"eof"}
 *
 * The journal is read no faster than the socket takes the data, and the socket no faster than the command
 * takes its input. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/native/execution/exec.h"
#include "api/ws.h"
#include "base/text.h"
#include "core/settle.h"

#define PIECE_MAX       ((size_t) 64 << 10)
#define BACKLOG_MAX     ((size_t) 256 << 10)
#define INPUT_QUEUE_MAX ((size_t) 1 << 20) /* input that the command has not taken; beyond, the socket is paused */
#define INPUT_COST      ((size_t) 128)     /* overhead counted for each message */
#define TEXT_MAX        ((size_t) 32 << 20)

typedef struct Attach {
        ApiRequest *q;
        HttpUpgraded *upgraded;
        Ws *ws; /* NULL before the upgrade, and after the close */
        Feed feed;
        ExecEnd end;
        size_t turn; /* bytes given to the socket in this turn of the loop */
        size_t input_queued;
        bool bind;
        bool input_refused; /* and told so */
} Attach;

static void attach_send_text(Attach *a, Text *t) {
        settle_now(a->q->manager->settle);
        if (t->error < 0 || ws_send(a->ws, /* text= */ true, t->data, t->size) < 0)
                ws_close(a->ws, WS_INTERNAL, "out of memory");
}

static int attach_send_start(Feed *f, void *userdata) {
        _cleanup_text_ Text t = TEXT_INIT(TEXT_MAX);
        Attach *a = userdata;

        text_format(&t, "{\"type\":\"start\",\"id\":\"%s\",\"pid\":%d}", a->feed.id, a->feed.pid);
        attach_send_text(a, &t);
        return 0;
}

static void attach_taken(Feed *f, const Execution *x, void *userdata) {
        Attach *a = userdata;

        exec_end_take(&a->end, x);
}

static int attach_send_exit(Feed *f, void *userdata) {
        _cleanup_text_ Text t = TEXT_INIT(TEXT_MAX);
        Attach *a = userdata;

        if (a->end.error < 0) {
                ws_close(a->ws, WS_INTERNAL, "out of memory");
                return 0;
        }
        text_put_string(&t, "{\"type\":\"exit\",");
        text_put(&t, a->end.text + 1, a->end.size - 1);
        attach_send_text(a, &t);
        ws_close(a->ws, WS_NORMAL, "");
        return 0;
}

static void send_error(Attach *a, const char *code, const char *message) {
        _cleanup_text_ Text t = TEXT_INIT(TEXT_MAX);

        text_put_string(&t, "{\"type\":\"error\",\"code\":");
        text_quote_string(&t, code);
        text_put_string(&t, ",\"message\":");
        text_quote_string(&t, message);
        text_put_string(&t, "}");
        attach_send_text(a, &t);
}

static ssize_t attach_send_piece(Feed *f, ExecutionStream stream, const uint8_t *data, size_t size, void *userdata) {
        uint8_t frame[1 + PIECE_MAX];
        Attach *a = userdata;

        frame[0] = (uint8_t) (stream == STREAM_STDOUT ? 1 : 2);
        memcpy(frame + 1, data, size);
        a->turn += size;
        return ws_send(a->ws, /* text= */ false, frame, size + 1) < 0 ? -ENOMEM : (ssize_t) size;
}

/* Limits the data given to the socket in one turn. It then asks for more. */
static bool attach_is_full(const Feed *f, void *userdata) {
        const Attach *a = userdata;

        return a->turn >= BACKLOG_MAX || ws_backlog(a->ws) >= BACKLOG_MAX;
}

static void attach_pump(Attach *a) {
        int r;

        if (!a->ws)
                return;
        a->turn = 0;
        r = feed_pump(&a->feed);
        if (r < 0)
                ws_close(a->ws, WS_INTERNAL, "cannot read the output");
        else if (r > 0)
                ws_wake(a->ws);
}

static void attach_on_feed(Feed *f, void *userdata) {
        Attach *a = userdata;

        if (feed_ended(f))
                a->input_queued = 0;
        if (a->ws && ws_backlog(a->ws) < BACKLOG_MAX)
                attach_pump(a);
}

/* Input. */

static void attach_on_written(Execution *x, int r, size_t written, void *userdata) {
        Attach *a = userdata;

        a->input_queued = 0;
        if (a->ws)
                ws_pause(a->ws, false);
}

static void refuse_input(Attach *a, int r) {
        if (a->input_refused || r == -ESRCH)
                return;
        a->input_refused = true;
        send_error(a, "stdin_closed",
                        r == -ENOBUFS ? "Too much input is waiting for the command" : "The command has no open stdin");
}

/* Only the piece that fills the queue has a callback: once the kernel has taken it, it has taken all before
 * it. */
static void attach_on_input(Attach *a, const void *data, size_t size) {
        bool full = a->input_queued + size + INPUT_COST >= INPUT_QUEUE_MAX;
        int r;

        if (!a->feed.execution || size == 0)
                return;
        a->input_queued += size + INPUT_COST;
        if (full)
                ws_pause(a->ws, true); /* first, because everything may be taken before the call returns */
        r = execution_write(a->feed.execution, data, size, full ? attach_on_written : NULL, a);
        if (r < 0) {
                a->input_queued -= size + INPUT_COST;
                if (full)
                        ws_pause(a->ws, false);
                refuse_input(a, r);
        }
}

typedef struct AttachControl {
        char *type;
        uint16_t columns, rows;
        int signal;
} AttachControl;

static const Shape control_shape = SHAPE_FIELDS(
        { "type",   SHAPE_TEXT,   offsetof(AttachControl, type),    SHAPE_MANDATORY, .min = 1, .max = 16 },
        { "cols",   SHAPE_UINT16, offsetof(AttachControl, columns), .min = 1, .max = UINT16_MAX },
        { "rows",   SHAPE_UINT16, offsetof(AttachControl, rows),    .min = 1, .max = UINT16_MAX },
        { "signal", SHAPE_CUSTOM, offsetof(AttachControl, signal),  .json = SHAPE_PARSE(native_field_signal) });

static int do_resize(Execution *x, const AttachControl *c) {
        if (c->columns == 0 || c->rows == 0 || c->signal != 0)
                return -EINVAL;
        (void) execution_resize(x, c->columns, c->rows);
        return 0;
}

static int do_signal(Execution *x, const AttachControl *c) {
        if (c->signal == 0 || c->columns != 0 || c->rows != 0)
                return -EINVAL;
        (void) execution_signal(x, c->signal);
        return 0;
}

static int do_eof(Execution *x, const AttachControl *c) {
        if (c->signal != 0 || c->columns != 0 || c->rows != 0)
                return -EINVAL;
        (void) execution_close_stdin(x);
        return 0;
}

static int do_control(Execution *x, const AttachControl *c) {
        static const struct {
                const char *type;
                int (*function)(Execution *x, const AttachControl *c);
        } controls[] = { { "resize", do_resize }, { "signal", do_signal }, { "eof", do_eof } };

        for (size_t i = 0; i < ELEMENTSOF(controls); i++)
                if (strcmp(c->type, controls[i].type) == 0)
                        return controls[i].function(x, c);
        return -EINVAL;
}

static void attach_on_control(Attach *a, const char *text, size_t size) {
        _cleanup_(json_complaints_done) JsonComplaints complaints = { 0 };
        AttachControl c = { 0 };
        int r;

        r = json_read(text, size, &control_shape, &c, &complaints, /* reterr= */ NULL);
        if (r == -EBADMSG)
                ws_close(a->ws, WS_INVALID_DATA, "a text message must be a JSON object");
        else if (r < 0)
                ws_close(a->ws, WS_INTERNAL, "out of memory");
        else if (json_has_complaints(&complaints) || (a->feed.execution && do_control(a->feed.execution, &c) < 0))
                ws_close(a->ws, WS_UNSUPPORTED, "a text message must be of type resize (cols, rows), signal or eof");
        free(c.type);
}

/* The WebSocket. */

static void attach_on_message(Ws *ws, bool text, const void *data, size_t size, void *userdata) {
        if (text)
                attach_on_control(userdata, data, size);
        else
                attach_on_input(userdata, data, size);
}

static void attach_on_writable(Ws *ws, void *userdata) {
        attach_pump(userdata);
}

static void attach_leave(Attach *a) {
        if (a->feed.execution)
                execution_forget_writer(a->feed.execution, a);
        feed_abandon(&a->feed, a->bind);
        feed_close(&a->feed);
        a->ws = ws_free(a->ws);
}

static void attach_on_closed(Ws *ws, void *userdata) {
        Attach *a = userdata;

        attach_leave(a);
        http_upgraded_close(a->upgraded);
}

static void attach_on_upgraded(HttpUpgraded *u, int fd, const void *extra, size_t extra_size, void *userdata) {
        static const WsHandlers handlers = { .message = attach_on_message, .writable = attach_on_writable, .closed = attach_on_closed };
        Attach *a = userdata;

        a->upgraded = u;
        if (ws_new(a->q->manager->event, fd, extra, extra_size, &handlers, a, &a->ws) < 0) {
                attach_leave(a);
                http_upgraded_close(u);
                return;
        }
        attach_pump(a);
}

static void attach_destroy(ApiRequest *q, bool answered) {
        Attach *a = q->state;

        attach_leave(a);
        free(a->end.text);
}

int attach_check(ApiRequest *q) {
        Error error = { 0 };
        int r = ws_check(q->http, &error);

        if (r == -EPROTONOSUPPORT) {
                (void) http_add_header(q->http, "Upgrade", "websocket");
                (void) http_add_header(q->http, "Sec-WebSocket-Version", "13");
                (void) api_error(q, 426, "upgrade_required", NULL, "%s", error.text);
        } else if (r < 0)
                (void) api_error(q, 400, "invalid", NULL, "%s", error.text);
        return r;
}

int attach_answer(ApiRequest *q, Execution *x, const AttachOptions *options) {
        static const FeedReader reader = {
                .piece_max = PIECE_MAX,
                .changed = attach_on_feed,
                .taken = attach_taken,
                .start = attach_send_start,
                .full = attach_is_full,
                .piece = attach_send_piece,
                .end = attach_send_exit,
        };
        uint64_t from[_STREAM_MAX] = { options->from, x->spec.pty ? FEED_SKIP : 0 };
        Attach *a = api_keep_state(q, sizeof(*a), attach_destroy);
        int r;

        if (!a)
                return -ENOMEM;
        *a = (Attach) { .q = q, .bind = options->bind };
        r = feed_open(&a->feed, x, from, &reader, a);
        if (r < 0) {
                if (options->bind)
                        (void) execution_signal(x, SIGKILL);
                return exec_answer_feed_error(q, x, r);
        }
        a->feed.started |= !options->start;
        q->answered = true;
        return ws_accept(q->http, attach_on_upgraded, a);
}

void native_exec_attach(ApiRequest *q) {
        AttachOptions options = { 0 };

        if (attach_check(q) < 0 || api_query_uint(q, "from", 0, INT64_MAX, &options.from) < 0)
                return;
        (void) attach_answer(q, q->execution, &options);
}
