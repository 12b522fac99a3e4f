/* exec-stream.c: an execution as a stream of events, one JSON object each: start, stdout, stderr, exit.
 *
 *      {"type":"start","id":"e1","pid":7}
 *      {"type":"stdout","data":"text","offset":0}
 *      {"type":"stdout","data64":"/w==","offset":4}       bytes that are not UTF-8
 *      {"type":"exit", …the execution object}             exactly once, last
 *
 * As lines (NDJSON), or as server-sent events whose id is the cursor behind them: bytes of stdout, ":", bytes of stderr. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "api/native/execution/exec.h"
#include "api/native/execution/feed.h"
#include "base/text.h"

#define PIECE_MAX      ((size_t) 32 << 10) /* of a journal, in one event */
#define BATCH_SIZE     ((size_t) 128 << 10) /* of text, before it is passed on */
#define TEXT_MAX       ((size_t) 32 << 20)  /* an exit event names the command, which may be long */
#define KEEPALIVE_USEC (15 * USEC_PER_SEC)

typedef struct EventStream {
        ApiRequest *q;
        EventFormat format;
        bool start, bind, no_follow;
        bool over; /* the last event is in the text */
        Feed feed;
        Text text;
        size_t sent; /* of the text */
        sd_event_source *keepalive;
} EventStream;

const char *const event_types[_EVENTS_MAX] = {
        [EVENTS_NDJSON] = "application/x-ndjson",
        [EVENTS_SSE] = "text/event-stream",
};

static const char *const stream_names[_STREAM_MAX] = { "stdout", "stderr" };

static void begin_event(EventStream *s, const char *type) {
        const FeedJournal *j = s->feed.journals;

        if (s->format == EVENTS_SSE)
                text_format(&s->text, "event: %s\nid: %" PRIu64 ":%" PRIu64 "\ndata: ", type, j[STREAM_STDOUT].offset,
                                j[STREAM_STDERR].offset);
        text_format(&s->text, "{\"type\":\"%s\"", type);
}

static void end_event(EventStream *s) {
        text_put_string(&s->text, s->format == EVENTS_SSE ? "}\n\n" : "}\n");
}

static void put_start(EventStream *s) {
        s->start = false;
        begin_event(s, "start");
        text_format(&s->text, ",\"id\":\"%s\",\"pid\":%d", s->feed.id, s->feed.pid);
        end_event(s);
}

static void put_exit(EventStream *s) {
        s->over = true;
        begin_event(s, "exit");
        text_put_string(&s->text, ",");
        text_put(&s->text, s->feed.result + 1, s->feed.result_size - 2); /* the members, without their braces */
        end_event(s);
}

static void exec_stream_put_piece(EventStream *s, ExecutionStream stream, const uint8_t *data, size_t size, bool is_text) {
        uint64_t offset = s->feed.journals[stream].offset;

        feed_advance(&s->feed, stream, size);
        begin_event(s, stream_names[stream]);
        text_put_string(&s->text, is_text ? ",\"data\":" : ",\"data64\":");
        if (is_text)
                text_quote(&s->text, data, size);
        else
                text_quote_base64(&s->text, data, size);
        text_format(&s->text, ",\"offset\":%" PRIu64, offset);
        end_event(s);
}

/* 1: there was something. A character that is not all there yet waits for its rest, unless there will be none. */
static int fill_from(EventStream *s, ExecutionStream stream) {
        uint8_t data[PIECE_MAX];
        ssize_t n = feed_peek(&s->feed, stream, data, sizeof(data));
        size_t size, prefix;
        bool cut;

        if (n <= 0)
                return (int) n;
        size = (size_t) n;
        prefix = utf8_prefix(data, size, &cut);
        if (prefix == size || (cut && prefix > 0))
                exec_stream_put_piece(s, stream, data, prefix, /* is_text= */ true);
        else if (cut && !feed_ended(&s->feed))
                return 0;
        else
                exec_stream_put_piece(s, stream, data, size, /* is_text= */ false);
        return 1;
}

static bool exec_stream_is_drained(const EventStream *s) {
        return feed_drained(&s->feed, STREAM_STDOUT) && feed_drained(&s->feed, STREAM_STDERR);
}

static int exec_stream_fill(EventStream *s) {
        int r = 1;

        if (s->start && s->feed.pid > 0)
                put_start(s);
        if (s->start && !feed_ended(&s->feed))
                return 0; /* its first words may be here before the word that it has started */
        while (r > 0 && s->text.size < BATCH_SIZE && s->text.error == 0) {
                r = 0;
                for (ExecutionStream i = 0; i < _STREAM_MAX; i++) {
                        int k = fill_from(s, i);

                        if (k < 0)
                                return k;
                        r |= k;
                }
        }
        if (r == 0 && exec_stream_is_drained(s)) {
                if (s->feed.error < 0)
                        return s->feed.error;
                put_exit(s);
        } else if (r == 0 && s->no_follow)
                s->over = true;
        return s->text.error;
}

static ssize_t exec_stream_next(HttpRequest *http, uint64_t position, void *buffer, size_t size, void *userdata) {
        EventStream *s = userdata;
        size_t n;
        int r;

        if (s->sent == s->text.size) {
                s->text.size = s->sent = 0;
                r = s->over ? 0 : exec_stream_fill(s);
                if (r < 0)
                        return r;
                if (s->text.size == 0) {
                        text_done(&s->text); /* there may be many who wait for long */
                        return s->over ? HTTP_STREAM_END : 0;
                }
        }
        n = MIN_OF(size, s->text.size - s->sent);
        memcpy(buffer, s->text.data + s->sent, n);
        s->sent += n;
        return (ssize_t) n;
}

static void exec_stream_on_changed(Feed *f, void *userdata) {
        EventStream *s = userdata;

        http_request_continue(s->q->http);
}

/* Proxies cut what is silent, and a client wants to know that we are there. */
static int exec_stream_on_keepalive(sd_event_source *source, uint64_t usec, void *userdata) {
        EventStream *s = userdata;

        if (s->sent == s->text.size && !s->over) {
                s->text.size = s->sent = 0;
                text_put_string(&s->text, ": keep-alive\n\n");
                http_request_continue(s->q->http);
        }
        (void) sd_event_source_set_time_relative(source, KEEPALIVE_USEC);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

static void exec_stream_destroy(ApiRequest *q, bool answered) {
        EventStream *s = q->state;

        feed_abandon(&s->feed, s->bind);
        feed_done(&s->feed);
        sd_event_source_disable_unref(s->keepalive);
        text_done(&s->text);
        free(s);
        q->state = NULL;
}

int exec_answer_feed_error(ApiRequest *q, const Execution *x, int r) {
        if (r == -ENODATA)
                return api_error(q, 410, "gone", NULL, "The output of execution %s was removed to make room", x->id);
        if (r == -ERANGE)
                return api_error(q, 416, "beyond_end", NULL,
                                "Execution %s has ended, and has %" PRIu64 " bytes of stdout and %" PRIu64 " of stderr", x->id,
                                x->journals[STREAM_STDOUT].bytes, x->journals[STREAM_STDERR].bytes);
        if (r == -EINVAL)
                return api_error(q, 409, "no_such_stream", NULL,
                                "Execution %s has a terminal: everything it writes is in stdout", x->id);
        if (r == -EKEYREVOKED)
                return api_errno(q, r, EXEC_OUTPUT_LOST);
        return api_errno(q, r, "cannot read the output");
}

static int exec_stream_start(EventStream *s) {
        int r = 0;

        if (s->format == EVENTS_SSE)
                r = sd_event_add_time_relative(s->q->manager->event, &s->keepalive, CLOCK_MONOTONIC, KEEPALIVE_USEC,
                                USEC_PER_SEC, exec_stream_on_keepalive, s);
        if (r >= 0)
                r = http_add_header(s->q->http, "Cache-Control", "no-store");
        if (r < 0)
                return api_errno(s->q, r, NULL);
        s->q->answered = true;
        return http_answer_stream(s->q->http, 200, event_types[s->format], UINT64_MAX, exec_stream_next, s);
}

int events_answer(ApiRequest *q, Execution *x, const EventOptions *options) {
        EventStream *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return api_errno(q, -ENOMEM, NULL);
        *s = (EventStream) {
                .q = q,
                .format = options->format,
                .start = options->start,
                .bind = options->bind,
                .no_follow = options->no_follow,
                .text = TEXT_INIT(TEXT_MAX),
        };
        r = feed_open(&s->feed, x, options->from, exec_stream_on_changed, s);
        if (r < 0) {
                free(s);
                if (options->bind)
                        (void) execution_signal(x, SIGKILL);
                return exec_answer_feed_error(q, x, r);
        }
        q->state = s;
        q->destroy = exec_stream_destroy;
        return exec_stream_start(s);
}
