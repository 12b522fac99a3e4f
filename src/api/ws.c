#include "api/ws.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "base/clock.h"

/* States of a connection, each with what moves it on:
 *
 *      open      → closing   ws_close(), a close frame of the other side, or rubbish (wslay queues the close frame itself)
 *      closing   → lingering our close frame is sent, and wslay will not read on
 *      lingering → over      end of file. Until then input is dropped: to close a socket with unread input resets the
 *                            connection, and the close frame may be lost with it
 *      any       → over      the socket fails, or time is up
 */

#define READ_BUDGET     ((size_t) 1 << 20) /* per turn of the loop, so that others get their turn */
#define QUEUED_MAX      64                 /* messages: a peer that requests so many pongs must read them first */
#define FRAGMENTS_MAX   4096               /* of one message */
#define PING_USEC       (30 * USEC_PER_SEC)
#define SEND_STALL_USEC (60 * USEC_PER_SEC) /* closing, while the peer does not read what is queued */
#define CLOSE_USEC      (5 * USEC_PER_SEC)  /* for the peer's close frame */
#define LINGER_USEC     (2 * USEC_PER_SEC)

struct Ws {
        sd_event *event;
        int fd;
        const WsHandlers *handlers;
        void *userdata;
        wslay_event_context_ptr context;
        sd_event_source *io, *ping, *deadline;
        uint32_t events; /* of io, as set */
        uint8_t *extra;
        size_t extra_size, extra_taken;
        size_t budget;
        size_t stalled_backlog; /* its value when the deadline was set */
        unsigned n_fragments;
        bool paused, wake;
        bool reading;   /* within wslay_event_recv() */
        bool closing;   /* ws_close() was called */
        WsCode close_code;
        char close_reason[WS_REASON_MAX + 1];
        bool close_queued;
        bool awaiting;  /* our close frame was sent */
        bool lingering;
        bool broken;    /* the socket is */
        bool failed;    /* to be reported from the loop */
};

static ssize_t ws_would_block(Ws *ws) {
        wslay_event_set_error(ws->context, WSLAY_ERR_WOULDBLOCK);
        return -1;
}

static ssize_t socket_broken(Ws *ws) {
        ws->broken = true;
        wslay_event_set_error(ws->context, WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
}

static bool may_read(const Ws *ws) {
        return !ws->paused && wslay_event_want_read(ws->context) &&
               wslay_event_get_queued_msg_count(ws->context) < QUEUED_MAX;
}

static ssize_t ws_take_extra(Ws *ws, uint8_t *buffer, size_t size) {
        size_t n = MIN_OF(size, ws->extra_size - ws->extra_taken);

        memcpy(buffer, ws->extra + ws->extra_taken, n);
        ws->extra_taken += n;
        return (ssize_t) n;
}

static ssize_t on_recv(wslay_event_context_ptr context, uint8_t *buffer, size_t size, int flags, void *userdata) {
        Ws *ws = userdata;
        ssize_t n;

        if (!may_read(ws) || ws->budget == 0)
                return ws_would_block(ws);
        if (ws->extra_taken < ws->extra_size)
                return ws_take_extra(ws, buffer, size);
        do
                n = recv(ws->fd, buffer, MIN_OF(size, ws->budget), MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EAGAIN)
                return ws_would_block(ws);
        if (n <= 0)
                return socket_broken(ws);
        ws->budget -= (size_t) n;
        return n;
}

static ssize_t ws_on_send(wslay_event_context_ptr context, const uint8_t *data, size_t size, int flags, void *userdata) {
        Ws *ws = userdata;
        ssize_t n;

        do
                n = send(ws->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL | (flags & WSLAY_MSG_MORE ? MSG_MORE : 0));
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EAGAIN)
                return ws_would_block(ws);
        return n > 0 ? n : socket_broken(ws);
}

/* Must run before wslay queues its own close frame: the first one counts. */
static void refuse_close(Ws *ws) {
        ws->closing = ws->close_queued = true;
        (void) wslay_event_queue_close(ws->context, WS_PROTOCOL_ERROR, NULL, 0);
}

/* wslay allocates memory for each fragment, so many tiny ones cost much more than they contain. It also
 * ignores a close code that is cut in half. */
static void on_frame(wslay_event_context_ptr context, const struct wslay_event_on_frame_recv_start_arg *arg,
                void *userdata) {
        Ws *ws = userdata;

        if (arg->opcode == WSLAY_CONNECTION_CLOSE && arg->payload_length == 1)
                refuse_close(ws);
        if (wslay_is_ctrl_frame(arg->opcode))
                return;
        ws->n_fragments = arg->opcode == WSLAY_CONTINUATION_FRAME ? ws->n_fragments + 1 : 1;
        if (ws->n_fragments > FRAGMENTS_MAX)
                ws_close(ws, WS_TOO_BIG, "a message in too many fragments");
}

static void ws_on_message(wslay_event_context_ptr context, const struct wslay_event_on_msg_recv_arg *arg, void *userdata) {
        Ws *ws = userdata;

        if (wslay_is_ctrl_frame(arg->opcode) || ws->closing)
                return;
        ws->handlers->message(ws, arg->opcode == WSLAY_TEXT_FRAME, arg->msg, arg->msg_length, ws->userdata);
}

static void set_events(Ws *ws) {
        uint32_t events = 0;

        if (ws->lingering || may_read(ws))
                events |= EPOLLIN;
        if (ws->failed || ws->wake || (!ws->lingering && wslay_event_want_write(ws->context)))
                events |= EPOLLOUT;
        if (ws->extra_taken < ws->extra_size && (events & EPOLLIN))
                events |= EPOLLOUT; /* this input is no longer in the socket: no event would come */
        if (events != ws->events && sd_event_source_set_io_events(ws->io, events) >= 0)
                ws->events = events;
}

static void send_queued(Ws *ws) {
        if (!ws->failed && wslay_event_want_write(ws->context) && wslay_event_send(ws->context) != 0)
                ws->failed = true;
}

/* wslay sends control frames before all others. So our close frame is queued after everything else was
 * sent. */
static void ws_flush(Ws *ws) {
        send_queued(ws);
        if (!ws->closing || ws->close_queued || wslay_event_want_write(ws->context))
                return;
        ws->close_queued = true;
        (void) wslay_event_queue_close(ws->context, (uint16_t) ws->close_code, (const uint8_t *) ws->close_reason,
                        strlen(ws->close_reason));
        send_queued(ws);
}

static void over(Ws *ws) {
        ws->io = sd_event_source_disable_unref(ws->io);
        ws->ping = sd_event_source_disable_unref(ws->ping);
        ws->deadline = sd_event_source_disable_unref(ws->deadline);
        ws->handlers->closed(ws, ws->userdata); /* which frees it */
}

static int ws_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        over(userdata);
        return 0;
}

static void set_deadline(Ws *ws, usec_t usec) {
        if (!ws->deadline) {
                if (sd_event_add_time_relative(ws->event, &ws->deadline, CLOCK_MONOTONIC, usec, /* accuracy= */ 0, ws_on_deadline,
                                    ws) < 0)
                        ws->failed = true; /* without a timer it cannot wait */
                return;
        }
        (void) sd_event_source_set_time_relative(ws->deadline, usec);
        (void) sd_event_source_set_enabled(ws->deadline, SD_EVENT_ONESHOT);
}

static bool is_closing(const Ws *ws) {
        return ws->closing || !wslay_event_get_read_enabled(ws->context) || wslay_event_get_close_sent(ws->context);
}

/* The deadline is extended with every message that the peer reads, and once more when it has read all.
 * Messages from the peer do not extend it. */
static void push_deadline(Ws *ws) {
        if (wslay_event_get_close_sent(ws->context)) {
                if (!ws->awaiting)
                        set_deadline(ws, CLOSE_USEC);
                ws->awaiting = true;
        } else if (!ws->deadline || ws_backlog(ws) != ws->stalled_backlog) {
                ws->stalled_backlog = ws_backlog(ws);
                set_deadline(ws, SEND_STALL_USEC);
        }
}

/* Advances the close after an event. False: it is over. */
static bool advance_close(Ws *ws) {
        if (!is_closing(ws))
                return true;
        if (wslay_event_want_read(ws->context) || wslay_event_want_write(ws->context) ||
            (ws->closing && !ws->close_queued)) {
                push_deadline(ws);
                return true;
        }
        if (wslay_event_get_close_received(ws->context))
                return false; /* both sides have sent it: the server closes */
        (void) shutdown(ws->fd, SHUT_WR);
        ws->lingering = true;
        set_deadline(ws, LINGER_USEC);
        return true;
}

/* Drops input. False: end of file. */
static bool linger(Ws *ws) {
        uint8_t buffer[16384];
        ssize_t n;

        for (size_t i = 0; i < READ_BUDGET / sizeof(buffer); i++) {
                n = recv(ws->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
                if (n < 0 && (errno == EAGAIN || errno == EINTR))
                        return true;
                if (n <= 0)
                        return false;
        }
        return true;
}

/* After an invalid frame head, wslay gives up with a close frame that has no code. Ours takes its place,
 * unless another frame is partly sent. */
static void close_by_hand(Ws *ws) {
        static const uint8_t frame[] = { 0x88, 2, WS_PROTOCOL_ERROR >> 8, WS_PROTOCOL_ERROR & 0xff };

        if (wslay_event_get_queued_msg_count(ws->context) > 1)
                return;
        (void) send(ws->fd, frame, sizeof(frame), MSG_DONTWAIT | MSG_NOSIGNAL);
        wslay_event_shutdown_write(ws->context);
}

/* False: the socket has failed, or there is no memory. */
static bool ws_read_some(Ws *ws) {
        int r;

        ws->budget = READ_BUDGET;
        ws->reading = true;
        r = wslay_event_recv(ws->context);
        ws->reading = false;
        if (r == WSLAY_ERR_CALLBACK_FAILURE && !ws->broken) {
                close_by_hand(ws);
                return true;
        }
        return r == 0;
}

/* One turn of the loop. False: it is over. */
static bool ws_turn(Ws *ws, uint32_t revents) {
        bool wake = ws->wake;

        if (ws->failed)
                return false;
        if (ws->lingering)
                return linger(ws);
        if (may_read(ws)) {
                if (((revents & (EPOLLIN | EPOLLHUP | EPOLLERR)) || ws->extra_taken < ws->extra_size) && !ws_read_some(ws))
                        return false;
        } else if (revents & (EPOLLHUP | EPOLLERR))
                return false; /* the peer is gone; its last input is dropped */
        ws_flush(ws);
        if (wake && !ws->failed && !is_closing(ws) && !wslay_event_want_write(ws->context)) {
                ws->wake = false;
                ws->handlers->writable(ws, ws->userdata);
        } else if (is_closing(ws))
                ws->wake = false;
        return !ws->failed && advance_close(ws);
}

static int ws_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Ws *ws = userdata;

        if (ws_turn(ws, revents))
                set_events(ws);
        else
                over(ws);
        return 0;
}

static int on_ping(sd_event_source *source, uint64_t usec, void *userdata) {
        Ws *ws = userdata;
        struct wslay_event_msg ping = { .opcode = WSLAY_PING };

        if (!is_closing(ws) && !wslay_event_want_write(ws->context)) {
                (void) wslay_event_queue_msg(ws->context, &ping);
                ws_flush(ws);
                set_events(ws);
        }
        (void) sd_event_source_set_time_relative(ws->ping, PING_USEC);
        (void) sd_event_source_set_enabled(ws->ping, SD_EVENT_ONESHOT);
        return 0;
}

static int add_sources(Ws *ws) {
        int r = sd_event_add_io(ws->event, &ws->io, ws->fd, EPOLLIN, ws_on_io, ws);

        if (r < 0)
                return r;
        ws->events = EPOLLIN;
        return sd_event_add_time_relative(ws->event, &ws->ping, CLOCK_MONOTONIC, PING_USEC, USEC_PER_SEC, on_ping, ws);
}

static int set_up(Ws *ws) {
        static const struct wslay_event_callbacks callbacks = {
                .recv_callback = on_recv,
                .send_callback = ws_on_send,
                .on_frame_recv_start_callback = on_frame,
                .on_msg_recv_callback = ws_on_message,
        };
        int one = 1;

        if (wslay_event_context_server_init(&ws->context, &callbacks, ws) != 0)
                return -ENOMEM;
        wslay_event_config_set_max_recv_msg_length(ws->context, WS_MESSAGE_MAX);
        /* Sends keystrokes at once, and detects peers that have vanished. Unix sockets support neither. */
        (void) setsockopt(ws->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        (void) setsockopt(ws->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        return add_sources(ws);
}

int ws_new(sd_event *event, int fd, const void *extra, size_t extra_size, const WsHandlers *handlers, void *userdata,
                Ws **ret) {
        Ws *ws = calloc(1, sizeof(*ws));
        int r;

        if (!ws)
                return -ENOMEM;
        *ws = (Ws) {
                .event = sd_event_ref(event),
                .fd = fd,
                .handlers = handlers,
                .userdata = userdata,
                .extra_size = extra_size,
        };
        if (extra_size > 0) {
                ws->extra = malloc(extra_size);
                if (!ws->extra) {
                        ws_free(ws);
                        return -ENOMEM;
                }
                memcpy(ws->extra, extra, extra_size);
        }
        r = set_up(ws);
        if (r < 0) {
                ws_free(ws);
                return r;
        }
        set_events(ws);
        *ret = ws;
        return 0;
}

Ws *ws_free(Ws *ws) {
        if (!ws)
                return NULL;
        sd_event_source_disable_unref(ws->io);
        sd_event_source_disable_unref(ws->ping);
        sd_event_source_disable_unref(ws->deadline);
        if (ws->context)
                wslay_event_context_free(ws->context);
        sd_event_unref(ws->event);
        free(ws->extra);
        free(ws);
        return NULL;
}

/* Sends what is queued, unless called from within wslay: then the turn of the loop sends it. */
static void ws_push(Ws *ws) {
        if (ws->reading)
                return;
        ws_flush(ws);
        set_events(ws);
}

int ws_send(Ws *ws, bool text, const void *data, size_t size) {
        struct wslay_event_msg message = { text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME, data, size };
        int r;

        if (ws->failed || is_closing(ws))
                return 0;
        r = wslay_event_queue_msg(ws->context, &message);
        if (r == WSLAY_ERR_NOMEM)
                return -ENOMEM;
        ws_push(ws);
        return 0;
}

size_t ws_backlog(const Ws *ws) {
        return wslay_event_get_queued_msg_length(ws->context);
}

void ws_wake(Ws *ws) {
        if (ws->failed || is_closing(ws))
                return;
        ws->wake = true;
        set_events(ws);
}

void ws_pause(Ws *ws, bool pause) {
        if (ws->paused == pause)
                return;
        ws->paused = pause;
        if (ws->io)
                set_events(ws);
}

void ws_close(Ws *ws, WsCode code, const char *reason) {
        if (ws->failed || is_closing(ws))
                return;
        ws->closing = true;
        ws->close_code = code;
        (void) snprintf(ws->close_reason, sizeof(ws->close_reason), "%s", reason);
        ws->paused = false; /* to read the peer's answer */
        if (code != WS_NORMAL && code != WS_GOING_AWAY)
                wslay_event_shutdown_read(ws->context);
        ws->wake = true; /* schedules a turn of the loop, which advances the close */
        ws_push(ws);
}
